// SPDX-License-Identifier: BSD-2-Clause
#include "device/kernels/kernel_handles.h"
#include "common/util.h"
#include "device/kernels/kernel_registry.h"
#include <string.h>

#define READ_MAX 64	    /* most times that the variables are read again */
#define GAP_MAX	 4096	    /* bytes; variables that are closer together are read at once */
#define RUN_MAX	 (1u << 20) /* bytes read at once */

struct variable {
	uint64_t address; /* in the target */
	const char *name; /* valid while its file is open */
	uint64_t handle;
};

struct library {
	char *path;
	uint64_t base;
	struct kernel_registry registry;
	bool is_borrowed; /* it belongs to the other process's handles */
};

struct kernel_handles {
	struct target *target;
	const struct kernel_handles *other; /* or NULL */
	struct library *libs;		    /* the libraries that were looked at */
	size_t lib_cnt, lib_cap;
	struct variable *all; /* sorted by address */
	size_t cnt, cap;
	struct variable *known; /* variables that are set, sorted by handle */
	size_t known_cnt;
	unsigned int reads;
};

struct kernel_handles *kernel_handles__new(struct target *t, const struct kernel_handles *other)
{
	struct kernel_handles *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->target = t;
	h->other = other;
	return h;
}

static void library_clear(struct library *lib)
{
	if (!lib->is_borrowed)
		kernel_registry__free(&lib->registry);
	free(lib->path);
}

void kernel_handles__free(struct kernel_handles *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < h->lib_cnt; i++)
		library_clear(&h->libs[i]);
	free(h->libs);
	free(h->all);
	free(h->known);
	free(h);
}

/* ---- variables ---- */

static const struct library *find_lib(const struct kernel_handles *h, const char *path)
{
	for (size_t i = 0; h && i < h->lib_cnt; i++)
		if (!strcmp(h->libs[i].path, path))
			return &h->libs[i];
	return NULL;
}

static void add_variables(struct kernel_handles *h, const struct library *lib)
{
	const struct kernel_registry *r = &lib->registry;

	for (size_t i = 0; i < r->variable_cnt; i++) {
		const struct variable v = {.address = lib->base + r->variables[i].variable,
					   .name = kernel_registry__name(r, r->variables[i].stub)};

		if (v.name && ARRAY_PUSH(h->all, h->cnt, h->cap, v))
			return;
	}
}

static void library_read(struct kernel_handles *h, const struct target_lib *found,
			 struct library *lib)
{
	const struct library *same = find_lib(h->other, found->host_path);
	struct elf_file *elf;
	uint64_t vaddr;
	size_t len;

	if (same) {
		lib->registry = same->registry;
		lib->is_borrowed = true;
		return;
	}
	elf = target__elf(h->target, found);
	if (elf && elf_file__section(elf, ".nv_fatbin", &vaddr, &len))
		kernel_registry__read(elf, &lib->registry);
}

static void collect_lib(struct kernel_handles *h, const struct target_lib *found)
{
	struct library lib = {.base = found->base};

	if (find_lib(h, found->host_path))
		return;
	lib.path = strdup(found->host_path);
	if (lib.path)
		library_read(h, found, &lib);
	if (!lib.path || ARRAY_PUSH(h->libs, h->lib_cnt, h->lib_cap, lib)) {
		library_clear(&lib);
		return;
	}
	add_variables(h, &h->libs[h->lib_cnt - 1]);
}

static int by_address(const void *a, const void *b)
{
	const struct variable *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static int by_handle(const void *a, const void *b)
{
	const struct variable *x = a, *y = b;

	return x->handle < y->handle ? -1 : x->handle > y->handle;
}

/* ---- the target's memory ---- */

/* End of the run of close variables that begins at `first`. */
static size_t run_end(const struct kernel_handles *h, size_t first)
{
	size_t end = first + 1;

	while (end < h->cnt && h->all[end].address - h->all[end - 1].address < GAP_MAX &&
	       h->all[end].address - h->all[first].address < RUN_MAX)
		end++;
	return end;
}

static void read_run(struct kernel_handles *h, size_t first, size_t end, char *buf)
{
	uint64_t from = h->all[first].address, len = h->all[end - 1].address - from + 8;

	if (target__read(h->target, from, buf, len))
		return;
	for (size_t i = first; i < end; i++)
		memcpy(&h->all[i].handle, buf + (h->all[i].address - from), 8);
}

static void index_known(struct kernel_handles *h)
{
	free(h->known);
	h->known_cnt = 0;
	h->known = calloc(h->cnt ? h->cnt : 1, sizeof(*h->known));
	for (size_t i = 0; h->known && i < h->cnt; i++)
		if (h->all[i].handle)
			h->known[h->known_cnt++] = h->all[i];
	if (h->known_cnt)
		qsort(h->known, h->known_cnt, sizeof(*h->known), by_handle);
}

static void read_all(struct kernel_handles *h)
{
	auto_free char *buf = h->cnt ? malloc(RUN_MAX + GAP_MAX) : NULL;

	for (size_t i = 0, end; buf && i < h->cnt; i = end) {
		end = run_end(h, i);
		read_run(h, i, end, buf);
	}
	index_known(h);
}

void kernel_handles__read(struct kernel_handles *h)
{
	size_t before = h->cnt;

	for (size_t i = 0; i < h->target->lib_cnt; i++)
		collect_lib(h, &h->target->libs[i]);
	if (h->cnt > before)
		qsort(h->all, h->cnt, sizeof(*h->all), by_address);
	read_all(h);
}

const char *kernel_handles__of_stub(const struct kernel_handles *h, uint64_t address)
{
	const char *name = NULL;

	for (size_t i = 0; i < h->lib_cnt && !name; i++)
		name = kernel_registry__name(&h->libs[i].registry, address - h->libs[i].base);
	return name;
}

static const struct variable *look_up(const struct kernel_handles *h, uint64_t handle)
{
	const struct variable key = {.handle = handle};

	return h->known_cnt ? bsearch(&key, h->known, h->known_cnt, sizeof(key), by_handle) : NULL;
}

const char *kernel_handles__find(struct kernel_handles *h, uint64_t handle)
{
	const struct variable *v = handle ? look_up(h, handle) : NULL;

	if (!v && handle && h->cnt && h->reads < READ_MAX) {
		h->reads++;
		read_all(h);
		v = look_up(h, handle);
	}
	return v ? v->name : NULL;
}
