/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Shared by programs that see intervals end: which target an interval belongs to, which window it
 * lies in, and its ring. Everything is preallocated, because an allocation under a runqueue lock
 * could wake a task and deadlock. */
#ifndef PROFTRACE_INTERVALS_BPF_H
#define PROFTRACE_INTERVALS_BPF_H

#include "maps.bpf.h"
#include "sched_events.h"

#define TIF_ADDR32 (1u << 29)

/* For struct pt_sched_span and struct pt_sched_record. */
RING_SLOT sched_ring __weak SEC(".maps");

struct pt_sched_ctl sched_ctl __weak = {};

/* Set before load by `proftrace cpu`: record every process, without reasons. */
const volatile bool sched_all __weak = false;

static __always_inline bool task_wanted(struct task_struct *task)
{
	__u32 tgid = task->tgid;

	if (!task->pid)
		return false;
	return sched_all || bpf_map_lookup_elem(&targets, &tgid);
}

/* Adds the time since `begin` that a program took for a target's thread. It samples runs nearly at
 * random: the product's upper bits depend on all bits of the clock. */
static __always_inline void own_time(__u64 begin)
{
	if (begin * 0x9e3779b97f4a7c15ull >> 32 < (1ull << 32) / PT_SCHED_TIMED && ctl.window_open)
		__sync_fetch_and_add(&sched_ctl.own_ns,
				     PT_SCHED_TIMED * (bpf_ktime_get_ns() - begin));
}

struct interval {
	__u32 tid, tgid;
	__u32 reason, state;
	__u64 begin_ns, end_ns, cpu_ns;
};

/* What the thread had open until now; its cpu_ns is the caller's. */
static __always_inline struct interval interval_of(__u32 tid, const struct pt_sched_open *o, __u64 now)
{
	return (struct interval){
		.tid = tid,
		.tgid = o->tgid,
		.reason = o->reason,
		.state = o->state,
		.begin_ns = o->since_ns,
		.end_ns = now,
	};
}

/* Its record without the name, NULL: the ring is full. */
static __always_inline struct pt_sched_span *interval_reserve(const struct interval *i)
{
	struct pt_sched_span *s = ring_reserve(&sched_ring, sizeof(*s));
	__u64 ns = i->end_ns - i->begin_ns;

	if (!s) {
		__sync_fetch_and_add(&sched_ctl.lost_records, 1);
		return NULL;
	}
	s->begin_ns = i->begin_ns;
	s->end_ns = i->end_ns;
	s->cpu_ns = i->cpu_ns < ns ? i->cpu_ns : ns;
	s->tid = i->tid;
	s->tgid = i->tgid;
	s->reason = i->reason;
	s->state = i->state;
	return s;
}

static __noinline int interval_emit(struct task_struct *task, const struct interval *i)
{
	struct pt_sched_span *s = interval_reserve(i);

	if (!s)
		return 0;
	bpf_probe_read_kernel_str(s->comm, sizeof(s->comm), task->comm);
	/* The loader reads this ring regularly. Waking it from here could recurse. */
	bpf_ringbuf_submit(s, BPF_RB_NO_WAKEUP);
	return 0;
}

static __always_inline bool in_no_window(__u64 begin, __u64 end)
{
	return begin >= end || (!ctl.window_open && begin >= ctl.window_close_ns);
}

/* Does the interval cross a window's edge, or may the loader have cut it? */
static __always_inline bool in_window_alone(__u64 begin)
{
	return ctl.window_open && begin >= ctl.window_open_ns && begin >= sched_ctl.drained_ns;
}

#endif
