/* SPDX-License-Identifier: BSD-2-Clause */
/* What the monitor uses of the host: memory of its processes and of their BPF maps, and CPU
 * time. */
#ifndef PROFTRACE_OWN_USAGE_H
#define PROFTRACE_OWN_USAGE_H

#include <stdint.h>
#include <sys/types.h>

struct own_usage {
	uint64_t anonymous_bytes;
	uint64_t bpf_bytes; /* not part of any process's resident memory */
	uint64_t cpu_ns;    /* of living processes */
};

void own_usage__add(struct own_usage *u, pid_t pid);
/* CPU time of processes that were waited for. */
uint64_t own_usage__ended_cpu_ns(void);

#endif
