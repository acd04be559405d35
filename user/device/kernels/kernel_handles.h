/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which kernel a host stub launches, and which kernel a handle of the runtime (cudaKernel_t) means.
 * Read from what the target's libraries register, and from the handles that stubs keep in memory.
 */
#ifndef PROFTRACE_KERNEL_HANDLES_H
#define PROFTRACE_KERNEL_HANDLES_H

#include "target/target.h"

struct kernel_handles;

/* Borrows the target. Takes libraries that `other` has read from there. `other` may be NULL;
 * otherwise it must live longer. */
struct kernel_handles *kernel_handles__new(struct target *t, const struct kernel_handles *other);
void kernel_handles__free(struct kernel_handles *h);

/* Reads what libraries with kernels register, and the variables of their stubs. Takes a while. */
void kernel_handles__read(struct kernel_handles *h);

/* Mangled names, valid until the next read. NULL: unknown. */
const char *kernel_handles__of_stub(const struct kernel_handles *h, uint64_t address);
/* Reads the variables again for an unknown handle, because a stub sets its variable when it first
 * runs. */
const char *kernel_handles__find(struct kernel_handles *h, uint64_t handle);

#endif
