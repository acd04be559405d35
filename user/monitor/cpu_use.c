// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/cpu_use.h"

#define LEAST_NS 1000000000ull

void cpu_use__count(struct cpu_use *u, uint64_t cpu_ns, uint64_t now_ns)
{
	if (u->at_ns && now_ns - u->at_ns < LEAST_NS)
		return;
	if (!cpu_ns || cpu_ns < u->cpu_ns)
		u->cpus = -1;
	else if (u->at_ns)
		u->cpus = (double)(cpu_ns - u->cpu_ns) / (double)(now_ns - u->at_ns);
	u->cpu_ns = cpu_ns;
	u->at_ns = cpu_ns ? now_ns : 0;
}
