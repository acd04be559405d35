/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of kernels without CUPTI, from what a launch call shows, what libraries register, and their
 * symbols:
 *
 *  - a call with the address of the kernel's host stub, or a handle that such a stub keeps: the
 *    name that is registered for the stub, or else the stub's symbol;
 *  - anything else, such as a driver's handle: the library that launched it.
 */
#ifndef PROFTRACE_KERNEL_NAMES_H
#define PROFTRACE_KERNEL_NAMES_H

#include "recording/recording.h"
#include "target/target.h"

struct kernel_names;

/* Borrows the target. Names in common with another process, if not NULL, are taken from there. That
 * one must live longer. */
struct kernel_names *kernel_names__new(struct target *t, const struct kernel_names *other);
void kernel_names__free(struct kernel_names *k);
/* Forgets the ids, because a new writer begins. */
void kernel_names__forget_ids(struct kernel_names *k);

/* Reads in advance what takes a while. */
void kernel_names__prepare(struct kernel_names *k);

struct kernel_launch {
	uint64_t function; /* the argument of the launch call */
	uint64_t caller;   /* the return address of the call */
	bool by_runtime;
};
/* The id of the name in the writer. 0: unknown, or the writer failed. */
uint32_t kernel_names__id(struct kernel_names *k, struct recording_writer *w,
			  const struct kernel_launch *launch);

/* The kernel's mangled name from the symbol of its host stub, which may be the kernel's own name.
 * Caller frees; NULL: out of memory. */
char *kernel_name__of_stub(const char *symbol);

#endif
