/* SPDX-License-Identifier: BSD-2-Clause */
/* The window, and the base of ratios. */
#ifndef PROFTRACE_RATIO_BASE_H
#define PROFTRACE_RATIO_BASE_H

#include "analysis/whole_time.h"

struct analysis;

/* From the window's opening to its closing. For a file that was cut off: from the first to the last
 * event. */
struct stretch analysis__window(const struct analysis *a);
uint64_t analysis__window_ns(const struct analysis *a);
/* The base T of the formulas: the time of the steps, or of the window if there are none. */
uint64_t analysis__total_ns(const struct analysis *a);
/* The same for kernels, copies and sets. */
uint64_t analysis__general_ns(const struct analysis *a);
/* The name of a base: "the steps' time" or "the kernels, copies and sets of the steps". */
const char *analysis__total_name(const struct analysis *a);
const char *analysis__general_name(const struct analysis *a);
/* T and its name, for rows that count also what lies outside of whole steps. If anything does, T is
 * the window. */
struct ratio_base {
	uint64_t cpu_ns, gpu_ns;
	const char *cpu_name, *gpu_name;
	bool is_steps; /* the steps' times exclude the cost of the probes; the window's does not */
};
struct ratio_base analysis__base(const struct analysis *a);

#endif
