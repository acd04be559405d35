/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * A table with a place for each thread, found by its id. It takes no lock and allocates nothing, so
 * a switch touches few cache lines. With hashes it took three times as long on a launch-bound job.
 */
#ifndef PROFTRACE_SCHED_PLACES_BPF_H
#define PROFTRACE_SCHED_PLACES_BPF_H

#include "maps.bpf.h"
#include "sched_events.h"

/* The loader makes both smaller for a job with few threads. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PT_SCHED_MAX_THREADS / PT_SCHED_WAYS);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct pt_sched_set);
} sched_sets __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PT_SCHED_MAX_THREADS);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct pt_sched_thread);
} sched_threads __weak SEC(".maps");

/* Set before load: a power of two. */
const volatile __u32 sched_set_cnt __weak = PT_SCHED_MAX_THREADS / PT_SCHED_WAYS;

#define PT_SCHED_NOWHERE 0xffffffff

/* PT_SCHED_NOWHERE: it has none, as the idle tasks, whose id is 0. A global function: the verifier follows
 * it once per program. */
__weak __noinline __u32 thread_place(__u32 tid)
{
	__u32 place = tid & (sched_set_cnt - 1);
	struct pt_sched_set *set = bpf_map_lookup_elem(&sched_sets, &place);

	if (!set || !tid)
		return PT_SCHED_NOWHERE;
	place *= PT_SCHED_WAYS;
	for (int way = 0; way < PT_SCHED_WAYS; way++)
		if (set->tids[way] == tid)
			return place + way;
	return PT_SCHED_NOWHERE;
}

/* NULL: it has none. */
static __always_inline struct pt_sched_thread *thread_find(__u32 tid)
{
	__u32 place = thread_place(tid);

	return bpf_map_lookup_elem(&sched_threads, &place);
}

#endif
