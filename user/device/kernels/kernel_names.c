// SPDX-License-Identifier: BSD-2-Clause
#include "device/kernels/kernel_names.h"
#include "common/util.h"
#include "device/kernels/demangle.h"
#include "device/kernels/kernel_handles.h"
#include <string.h>
#include <uthash.h>

#define STUB "__device_stub_"

struct kernel_key {
	uint64_t function, caller;
};

struct kernel_name {
	struct kernel_key key;
	char *text; /* NULL: the name is unknown */
	uint32_t id;
	UT_hash_handle hh;
};

struct kernel_names {
	struct target *target;
	struct kernel_handles *handles;
	struct kernel_name *by_key;
};

struct kernel_names *kernel_names__new(struct target *t, const struct kernel_names *other)
{
	struct kernel_names *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->target = t;
	k->handles = kernel_handles__new(t, other ? other->handles : NULL);
	if (!k->handles) {
		free(k);
		return NULL;
	}
	return k;
}

void kernel_names__free(struct kernel_names *k)
{
	struct kernel_name *item, *next;

	if (!k)
		return;
	HASH_ITER(hh, k->by_key, item, next)
	{
		HASH_DEL(k->by_key, item);
		free(item->text);
		free(item);
	}
	kernel_handles__free(k->handles);
	free(k);
}

void kernel_names__forget_ids(struct kernel_names *k)
{
	for (struct kernel_name *item = k->by_key; item; item = item->hh.next)
		item->id = 0;
}

/* ---- stubs ---- */

/* "_ZL<length>__device_stub__Z3addPfPf" is the stub of _Z3addPf. The stub's own arguments follow
 * after the counted length. */
char *kernel_name__of_stub(const char *symbol)
{
	const char *stub = strstr(symbol, STUB);
	size_t len = stub ? strlen(stub) : 0, counted = 0;
	const char *digits = stub;

	if (!stub)
		return strdup(symbol);
	while (digits > symbol && digits[-1] >= '0' && digits[-1] <= '9')
		digits--;
	if (digits < stub)
		counted = strtoul(digits, NULL, 10);
	if (counted > strlen(STUB) && counted < len)
		len = counted;
	/* A kernel without a C++ name: its name follows after another underscore. */
	if (!strncmp(stub, STUB "_Z", strlen(STUB "_Z")))
		return strndup(stub + strlen(STUB), len - strlen(STUB));
	return strndup(stub + strlen(STUB "_"), len - strlen(STUB "_"));
}

/* ---- addresses ---- */

/* Finds the function that contains the address. */
static bool symbol_at(struct kernel_names *k, const struct target_lib *lib, uint64_t vaddr,
		      struct elf_symbol *out)
{
	return !elf_file__symbol_at(target__elf(k->target, lib), vaddr, out) && out->is_function;
}

void kernel_names__prepare(struct kernel_names *k)
{
	kernel_handles__read(k->handles);
}

/* ---- names ---- */

static char *readable(const char *symbol)
{
	auto_free char *mangled = kernel_name__of_stub(symbol);

	return mangled ? kernel_name__readable(mangled) : NULL;
}

static char *by_library(const struct target_lib *lib)
{
	const char *slash = strrchr(lib->path, '/');
	char *text;

	return asprintf(&text, "unnamed kernel of %s", slash ? slash + 1 : lib->path) < 0 ? NULL
											  : text;
}

static char *find(struct kernel_names *k, const struct kernel_launch *launch)
{
	const char *name = kernel_handles__of_stub(k->handles, launch->function);
	const struct target_lib *lib;
	struct elf_symbol s;
	uint64_t vaddr;

	if (name)
		return kernel_name__readable(name);
	lib = target__lib_at(k->target, launch->function, &vaddr);
	if (lib && symbol_at(k, lib, vaddr, &s) && s.vaddr == vaddr)
		return readable(s.name);
	name = launch->by_runtime ? kernel_handles__find(k->handles, launch->function) : NULL;
	if (name)
		return kernel_name__readable(name);
	lib = target__lib_at(k->target, launch->caller - 1, &vaddr);
	return lib ? by_library(lib) : NULL;
}

static struct kernel_name *add(struct kernel_names *k, const struct kernel_launch *launch)
{
	struct kernel_name *item = calloc(1, sizeof(*item));

	if (!item)
		return NULL;
	item->key = (struct kernel_key){launch->function, launch->caller};
	item->text = find(k, launch);
	HASH_ADD(hh, k->by_key, key, sizeof(item->key), item);
	return item;
}

uint32_t kernel_names__id(struct kernel_names *k, struct recording_writer *w,
			  const struct kernel_launch *launch)
{
	const struct kernel_key key = {launch->function, launch->caller};
	struct kernel_name *item;

	// NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): all bytes are set
	HASH_FIND(hh, k->by_key, &key, sizeof(key), item);
	if (!item)
		item = add(k, launch);
	if (!item || !item->text)
		return 0;
	if (!item->id)
		item->id = recording_writer__name(w, CAT_KERNEL, item->text, NULL);
	return item->id;
}
