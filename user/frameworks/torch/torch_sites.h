/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where an operator's C++ function may be probed for its end. A return probe would kill the target
 * when an exception passes. So the end is a plain probe on an instruction inside the function that
 * each normal return passes. It is the jump of `~optional<StepCallbacks>`, after the kernel call.
 * x86-64: torch_sites_x86.c; in a file's function: torch_sites.c.
 */
#ifndef PROFTRACE_TORCH_SITES_H
#define PROFTRACE_TORCH_SITES_H

#include <stddef.h>
#include <stdint.h>
#include "target/elf_file.h"

enum { TORCH_MAX_ENDS = 8 }; /* end sites per function; each normal return passes one of them */

struct torch_sites; /* scratch memory, reused from function to function */
struct torch_sites *torch_sites__new(void);
void torch_sites__free(struct torch_sites *s);

/*
 * Offsets of the end sites of one function (code, from its entry) into offsets[], ascending.
 * Returns how many (at least 1); -ENOENT if the function does not have the shape, -EINVAL if it has
 * but its control flow does not prove the sites (a return that passes none or two of them, a site
 * before the call), -E2BIG if it is larger than looked at or has more sites than max.
 */
int torch_sites__find(struct torch_sites *s, const uint8_t *code, size_t len, uint32_t *offsets,
		      size_t max);

/* The same for a function of a file: virtual addresses into ends[]. How many, 0 if none can be had.
 */
int torch_sites__ends(struct torch_sites *s, struct elf_file *elf, uint64_t entry, uint64_t size,
		      uint64_t ends[TORCH_MAX_ENDS]);

#endif
