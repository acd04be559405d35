/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Where intervals of threads and CPUs are added up, by step; shared by the programs that see them
 * end. Everything is preallocated: allocating under a runqueue lock could wake a task and deadlock. */
#ifndef PROFTRACE_SCHED_SUMS_BPF_H
#define PROFTRACE_SCHED_SUMS_BPF_H

#include "maps.bpf.h"
#include "sched_events.h"

#define TIF_ADDR32 (1u << 29)

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PT_SCHED_MAX_SUMS);
	__type(key, struct pt_sched_key);
	__type(value, struct pt_sched_sum);
} sched_sums __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, PT_SCHED_SPAN_BYTES);
} sched_spans __weak SEC(".maps");

struct pt_sched_ctl sched_ctl __weak = {};

/* Set before load: every process, and no reasons: `proftrace cpu`. */
const volatile bool sched_all __weak = false;

static __always_inline bool wanted(struct task_struct *task)
{
	__u32 tgid = task->tgid;

	if (!task->pid)
		return false;
	return sched_all || bpf_map_lookup_elem(&targets, &tgid);
}

/* A program that has had to do with a target's thread ends; it began then. */
static __always_inline void own_time(__u64 begin)
{
	if (ctl.window_open && bpf_get_prandom_u32() % PT_SCHED_TIMED == 0)
		__sync_fetch_and_add(&sched_ctl.own_ns,
				     PT_SCHED_TIMED * (bpf_ktime_get_ns() - begin));
}

static __noinline int span_emit(struct task_struct *task, struct pt_sched_key *key, __u64 begin,
				__u64 end, __u64 cpu_ns)
{
	struct pt_sched_span *s = bpf_ringbuf_reserve(&sched_spans, sizeof(*s), 0);

	if (!s) {
		__sync_fetch_and_add(&sched_ctl.lost_spans, 1);
		return 0;
	}
	s->begin_ns = begin;
	s->end_ns = end;
	s->cpu_ns = cpu_ns < end - begin ? cpu_ns : end - begin;
	s->tid = key->tid;
	s->tgid = key->tgid;
	s->reason = key->reason;
	s->state = key->state;
	bpf_probe_read_kernel_str(s->comm, sizeof(s->comm), task->comm);
	/* The loader reads this ring when it drains; waking it from here could recurse. */
	bpf_ringbuf_submit(s, BPF_RB_NO_WAKEUP);
	return 0;
}

static __noinline int sum_add(struct task_struct *task, struct pt_sched_key *key, __u64 ns,
			      __u64 cpu_ns, __u32 cnt)
{
	struct pt_sched_sum *s = bpf_map_lookup_elem(&sched_sums, key);

	if (s) {
		s->ns += ns;
		s->cpu_ns += cpu_ns;
		s->cnt += cnt;
	} else {
		struct pt_sched_sum first = {.ns = ns, .cpu_ns = cpu_ns, .cnt = cnt};

		bpf_probe_read_kernel_str(first.comm, sizeof(first.comm), task->comm);
		if (bpf_map_update_elem(&sched_sums, key, &first, BPF_NOEXIST))
			__sync_fetch_and_add(&sched_ctl.lost_sums, 1);
	}
	return 0;
}

/* Backwards from the latest boundary, so that the newest step comes first. */
static __always_inline void sum_split(struct task_struct *task, struct pt_sched_key *key,
				      __u64 begin, __u64 end, __u64 cpu_ns)
{
	__u64 seq = ctl.step_seq;

	for (int i = 0; i < PT_SCHED_MAX_SPLIT; i++) {
		__u64 step = ctl.step_ns[(seq - i) % PT_STEP_RING];
		__u64 from = step > begin ? step : begin;

		if (from < end) {
			__u64 ns = end - from;
			__u64 part = cpu_ns < ns || from == begin ? cpu_ns : ns;

			key->step_ns = step;
			sum_add(task, key, ns, part, from == begin);
			cpu_ns -= part;
			end = from;
		}
		if (step <= begin)
			break;
	}
}

static __always_inline bool in_no_window(__u64 begin, __u64 end)
{
	return begin >= end || (!ctl.window_open && begin >= ctl.window_close_ns);
}

/* Across an edge, or what the loader may have cut. */
static __always_inline bool in_window_alone(__u64 begin)
{
	return ctl.window_open && begin >= ctl.window_open_ns && begin >= sched_ctl.drained_ns;
}

/* The interval [begin, end) of a thread is over: into the sums, or whole to the loader. */
static __always_inline void account(struct task_struct *task, struct pt_sched_key *key, __u64 begin,
				    __u64 end, __u64 cpu_ns)
{
	if (in_no_window(begin, end))
		return;
	if (!in_window_alone(begin) ||
	    ctl.step_ns[(ctl.step_seq - (PT_SCHED_MAX_SPLIT - 1)) % PT_STEP_RING] > begin)
		span_emit(task, key, begin, end, cpu_ns);
	else
		sum_split(task, key, begin, end, cpu_ns);
}

/* The same of a CPU, of which there is a sum for each window, not for each step. */
static __always_inline void cpu_account(struct task_struct *task, struct pt_sched_key *key,
					__u64 begin, __u64 end)
{
	if (in_no_window(begin, end))
		return;
	if (!in_window_alone(begin)) {
		span_emit(task, key, begin, end, 0);
		return;
	}
	key->step_ns = ctl.window_open_ns;
	sum_add(task, key, end - begin, 0, 1);
}

#endif
