// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "common/util.h"
#include "frameworks/torch/torch_boxed.h"

static const char prefix[] = "_ZNK3c1010Dispatcher9callBoxedERKNS_14OperatorHandleE";
enum { MAX_BOXED = 64 };

struct finder {
	struct torch_boxed_list *list;
	size_t cap;
	uint64_t size[MAX_BOXED]; /* bytes of each copy's code */
};

/* gcc's .isra copies get the members of the class as arguments, without `this`. */
static int add(const struct elf_symbol *sym, void *ctx)
{
	struct finder *f = ctx;
	bool isra = strstr(sym->name, ".isra");
	struct torch_boxed b = {
		.symbol = sym->name,
		.entry_vaddr = sym->vaddr,
		.handle_reg = isra ? 0 : 1,
		.stack_reg = isra ? 1 : 2,
	};

	if (!sym->is_function || strstr(sym->name, ".cold") || f->list->cnt == MAX_BOXED)
		return 0;
	f->size[f->list->cnt] = sym->size;
	return ARRAY_PUSH(f->list->items, f->list->cnt, f->cap, b);
}

int torch_boxed__find(struct elf_file *elf, struct torch_boxed_list *out)
{
	struct torch_sites *sites = torch_sites__new();
	struct finder f = {.list = out};
	int err;

	*out = (struct torch_boxed_list){NULL, 0};
	err = sites ? elf_file__for_each_prefixed(elf, prefix, add, &f) : -ENOMEM;
	for (size_t i = 0; i < out->cnt && !err; i++) {
		struct torch_boxed *b = &out->items[i];

		b->end_cnt =
			torch_sites__ends(sites, elf, b->entry_vaddr, f.size[i], b->end_vaddrs);
	}
	torch_sites__free(sites);
	return err;
}
