/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* A thread's open spans, and spans that it has not sent yet. */
#ifndef PROFTRACE_THREAD_BPF_H
#define PROFTRACE_THREAD_BPF_H

#include "maps.bpf.h"

static __always_inline __u32 current_tid(void)
{
	return (__u32)bpf_get_current_pid_tgid();
}

/* The total time for which this thread was ready to run and had no processor. 0 if the kernel does
 * not count it (CONFIG_SCHED_INFO). */
static __always_inline __u64 cpu_wait_ns(void)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return bpf_core_field_exists(task->sched_info.run_delay) ? task->sched_info.run_delay : 0;
}

static __always_inline void rec_init(struct pt_rec *h, __u8 kind, __u16 size, __u32 probe)
{
	__u64 id = bpf_get_current_pid_tgid();

	h->kind = kind;
	h->end = 0;
	h->size = size;
	h->probe = probe;
	h->pid = id >> 32;
	h->tid = (__u32)id;
}

static __always_inline void count_lost(__u64 *counter)
{
	__sync_fetch_and_add(counter, 1);
}

static __always_inline struct pt_thread *thread_lookup(void)
{
	__u32 tid = current_tid();

	return bpf_map_lookup_elem(&threads, &tid);
}

static __always_inline struct pt_thread *thread_get(void)
{
	__u32 tid = current_tid(), zero = 0;
	struct pt_thread *t = bpf_map_lookup_elem(&threads, &tid);

	if (t)
		return t;
	t = bpf_map_lookup_elem(&empty_thread, &zero);
	if (!t)
		return NULL;
	bpf_map_update_elem(&threads, &tid, t, BPF_NOEXIST);
	t = bpf_map_lookup_elem(&threads, &tid);
	if (!t) {
		count_lost(&ctl.lost_storage);
		return NULL;
	}
	t->tid = tid;
	t->pid = bpf_get_current_pid_tgid() >> 32;
	return t;
}

/* Open span i, NULL out of bounds. The barrier keeps the compiler from making pointer arithmetic of
 * a loop over open spans, because the verifier could not see its bounds. */
static __always_inline struct pt_open_span *open_span_at(struct pt_thread *t, __u32 i)
{
	barrier_var(i);
	if (i >= PT_MAX_OPEN_SPANS)
		return NULL;
	return &t->open[i];
}

/*
 * A search of the open spans is two loops: a global function looks at a group of them, its caller
 * goes on to the next. The verifier walks each turn of a loop, so it walks 4 and 12 turns, not 48.
 */
#define PT_SPAN_GROUP 4
_Static_assert(PT_MAX_OPEN_SPANS % PT_SPAN_GROUP == 0, "");

/* A range that ended out of order waits for those above it; so does one whose end had no probe. */
static __always_inline bool span_has_ended(const struct pt_open_span *f)
{
	return f->kind == PT_KIND_NAMED &&
	       (f->ended_ns || (f->sp == PT_SP_OBJECT && f->ts_ns < ctl.rearmed_ns));
}

static __always_inline bool may_miss_end(__u32 row)
{
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);

	return cfg && cfg->place & PT_MAY_MISS_END;
}

/* A call that may have ended while its probes were changed. Only its own end shows that it did
 * not. */
static __always_inline bool span_is_stale(const struct pt_open_span *f)
{
	return PT_IS_STALE(f, ctl.changed_ns, may_miss_end(f->probe));
}

/* Sends the spans that the thread has gathered. */
static __always_inline void batch_flush(struct pt_thread *t)
{
	__u32 cnt = t->batch.cnt;
	__u64 size;

	if (!cnt)
		return;
	if (cnt > PT_BATCH)
		cnt = PT_BATCH;
	t->batch.cnt = cnt;
	size = __builtin_offsetof(struct pt_rec_spans, spans) + (__u64)cnt * sizeof(struct pt_span);
	rec_init(&t->batch.h, PT_REC_SPANS, size, 0);
	if (ring_output(&ring, &t->batch, size, BPF_RB_NO_WAKEUP))
		__sync_fetch_and_add(&ctl.lost_ring, cnt);
	t->batch.cnt = 0;
}

#endif
