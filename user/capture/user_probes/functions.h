/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions of a process that the user names as LIB:GLOB. LIB names files that the process maps.
 * GLOB matches every symbol in them, also those that only .symtab has, by mangled or readable
 * name. */
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

/* "exe:Server::handle" is a library and a glob; -EINVAL with err__set where either is missing.
 * option: as the user wrote it, for the message. */
int function_spec__split(const char *option, const char *spec, char *lib, size_t size,
			 const char **glob);

/* Does the glob match a symbol: as it is, readable, or readable without parameters? */
bool function__matches(const char *glob, const char *symbol, const char *readable);

/* All functions that match "LIB:GLOB", at most `limit`; one of each address. LIB: a shell pattern
 * of basenames, with or without the version behind .so, or "exe". -ENOENT: none, -E2BIG: too many,
 * each with err__set. */
int functions__find(struct target *t, const char *option, const char *spec, size_t limit,
		    struct functions *out);
void functions__free(struct functions *f);

#endif
