/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which kernel a host stub launches, and which kernel a handle of the runtime (cudaKernel_t) stands
 * for. Known from what the target's libraries register, and from the handles that their stubs keep
 * in its memory.
 */
#ifndef PROFTRACE_KERNEL_HANDLES_H
#define PROFTRACE_KERNEL_HANDLES_H

#include "target/target.h"

struct kernel_handles;

/* Borrows the target. Libraries that `other` has read are taken from it. `other`, if not NULL, must
 * live longer. */
struct kernel_handles *kernel_handles__new(struct target *t, const struct kernel_handles *other);
void kernel_handles__free(struct kernel_handles *h);

/* Reads what the libraries with kernels register, and the variables of their stubs; takes a moment.
 */
void kernel_handles__read(struct kernel_handles *h);

/* Mangled names, valid until the next read; NULL: not known. */
const char *kernel_handles__of_stub(const struct kernel_handles *h, uint64_t address);
/* Reads the variables again for a handle that is not known, since stubs run for the first time at
 * any time. */
const char *kernel_handles__find(struct kernel_handles *h, uint64_t handle);

#endif
