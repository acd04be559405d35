// SPDX-License-Identifier: BSD-2-Clause
#include "inject/calls.h"
#include <dlfcn.h>
#include <fnmatch.h>
#include <string.h>
#include "common/err.h"
#include "inject/message_table.h"
#include "common/util.h"

/* bits/dlfcn.h: the flag by which __libc_dlopen_mode acts as dlopen */
#define RTLD_DLOPEN_PRIVATE 0x80000000u
#define MAX_RTLD_GLOBAL	    65536

/* Before 2.34 thread and loader functions were in libraries of their own, with versions in the file
 * names. */
static const char *const libc_names[] = {"libc.so.6", "libc-2.*.so", NULL};
static const char *const pthread_names[] = {"libpthread.so.0", "libpthread-2.*.so", NULL};
static const char *const dl_names[] = {"libdl.so.2", "libdl-2.*.so", NULL};
static const char *const loader_names[] = {"ld-linux-x86-64.so.2", "ld-2.*.so", NULL};
static const char *const musl_names[] = {"ld-musl-*", "libc.musl-*", NULL};

static bool matches(const char *basename, const char *const *patterns)
{
	for (; *patterns; patterns++) {
		if (fnmatch(*patterns, basename, 0) == 0)
			return true;
	}
	return false;
}

bool libc_calls__is_loader(const char *basename)
{
	return matches(basename, loader_names);
}

bool libc_calls__is_libc(const char *basename)
{
	return matches(basename, libc_names) || matches(basename, pthread_names) ||
	       matches(basename, dl_names);
}

static const struct target_lib *find_lib(const struct target *t, const char *const *patterns)
{
	const struct target_lib *lib = NULL;

	for (; *patterns && !lib; patterns++)
		lib = target__find_lib(t, *patterns);
	return lib;
}

uint64_t libc_calls__symbol(struct target *t, const struct target_lib *lib, const char *name)
{
	struct elf_file *elf = lib ? target__elf(t, lib) : NULL;
	struct elf_symbol s;

	if (!elf || elf_file__symbol(elf, name, &s) < 0)
		return 0;
	return lib->base + s.vaddr;
}

struct wanted {
	const char *name;
	const char *const *other_lib; /* its library before 2.34 */
	const char *private_name;     /* libc's internal name, if the other library is not loaded */
	size_t slot;		      /* offset in struct libc_calls */
};

#define SLOT(field) offsetof(struct libc_calls, field)
static const struct wanted wanted[] = {
	{"pthread_create", pthread_names, NULL, SLOT(pthread_create)},
	{"pthread_self", pthread_names, NULL, SLOT(pthread_self)},
	{"pthread_detach", pthread_names, NULL, SLOT(pthread_detach)},
	{"dlopen", dl_names, "__libc_dlopen_mode", SLOT(dlopen)},
	{"dlsym", dl_names, "__libc_dlsym", SLOT(dlsym)},
	{"dlclose", dl_names, "__libc_dlclose", SLOT(dlclose)},
	{"dlerror", dl_names, NULL, SLOT(dlerror)},
	{"munmap", NULL, NULL, SLOT(munmap)},
};

static int refuse(const struct target *t, const char *why)
{
	return err__set(-EOPNOTSUPP, MESSAGE_INJECT_NOT_SUPPORTED, t->pid, t->comm, why);
}

static int find_rtld_global(struct target *t, const struct target_lib *loader,
			    struct libc_calls *out)
{
	struct elf_file *elf = loader ? target__elf(t, loader) : NULL;
	struct elf_symbol s;

	if (!elf || elf_file__symbol(elf, "_rtld_global", &s) < 0 || s.size < 64 ||
	    s.size > MAX_RTLD_GLOBAL)
		return refuse(t, "its dynamic loader is not one of glibc's");
	out->rtld_global = loader->base + s.vaddr;
	out->rtld_global_size = s.size;
	return 0;
}

/* Some distributions besides Alpine map musl as libc.so. So the name of the program's loader
 * decides. */
static bool is_musl(struct target *t)
{
	size_t len = 0;

	if (find_lib(t, musl_names))
		return true;
	for (size_t i = 0; i < t->lib_cnt && t->exe; i++) {
		struct elf_file *elf =
			strcmp(t->libs[i].path, t->exe) ? NULL : target__elf(t, &t->libs[i]);
		const uint8_t *interpreter =
			elf ? elf_file__section(elf, ".interp", &(uint64_t){0}, &len) : NULL;

		if (interpreter && memmem(interpreter, len, "/ld-musl-", 9))
			return true;
	}
	return false;
}

int libc_calls__find(struct target *t, struct libc_calls *out)
{
	const struct target_lib *libc = find_lib(t, libc_names);

	*out = (struct libc_calls){.dlopen_mode = RTLD_NOW};
	if (t->is_static)
		return refuse(t, "it is a static program");
	if (is_musl(t))
		return refuse(t, "its C library is musl, not glibc");
	if (!libc)
		return refuse(t, "it does not use glibc");
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		const struct wanted *w = &wanted[i];
		uint64_t *slot = (uint64_t *)((char *)out + w->slot);

		*slot = libc_calls__symbol(t, libc, w->name);
		if (!*slot && w->other_lib)
			*slot = libc_calls__symbol(t, find_lib(t, w->other_lib), w->name);
		if (!*slot && w->private_name) {
			*slot = libc_calls__symbol(t, libc, w->private_name);
			if (w->slot == SLOT(dlopen))
				out->dlopen_mode |= RTLD_DLOPEN_PRIVATE;
		}
		if (!*slot && w->slot != SLOT(dlerror))
			return refuse(t, w->other_lib == pthread_names
						 ? "it has no thread library (old glibc)"
						 : "its C library lacks what is needed");
	}
	return find_rtld_global(t, find_lib(t, loader_names), out);
}
