/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Counts each function's calls in measured steps: how often, how long, inside what. With these
 * counts the loader prunes probes, and estimates pruned functions. */
#ifndef PROFTRACE_SPAN_STATS_BPF_H
#define PROFTRACE_SPAN_STATS_BPF_H

#include "step.bpf.h"

static __always_inline struct pt_probe_stat *stat_of(__u32 row)
{
	return bpf_map_lookup_elem(&probe_stat, &row);
}

static __always_inline void stat_hit(__u32 row)
{
	struct pt_probe_stat *s = measuring() ? stat_of(row) : NULL;

	if (s)
		s->hits++;
}

/* Global functions: the verifier follows each once, not for each caller. The same holds for
 * questions about an open span in a loop, which it would follow for each possible span. */

static __always_inline bool holds_operators(const struct pt_open_span *f)
{
	const struct pt_probe_cfg *cfg;
	__u32 row;

	if (span_has_ended(f))
		return false;
	row = f->probe;
	cfg = bpf_map_lookup_elem(&probe_cfg, &row);
	return cfg && cfg->place & PT_HOLDS_OPERATORS;
}

__weak __noinline int operator_in_group(struct pt_thread *t, __u32 i)
{
	for (__u32 n = 0; t && n < PT_SPAN_GROUP && i + n < t->open_cnt; n++) {
		const struct pt_open_span *f = open_span_at(t, i + n);

		if (!f)
			break;
		if (holds_operators(f))
			return true;
	}
	return false;
}

/* Is an operator or backward node open that holds what it calls? */
__weak __noinline int in_operator(struct pt_thread *t)
{
#pragma nounroll
	for (__u32 i = 0; t && i < PT_MAX_OPEN_SPANS && i < t->open_cnt; i += PT_SPAN_GROUP)
		if (operator_in_group(t, i))
			return true;
	return false;
}

/* Subtracts the time for which the thread waited for a processor: it depends on the machine, not on
 * the function. */
static __always_inline __u64 without_waits(__u64 ns, __u64 waited_ns)
{
	return ns > waited_ns ? ns - waited_ns : 0;
}

/* If the probe of all nodes is attached, too: how much earlier it saw this node begin, before the
 * hooks of its tensors. */
static __always_inline __u64 begun_before(struct pt_thread *t, const struct pt_open_span *f,
					  const struct pt_probe_cfg *cfg)
{
	const struct pt_open_span *node = open_span_at(t, t->open_cnt - 1);

	if (f->kind != PT_KIND_NODE || !(cfg->flags & PT_NODE_OF_TYPE) || !node ||
	    node->kind != PT_KIND_NODE)
		return 0;
	return without_waits(f->ts_ns - node->ts_ns, f->cpu_wait_ns - node->cpu_wait_ns);
}

__weak __noinline int note_pass(__u64 begin_ns, __u64 end_ns)
{
	__u32 i = __sync_fetch_and_add(&ctl.ended.cnt, 1) & (PT_PASSES - 1);

	ctl.ended.passes[i].begin_ns = begin_ns;
	ctl.ended.passes[i].tid = current_tid();
	barrier(); /* the loader looks at the end first */
	ctl.ended.passes[i].end_ns = end_ns;
	return 0;
}

__weak __noinline int pass_in_group(struct pt_thread *t, __u32 i)
{
	for (__u32 n = 0; t && n < PT_SPAN_GROUP && i + n < t->open_cnt; n++) {
		const struct pt_open_span *f = open_span_at(t, i + n);

		if (!f)
			break;
		if (f->name_class == PT_CLASS_BACKWARD)
			return true;
	}
	return false;
}

static __always_inline bool in_own_pass(struct pt_thread *t)
{
#pragma nounroll
	for (__u32 i = 0; i < PT_MAX_OPEN_SPANS && i < t->open_cnt; i += PT_SPAN_GROUP)
		if (pass_in_group(t, i))
			return true;
	return false;
}

/* A node ends with its pass at the latest: the thread of a device has nothing to do until the next
 * one. As in passes.c. */
__weak __noinline __u64 node_end(__u64 begin_ns, __u64 end_ns)
{
	for (__u32 n = 1; n <= PT_PASSES_NEAR; n++) {
		const __u32 i = (ctl.ended.cnt - n) & (PT_PASSES - 1);
		const __u64 pass_end_ns = ctl.ended.passes[i].end_ns;

		if (begin_ns >= ctl.ended.passes[i].begin_ns && begin_ns < pass_end_ns &&
		    pass_end_ns < end_ns)
			end_ns = pass_end_ns;
	}
	return end_ns;
}

#define ENDS_NOW 0x80000000 /* flag for count_span only */

/* Counts a span, for estimates and for the decision whether it is worth a probe. i: the open span.
 * If it ended before now, the thread's wait until then is unknown. */
__weak __noinline int count_span(struct pt_thread *t, __u32 i, __u64 end_ns, __u32 flags, __u32 how)
{
	const struct pt_open_span *f = t && measuring() ? open_span_at(t, i) : NULL;
	const struct pt_probe_cfg *cfg;
	struct pt_probe_stat *s;
	__u32 row;
	__u64 ns;

	if (!f)
		return 0;
	row = f->probe;
	s = stat_of(row);
	cfg = bpf_map_lookup_elem(&probe_cfg, &row);
	if (!s || !cfg)
		return 0;
	ns = end_ns - f->ts_ns;
	if (f->kind == PT_KIND_NODE && how == PT_END_INFERRED && !(flags & PT_SPAN_IN_PASS))
		ns = node_end(f->ts_ns, end_ns) - f->ts_ns;
	if (flags & ENDS_NOW && ns == end_ns - f->ts_ns)
		ns = without_waits(ns, cpu_wait_ns() - f->cpu_wait_ns);
	s->spans++;
	if (f->sp < t->caller_sp)
		s->callers |= 1ull << (t->caller & 63);
	s->span_ns += ns;
	s->clipped_ns += ns < ctl.clip_ns ? ns : ctl.clip_ns;
	s->long_spans += ns > ctl.clip_ns;
	s->before_ns += begun_before(t, f, cfg);
	if (cfg->place & PT_MAY_BE_INNER && in_operator(t)) {
		s->inner++;
		s->inner_ns += ns;
	}
	return 0;
}

#endif
