/* SPDX-License-Identifier: BSD-2-Clause */
/* How many processors a process uses, by readings of its CPU time. */
#ifndef PROFTRACE_CPU_USE_H
#define PROFTRACE_CPU_USE_H

#include <stdint.h>

struct cpu_use {
	uint64_t cpu_ns, at_ns; /* the latest reading; at_ns 0: none */
	double cpus;		/* between the latest two; negative: not known */
};

/* Readings less than a second apart are too coarse: the later one is left out. cpu_ns 0: it could not
 * be read. */
void cpu_use__count(struct cpu_use *u, uint64_t cpu_ns, uint64_t now_ns);

#endif
