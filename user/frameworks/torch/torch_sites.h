/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a probe can see the end of an operator's C++ function. A return probe would kill the target
 * if an exception passes. So the end is a plain probe on an instruction inside the function that
 * each normal return passes: the jump of `~optional<StepCallbacks>` after the kernel call. x86-64:
 * torch_sites_x86.c; in a file's function: torch_sites.c.
 */
#ifndef PROFTRACE_TORCH_SITES_H
#define PROFTRACE_TORCH_SITES_H

#include <stddef.h>
#include <stdint.h>
#include "target/elf_file.h"

enum { TORCH_MAX_ENDS = 8 }; /* most end sites per function; each normal return passes one of
				them */

struct torch_sites; /* scratch memory, used for many functions */
struct torch_sites *torch_sites__new(void);
void torch_sites__free(struct torch_sites *s);

/*
 * Puts the offsets of the end sites of one function (code, from its entry) into offsets[],
 * ascending. Returns their number, at least 1. -ENOENT: the function does not have the shape.
 * -EINVAL: it has, but its control flow does not prove the sites (a return passes none or two of
 * them, or a site is before the call). -E2BIG: it is too large, or has more than max sites.
 */
int torch_sites__find(struct torch_sites *s, const uint8_t *code, size_t len, uint32_t *offsets,
		      size_t max);

/* The same for a function in a file: virtual addresses in ends[]. Returns their number, 0 if there
 * are none. */
int torch_sites__ends(struct torch_sites *s, struct elf_file *elf, uint64_t entry, uint64_t size,
		      uint64_t ends[TORCH_MAX_ENDS]);

#endif
