// SPDX-License-Identifier: BSD-2-Clause
#include <ctype.h>
#include <string.h>
#include "common/err.h"
#include "frameworks/message_table.h"
#include "common/util.h"
#include "frameworks/itanium.h"
#include "frameworks/torch/torch_ops.h"
#include "frameworks/torch/torch_schemas.h"

static const char ops_prefix[] = "_ZN2at4_ops";
enum { MAX_OPS = 100000 };

/* Memory for texts that live as long as the table. */
struct torch_ops_arena {
	struct torch_ops_arena *next;
	size_t used, size;
	char text[];
};

static char *arena__take(struct torch_ops *ops, size_t len)
{
	struct torch_ops_arena *a = ops->arena;
	size_t size = len > (64 << 10) ? len : 64 << 10;

	if (!a || a->size - a->used < len) {
		a = malloc(sizeof(*a) + size);
		if (!a)
			return NULL;
		a->next = ops->arena;
		a->used = 0;
		a->size = size;
		ops->arena = a;
	}
	a->used += len;
	return a->text + a->used - len;
}

/* Returns prefix + text, NUL-terminated. */
static const char *arena__join(struct torch_ops *ops, const char *prefix, struct text_span text)
{
	size_t n = strlen(prefix);
	char *p = arena__take(ops, n + text.len + 1);

	if (!p)
		return NULL;
	memcpy(p, prefix, n);
	if (text.len)
		memcpy(p + n, text.p, text.len);
	p[n + text.len] = '\0';
	return p;
}

/* Results of the pass over symbols, for the later passes. */
struct found_op {
	struct text_span name; /* "add_Tensor" */
	const char *params;    /* mangled */
	uint64_t size;
};

struct loader {
	struct elf_file *elf;
	struct torch_ops *ops;
	struct found_op *found; /* same order as ops->ops */
	size_t op_cap, found_cap, found_cnt;
	bool own_optional; /* it has c10::optional, see torch_schema__plan */
	struct torch_schemas *schemas;
	struct torch_sites *sites;
};

/* Parses "_ZN2at4_ops<len><name>4callE<params>". False for other symbols with that prefix. */
static bool parse_op_symbol(const char *symbol, struct found_op *f)
{
	const char *p = symbol + sizeof(ops_prefix) - 1;
	size_t n = 0;

	while (isdigit((unsigned char)*p) && n < 1000)
		n = n * 10 + (size_t)(*p++ - '0');
	if (!n || strnlen(p, n) < n || strncmp(p + n, "4callE", 6))
		return false;
	f->name = (struct text_span){p, n};
	f->params = p + n + 6;
	return !strchr(f->params, '.'); /* .cold and other parts */
}

static int add_op(struct loader *l, const struct elf_symbol *sym)
{
	struct torch_op op = {.symbol = sym->name, .entry_vaddr = sym->vaddr};
	struct found_op f = {.size = sym->size};
	int err;

	if (!parse_op_symbol(sym->name, &f) || l->ops->cnt >= MAX_OPS)
		return 0;
	l->own_optional |= strstr(f.params, "N3c108optionalI") != NULL;
	err = ARRAY_PUSH(l->ops->ops, l->ops->cnt, l->op_cap, op);
	return err ? err : ARRAY_PUSH(l->found, l->found_cnt, l->found_cap, f);
}

static int on_symbol(const struct elf_symbol *sym, void *ctx)
{
	return sym->is_function ? add_op(ctx, sym) : 0;
}

static int name_op(struct loader *l, struct torch_op *op, const struct found_op *f)
{
	struct torch_schema s;
	const char *prefix = "aten::";

	if (torch_schemas__find(l->schemas, f->name.p, f->name.len, f->params, &s)) {
		op->name = arena__join(l->ops, prefix, f->name);
		op->overload = "";
		return op->name ? 0 : -ENOMEM;
	}
	if (s.prefixed)
		prefix = "";
	torch_schema__plan(&s, f->params, l->own_optional, &op->args);
	op->name = arena__join(l->ops, prefix, s.name);
	op->overload = arena__join(l->ops, "", s.overload);
	op->schema = arena__join(
		l->ops, prefix,
		(struct text_span){s.name.p, (size_t)(s.returns.p + s.returns.len - s.name.p)});
	l->ops->schema_cnt++;
	return op->name && op->overload && op->schema ? 0 : -ENOMEM;
}

static int resolve(struct loader *l)
{
	for (size_t i = 0; i < l->ops->cnt; i++) {
		struct torch_op *op = &l->ops->ops[i];
		int err = name_op(l, op, &l->found[i]);

		if (err)
			return err;
		op->end_cnt = torch_sites__ends(l->sites, l->elf, op->entry_vaddr, l->found[i].size,
						op->end_vaddrs);
		l->ops->end_cnt += op->end_cnt > 0;
	}
	return 0;
}

static int load(struct loader *l)
{
	uint64_t vaddr;
	size_t len;
	const uint8_t *rodata;
	int err = elf_file__for_each_prefixed(l->elf, ops_prefix, on_symbol, l);

	if (err)
		return err;
	if (!l->ops->cnt)
		return err__set(-ENOENT, MESSAGE_TORCH_OPERATORS_MISSING);
	rodata = elf_file__section(l->elf, ".rodata", &vaddr, &len);
	err = torch_schemas__scan(rodata, rodata ? len : 0, &l->schemas);
	if (err)
		return err;
	l->sites = torch_sites__new();
	return l->sites ? resolve(l) : -ENOMEM;
}

static int by_entry(const void *a, const void *b)
{
	const struct torch_op *x = a, *y = b;

	return (x->entry_vaddr > y->entry_vaddr) - (x->entry_vaddr < y->entry_vaddr);
}

int torch_ops__load(struct elf_file *cpu, struct torch_ops **out)
{
	struct loader l = {.elf = cpu, .ops = calloc(1, sizeof(struct torch_ops))};
	int err = l.ops ? load(&l) : -ENOMEM;

	torch_schemas__free(l.schemas);
	torch_sites__free(l.sites);
	free(l.found);
	if (err) {
		torch_ops__free(l.ops);
		return err;
	}
	qsort(l.ops->ops, l.ops->cnt, sizeof(l.ops->ops[0]), by_entry);
	*out = l.ops;
	return 0;
}

void torch_ops__free(struct torch_ops *ops)
{
	if (!ops)
		return;
	while (ops->arena) {
		struct torch_ops_arena *next = ops->arena->next;

		free(ops->arena);
		ops->arena = next;
	}
	free(ops->ops);
	free(ops);
}

bool torch_node_of_apply(const char *symbol, char *type_info, size_t size)
{
	static const char prefix[] = "_ZN", apply[] = "5applyEOSt6vectorI";
	const char *end = strstr(symbol, apply), *rest;
	int len;

	if (strncmp(symbol, prefix, strlen(prefix)) != 0 || !end)
		return false;
	symbol += strlen(prefix);
	len = snprintf(type_info, size, "N%.*sE", (int)(end - symbol), symbol);
	if (len <= 0 || (size_t)len >= size)
		return false;
	/* In templates that a node's apply() calls with a lambda, the name is inside theirs. */
	rest = itanium__skip_type(type_info);
	return rest && !*rest;
}

char *torch_node_name(const char *type_info, const char *type_obj_name)
{
	static const char generated[] = "torch::autograd::generated::";
	auto_free char *name = NULL;

	if (type_obj_name && *type_obj_name)
		return strdup(type_obj_name);
	if (!type_info)
		return NULL;
	if (*type_info == '*') /* in libstdc++: the type is local to a file, so types are
				  compared by address */
		type_info++;
	name = itanium__demangle_type(type_info);
	if (!name)
		return strdup(type_info);
	/* Node::name() is the demangled type, but generated code returns the bare name */
	if (!strncmp(name, generated, sizeof(generated) - 1))
		return strdup(name + sizeof(generated) - 1);
	return strdup(name);
}
