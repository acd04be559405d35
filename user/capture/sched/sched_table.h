/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables of threads and CPUs that the scheduler's programs keep (bpf/sched_events.h), in shared memory. Functions
 * that fail return a negative errno with err__set, or -ENOMEM.
 */
#ifndef PROFTRACE_SCHED_TABLE_H
#define PROFTRACE_SCHED_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "bpf/sched_events.h"

struct proftrace_bpf;

struct sched_table {
	struct pt_sched_set *sets; /* each has PT_SCHED_WAYS threads */
	size_t set_cnt;
	struct pt_sched_thread *threads;
	struct pt_sched_cpu *cpus;
	size_t cpu_cnt;
};

/* cpu_cnt: the number of CPUs in the map. After a failure there is nothing to unmap. */
int sched_table__map(struct sched_table *t, const struct proftrace_bpf *skel, size_t cpu_cnt);
void sched_table__unmap(struct sched_table *t);

/* Empties the tables. No program may be attached. */
void sched_table__clear(struct sched_table *t);

/*
 * Passes the sums of a generation to fn and empties it. No program may add to that generation any more. If fn returns a
 * value other than 0, returns that value; the remaining sums stay.
 */
typedef int (*sched_record_fn)(void *ctx, const struct pt_sched_record *record);
int sched_table__take(struct sched_table *t, uint32_t gen, sched_record_fn fn, void *ctx);

/* Passes the open state of each thread to fn. The programs may write meanwhile; each state is consistent. */
typedef int (*sched_open_fn)(void *ctx, uint32_t tid, const struct pt_sched_open *open);
int sched_table__open(const struct sched_table *t, sched_open_fn fn, void *ctx);
/* Since when a thread is blocked; 0: it is not blocked, or unknown. */
uint64_t sched_table__asleep_since(const struct sched_table *t, uint32_t tid);

#endif
