/* SPDX-License-Identifier: BSD-2-Clause */
/* How many processors a process uses, from readings of its CPU time. */
#ifndef PROFTRACE_CPU_USE_H
#define PROFTRACE_CPU_USE_H

#include <stdint.h>

struct cpu_use {
	uint64_t cpu_ns, at_ns; /* the latest reading; at_ns 0: none */
	double cpus;		/* between the latest two readings; negative: unknown */
};

/* A reading less than a second after the last one is too coarse and ignored. cpu_ns 0: it could not
 * be read. */
void cpu_use__count(struct cpu_use *u, uint64_t cpu_ns, uint64_t now_ns);

#endif
