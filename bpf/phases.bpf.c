// SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause)
/* Phases: their begins and ends drive the step logic, in windows and outside. */
#include "names.bpf.h"
#include "optimizer_step.bpf.h"
#include "ranges.bpf.h"
#include "spans.bpf.h"

/* A function whose first argument says whether operators are recorded for a backward pass. A
 * forward region lasts from a call with 1 until a call with 0, or until the backward pass. */
SEC("uprobe")
int forward_switch(struct pt_regs *ctx)
{
	__u32 row = probe_row(ctx), on = (__u32)ctx->di;
	__u64 now = bpf_ktime_get_ns();
	struct pt_thread *t = thread_get();

	if (!t)
		return 0;
	spans_close_dead(t, ctx->sp);
	stat_hit(row);
	if (!on) {
		region_end(t, REGION_FORWARD, now);
		return 0;
	}
	optimizer_step_lost(t, now);
	if (region_find(t, REGION_FORWARD) < PT_MAX_OPEN_SPANS)
		return 0;
	/* The first forward pass may turn it off and on for each parameter that it initializes. */
	if (ctl.class_seen[PT_CLASS_BACKWARD])
		step_event(t, PT_CLASS_FORWARD, 0, now);
	region_begin(t, REGION_FORWARD, PT_CLASS_FORWARD, row);
	return 0;
}

/* A span of a step class (cfg.code). */
SEC("uprobe")
int phase_entry(struct pt_regs *ctx)
{
	__u32 row = probe_row(ctx);
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);
	__u64 now = bpf_ktime_get_ns();
	struct pt_thread *t = thread_get();
	struct pt_open_span *f;

	if (!cfg || !t)
		return 0;
	spans_close_dead(t, ctx->sp);
	stat_hit(row);
	t->ahead_ns = 0;
	if (cfg->code == PT_CLASS_BACKWARD) {
		region_end(t, REGION_FORWARD, now);
		ctl.optimizer_passes++;
	}
	if (cfg->code == PT_CLASS_OPTIMIZER_OP)
		optimizer_step_holds(t);
	else
		optimizer_step_lost(t, now);
	step_event(t, cfg->code, 0, now);
	f = static_push(t, ctx->sp, row);
	if (!f)
		return 0;
	f->name_class = cfg->code;
	if (cfg->code == PT_CLASS_DATALOADER && cfg->flags)
		f->object = arg_word(ctx, cfg->key_reg);
	return 0;
}

/* A call directly before a named phase. The phase begins here. */
SEC("uprobe")
int phase_ahead(struct pt_regs *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	struct pt_thread *t = thread_get();

	if (!t)
		return 0;
	spans_close_dead(t, ctx->sp);
	stat_hit(probe_row(ctx));
	t->ahead_ns = now;
	return 0;
}

/* When the optimizer's phase, which has an open span now, was requested. 0: not seen, probes were
 * changed since, or the enclosing span began later. */
static __always_inline __u64 asked_for(struct pt_thread *t, __u32 name_class)
{
	const struct pt_open_span *enclosing = open_span_at(t, t->open_cnt - 2);

	if (name_class != PT_CLASS_OPTIMIZER || t->ahead_ns <= ctl.changed_ns ||
	    (enclosing && enclosing->ts_ns > t->ahead_ns))
		return 0;
	return t->ahead_ns;
}

/* A phase whose name is in the target. A name rule gives its class, else cfg.code does. */
SEC("uprobe")
int named_phase_entry(struct pt_regs *ctx)
{
	__u32 row = probe_row(ctx), name_class, len;
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);
	__u64 now = bpf_ktime_get_ns(), ahead_ns;
	struct pt_thread *t = thread_get();
	struct pt_open_span *f;
	struct pt_name *name;

	if (!cfg || !t)
		return 0;
	spans_close_dead(t, ctx->sp);
	stat_hit(row);
	name = name_buffer(t);
	if (!name)
		return 0;
	len = read_string(name_address(ctx, cfg), cfg->name_source, name);
	name_class = name_classify(name);
	if (!name_class)
		name_class = cfg->code;
	step_event(t, name_class, 0, now);
	f = named_push(t, ctx->sp, row, len);
	if (f) {
		f->name_class = name_class;
		ahead_ns = asked_for(t, name_class);
		if (ahead_ns)
			f->ts_ns = ahead_ns;
	}
	t->ahead_ns = 0;
	return 0;
}

/* The framework traces a model from here on. */
SEC("uprobe")
int tracing_begins(struct pt_regs *ctx)
{
	stat_hit(probe_row(ctx));
	__sync_fetch_and_add(&ctl.traced, 1);
	return 0;
}

/* --step-probe: a function that runs once per step. If it is also an operator of --op, the call is
 * the step's first: cfg.code is its row, 0: it is none. */
SEC("uprobe")
int step_probe(struct pt_regs *ctx)
{
	__u32 row = probe_row(ctx);
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);
	struct pt_thread *t;

	stat_hit(row);
	step_event(thread_lookup(), PT_CLASS_STEP_PROBE, 0, bpf_ktime_get_ns());
	if (!cfg || !cfg->code || !(t = span_begin(ctx, cfg->code)))
		return 0;
	static_push(t, ctx->sp, cfg->code);
	return 0;
}
