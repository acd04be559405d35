/* SPDX-License-Identifier: BSD-2-Clause */
/* States of threads that last beyond a window's end. Functions return 0 or -ENOMEM. */
#ifndef PROFTRACE_SCHED_OPEN_H
#define PROFTRACE_SCHED_OPEN_H

#include "capture/sched/sched_table.h"

struct bpf_map;

struct sched_spans {
	struct pt_sched_span *items; /* the caller frees them */
	size_t cnt, cap;
};

/* The state of each thread in the table up to close_ns. If a switch was not seen, the kernel's count of run time
 * decides. */
int sched_open__threads(const struct sched_table *t, uint64_t close_ns, struct sched_spans *out);

/* The open system calls or page faults in a map by thread. */
int sched_open__entries(const struct bpf_map *map, uint64_t close_ns, struct sched_spans *out);

#endif
