/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions of the target's C library that the remote code calls, for old and new glibc. */
#ifndef PROFTRACE_INJECT_CALLS_H
#define PROFTRACE_INJECT_CALLS_H

#include "inject/remote.h"
#include "target/target.h"

struct libc_calls {
	uint64_t pthread_create, pthread_self, pthread_detach;
	uint64_t dlopen, dlsym, dlclose, dlerror; /* dlerror may be 0 */
	uint64_t munmap;
	uint64_t dlopen_mode;
	uint64_t rtld_global; /* the loader's state, including its locks */
	size_t rtld_global_size;
};

/* 0; -EOPNOTSUPP with err__set: static program, musl, no thread library, or an unknown loader. */
int libc_calls__find(struct target *t, struct libc_calls *out);

/* Address of a function that the library defines. 0: it has none of that name. */
uint64_t libc_calls__symbol(struct target *t, const struct target_lib *lib, const char *name);

bool libc_calls__is_loader(const char *basename);
bool libc_calls__is_libc(const char *basename); /* also true for libpthread and libdl */

#endif
