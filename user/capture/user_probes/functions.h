/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions of a process that the user names as LIB:GLOB. LIB names files that the process maps. GLOB matches mangled
 * or readable names of all symbols in them, also of those in .symtab only. */
#ifndef PROFTRACE_FUNCTIONS_H
#define PROFTRACE_FUNCTIONS_H

#include "target/target.h"

struct function {
	const struct target_lib *lib; /* the target's */
	char *symbol;		      /* mangled */
	char *name;		      /* readable */
	uint64_t vaddr, size, offset;
};

struct functions {
	struct function *items;
	size_t cnt, cap;
};

/* Splits "exe:Server::handle" into a library and a glob. Returns -EINVAL with err__set if one is missing. option: the
 * option's name, for the message. */
int function_spec__split(const char *option, const char *spec, char *lib, size_t size,
			 const char **glob);

/* Does the glob match the mangled name, the readable name, or the readable name without parameters? */
bool function__matches(const char *glob, const char *symbol, const char *readable);

/* Finds all functions that match "LIB:GLOB", at most `limit`, one for each address. LIB is "exe" or a shell pattern of
 * basenames, with or without the version after .so. Returns -ENOENT (none) or -E2BIG (too many) with err__set. */
int functions__find(struct target *t, const char *option, const char *spec, size_t limit,
		    struct functions *out);
void functions__free(struct functions *f);

#endif
