/* SPDX-License-Identifier: BSD-2-Clause */
/* What the monitor takes of the host: its processes' memory, that of their BPF maps, and CPU time. */
#ifndef PROFTRACE_OWN_USAGE_H
#define PROFTRACE_OWN_USAGE_H

#include <stdint.h>
#include <sys/types.h>

struct own_usage {
	uint64_t anonymous_bytes;
	uint64_t bpf_bytes; /* charged to no process's resident memory */
	uint64_t cpu_ns;    /* of processes that live */
};

void own_usage__add(struct own_usage *u, pid_t pid);
/* Of processes that were waited for. */
uint64_t own_usage__ended_cpu_ns(void);

#endif
