/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* What the scheduler's programs sum of each thread, in the step that it is in. */
#ifndef PROFTRACE_SCHED_THREADS_BPF_H
#define PROFTRACE_SCHED_THREADS_BPF_H

#include "intervals.bpf.h"
#include "sched_places.bpf.h"

/* *is_new: nobody had taken it for this thread. NULL: all are taken. */
static __noinline struct pt_sched_thread *thread_take(__u32 tid, bool *is_new)
{
	__u32 place = tid & (sched_set_cnt - 1);
	struct pt_sched_set *set = bpf_map_lookup_elem(&sched_sets, &place);

	if (!set)
		return NULL;
	place *= PT_SCHED_WAYS;
	for (int way = 0; way < PT_SCHED_WAYS; way++, place++) {
		__u32 was = __sync_val_compare_and_swap(&set->tids[way], 0, tid);

		if (was && was != tid)
			continue;
		*is_new = !was;
		return bpf_map_lookup_elem(&sched_threads, &place);
	}
	__sync_fetch_and_add(&sched_ctl.lost_threads, 1);
	return NULL;
}

static __always_inline void thread_name(struct task_struct *task, struct pt_sched_thread *t)
{
	bpf_probe_read_kernel_str(t->comm, sizeof(t->comm), task->comm);
}

/* The sums of one step, which are the ring's then. */
static __noinline int step_flush(struct task_struct *task, struct pt_sched_thread *t,
				 struct pt_sched_step *step, __u32 tid)
{
	struct pt_sched_record *r = ring_reserve(&sched_ring, sizeof(*r));

	thread_name(task, t);
	if (r) {
		r->tid = tid;
		r->tgid = t->open.tgid;
		__builtin_memcpy(r->comm, t->comm, sizeof(r->comm));
		r->step = *step;
		bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	} else {
		__sync_fetch_and_add(&sched_ctl.lost_records, 1);
	}
	step->run_ns = step->cpu_ns = step->run_cnt = 0;
	for (int i = 0; i < PT_SCHED_PARTS; i++)
		step->parts[i].ns = step->parts[i].cnt = 0;
	return 0;
}

/* A part of an interval, all of it in one step. */
struct share {
	__u64 step_ns, ns, cpu_ns;
	__u32 cnt;
};

static __noinline int step_add(struct task_struct *task, struct pt_sched_thread *t,
			       struct pt_sched_step *step, const struct share *share)
{
	__u32 what = t->open.state << PT_SCHED_STATE_SHIFT | t->open.reason;
	struct pt_sched_part *part = NULL;

	if (step->step_ns != share->step_ns && pt_sched_step_in_use(step))
		step_flush(task, t, step, task->pid);
	step->step_ns = share->step_ns;
	if (t->open.state == PT_SCHED_RUN) {
		step->run_ns += share->ns;
		step->cpu_ns += share->cpu_ns;
		step->run_cnt += share->cnt;
		return 0;
	}
	for (int i = 0; i < PT_SCHED_PARTS && !part; i++)
		if (!step->parts[i].ns || step->parts[i].what == what)
			part = &step->parts[i];
	if (!part) {
		step_flush(task, t, step, task->pid);
		part = &step->parts[0];
	}
	part->what = what;
	part->ns += share->ns;
	part->cnt += share->cnt;
	return 0;
}

/* The thread's open interval ends now: into the sums, or whole to the loader. */
static __noinline int thread_account(struct task_struct *task, struct pt_sched_thread *t, __u64 now)
{
	const struct pt_sched_open *o = &t->open;
	__u64 seq = ctl.step_seq, latest = ctl.step_ns[seq % PT_STEP_RING];
	struct interval whole = interval_of(task, o, now);
	struct share newest = {latest, now - o->since_ns, 0, 1};
	struct pt_sched_step *step = &t->steps[sched_ctl.gen & 1];

	if (in_no_window(o->since_ns, now))
		return 0;
	if (o->state == PT_SCHED_RUN)
		whole.cpu_ns = newest.cpu_ns = task->se.sum_exec_runtime - o->exec_ns;
	if (!in_window_alone(o->since_ns))
		return interval_emit(task, &whole);
	if (latest > o->since_ns) {
		struct share older = {ctl.step_ns[(seq - 1) % PT_STEP_RING], 0, 0, 1};

		if (older.step_ns > o->since_ns)
			return interval_emit(task, &whole);
		newest.ns = now > latest ? now - latest : 0;
		if (newest.cpu_ns > newest.ns)
			newest.cpu_ns = newest.ns;
		newest.cnt = 0;
		older.ns = now - o->since_ns - newest.ns;
		older.cpu_ns = whole.cpu_ns - newest.cpu_ns;
		step_add(task, t, step, &older);
		if (!newest.ns)
			return 0;
	}
	return step_add(task, t, step, &newest);
}

/* The thread is no more. Sums that are the loader's keep the place until it has taken them. */
static __noinline int thread_release(struct task_struct *task, struct pt_sched_thread *t, __u32 tid)
{
	__u32 place = tid & (sched_set_cnt - 1), gen = sched_ctl.gen & 1;
	struct pt_sched_set *set = bpf_map_lookup_elem(&sched_sets, &place);
	__u32 after = 0;

	if (pt_sched_step_in_use(&t->steps[gen]))
		step_flush(task, t, &t->steps[gen], tid);
	if (pt_sched_step_in_use(&t->steps[!gen]))
		after = tid | PT_SCHED_GONE;
	t->open.state = 0;
	if (!set)
		return 0;
	for (int way = 0; way < PT_SCHED_WAYS; way++)
		if (set->tids[way] == tid)
			set->tids[way] = after;
	return 0;
}

#endif
