/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Sums of the scheduler's programs for each thread, in the thread's current step. */
#ifndef PROFTRACE_SCHED_THREADS_BPF_H
#define PROFTRACE_SCHED_THREADS_BPF_H

#include "intervals.bpf.h"
#include "sched_places.bpf.h"

#define PT_SCHED_IS_NEW (1u << 30) /* flag of a place: it was free, and is now taken for this thread */

/* Returns the thread's place. PT_SCHED_NOWHERE: all places are taken. */
__weak __noinline __u32 thread_place_take(__u32 tid)
{
	__u32 place = tid & (sched_set_cnt - 1);
	struct pt_sched_set *set = bpf_map_lookup_elem(&sched_sets, &place);

	if (!set)
		return PT_SCHED_NOWHERE;
	place *= PT_SCHED_WAYS;
	for (int way = 0; way < PT_SCHED_WAYS; way++) {
		__u32 was = __sync_val_compare_and_swap(&set->tids[way], 0, tid);

		if (!was)
			return (place + way) | PT_SCHED_IS_NEW;
		if (was == tid)
			return place + way;
	}
	__sync_fetch_and_add(&sched_ctl.lost_threads, 1);
	return PT_SCHED_NOWHERE;
}

/* *is_new: the place was free before. NULL: all places are taken. */
static __always_inline struct pt_sched_thread *thread_take(__u32 tid, bool *is_new)
{
	__u32 place = thread_place_take(tid);

	*is_new = place & PT_SCHED_IS_NEW;
	if (place != PT_SCHED_NOWHERE)
		place &= ~PT_SCHED_IS_NEW;
	return bpf_map_lookup_elem(&sched_threads, &place);
}

static __always_inline void thread_name(struct task_struct *task, struct pt_sched_thread *t)
{
	bpf_probe_read_kernel_str(t->comm, sizeof(t->comm), task->comm);
}

/* Copies the thread's name from its place. sched_rename keeps it up to date there. */
static __always_inline void name_copy(char *dst, const struct pt_sched_thread *t)
{
	__builtin_memcpy(dst, t->comm, sizeof(t->comm));
}

/* Sends the sums of one step through the ring, and empties them. The __weak functions are global: the verifier checks
 * each once per program. */
__weak __noinline int step_flush(struct pt_sched_thread *t, __u32 gen, __u32 tid)
{
	struct pt_sched_record *r;
	struct pt_sched_step *step;

	if (!t)
		return 0;
	step = &t->steps[gen & 1];
	r = ring_reserve(&sched_ring, sizeof(*r));
	if (r) {
		r->tid = tid;
		r->tgid = t->open.tgid;
		name_copy(r->comm, t);
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

/* A part of an interval that lies in one step. */
struct share {
	__u64 step_ns, ns, cpu_ns;
	__u64 cnt; /* as wide as the others: before Linux 6.3 the verifier requires that padding is written, too */
};

__weak __noinline int step_add(struct pt_sched_thread *t, __u32 gen, __u32 tid, struct share *share)
{
	struct pt_sched_part *part = NULL;
	struct pt_sched_step *step;
	__u32 what;

	if (!t || !share)
		return 0;
	what = t->open.state << PT_SCHED_STATE_SHIFT | t->open.reason;
	step = &t->steps[gen & 1];
	if (step->step_ns != share->step_ns && pt_sched_step_in_use(step))
		step_flush(t, gen, tid);
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
		step_flush(t, gen, tid);
		part = &step->parts[0];
	}
	part->what = what;
	part->ns += share->ns;
	part->cnt += share->cnt;
	return 0;
}

/* Sends the whole interval to the loader. */
static __noinline int thread_emit(const struct pt_sched_thread *t, const struct interval *i)
{
	struct pt_sched_span *s = interval_reserve(i);

	if (!s)
		return 0;
	name_copy(s->comm, t);
	bpf_ringbuf_submit(s, BPF_RB_NO_WAKEUP);
	return 0;
}

/* The thread's open interval ends now. Adds it to the sums, or sends it whole to the loader. exec_ns: as in struct
 * pt_sched_open. */
__weak __noinline int thread_account(struct pt_sched_thread *t, __u32 tid, __u64 exec_ns, __u64 now)
{
	__u64 seq = ctl.step_seq, latest = ctl.step_ns[seq % PT_STEP_RING];
	const __u32 gen = sched_ctl.gen & 1;
	struct share newest = {latest, 0, 0, 1};
	const struct pt_sched_open *o;
	struct interval whole;

	if (!t)
		return 0;
	o = &t->open;
	if (in_no_window(o->since_ns, now))
		return 0;
	whole = interval_of(tid, o, now);
	newest.ns = now - o->since_ns;
	if (o->state == PT_SCHED_RUN)
		whole.cpu_ns = newest.cpu_ns = exec_ns - o->exec_ns;
	if (!in_window_alone(o->since_ns))
		return thread_emit(t, &whole);
	if (latest > o->since_ns) {
		struct share older = {ctl.step_ns[(seq - 1) % PT_STEP_RING], 0, 0, 1};

		if (older.step_ns > o->since_ns)
			return thread_emit(t, &whole);
		newest.ns = now > latest ? now - latest : 0;
		if (newest.cpu_ns > newest.ns)
			newest.cpu_ns = newest.ns;
		newest.cnt = 0;
		older.ns = now - o->since_ns - newest.ns;
		older.cpu_ns = whole.cpu_ns - newest.cpu_ns;
		step_add(t, gen, tid, &older);
		if (!newest.ns)
			return 0;
	}
	return step_add(t, gen, tid, &newest);
}

/* The thread has ended. If the loader has not taken its sums yet, the place is kept until then. */
__weak __noinline int thread_release(struct pt_sched_thread *t, __u32 tid)
{
	__u32 place = tid & (sched_set_cnt - 1), gen = sched_ctl.gen & 1;
	struct pt_sched_set *set = bpf_map_lookup_elem(&sched_sets, &place);
	__u32 after = 0;

	if (!t)
		return 0;
	if (pt_sched_step_in_use(&t->steps[gen]))
		step_flush(t, gen, tid);
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
