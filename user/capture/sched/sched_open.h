/* SPDX-License-Identifier: BSD-2-Clause */
/* What is still going on at a window's end. Functions return 0 or -ENOMEM. */
#ifndef PROFTRACE_SCHED_OPEN_H
#define PROFTRACE_SCHED_OPEN_H

#include "capture/sched/sched_table.h"

struct bpf_map;

struct sched_spans {
	struct pt_sched_span *items; /* the caller's to free */
	size_t cnt, cap;
};

/* What each thread of the table has been doing up to close_ns. If a switch was not seen, the
 * kernel's count of its run time decides. */
int sched_open__threads(const struct sched_table *t, uint64_t close_ns, struct sched_spans *out);

/* Of a map from threads to their open system calls or page faults. */
int sched_open__entries(const struct bpf_map *map, uint64_t close_ns, struct sched_spans *out);

#endif
