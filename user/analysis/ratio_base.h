/* SPDX-License-Identifier: BSD-2-Clause */
/* The window, and what ratios are of. */
#ifndef PROFTRACE_RATIO_BASE_H
#define PROFTRACE_RATIO_BASE_H

#include "analysis/whole_time.h"

struct analysis;

/* From the window's open to its close; of a file that was cut off, from the first to the last
 * event. */
struct stretch analysis__window(const struct analysis *a);
uint64_t analysis__window_ns(const struct analysis *a);
/* T of the formulas: the steps, or the window if there are none. */
uint64_t analysis__total_ns(const struct analysis *a);
/* The same for kernels, copies and sets. */
uint64_t analysis__general_ns(const struct analysis *a);
/* What a ratio is of: "the steps' time"; "the kernels, copies and sets of the steps". */
const char *analysis__total_name(const struct analysis *a);
const char *analysis__general_name(const struct analysis *a);
/* T, and what it is called, where rows count what lies in no whole step, too: the window, if
 * anything does. */
struct ratio_base {
	uint64_t cpu_ns, gpu_ns;
	const char *cpu_name, *gpu_name;
	bool is_steps; /* their times are less the cost of the probes, the window's is not */
};
struct ratio_base analysis__base(const struct analysis *a);

#endif
