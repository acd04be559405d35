// SPDX-License-Identifier: BSD-2-Clause
#include "capture/arming/probe_kind.h"
#include "bpf/ctl.h"
#include "capture/processes/follow.h"

/* ---- uprobes at a function's entry and its returns ---- */

static int attach_uprobes(struct session *s, enum probe_group group)
{
	const int err = probes__attach(&s->probes, group, s->target->pid);

	return err ? err : follow__attach(s, group);
}

static void detach_uprobes(struct session *s, enum probe_group group)
{
	probes__detach(&s->probes, group);
}

static double uprobes_ns(const struct probe_cost *cost, const struct pt_probe_stat *stat)
{
	return (double)(stat->hits + stat->spans) * (double)cost->cold_hit_ns;
}

static uint64_t decoded_hits(const struct session *s, uint64_t decoded)
{
	(void)s;
	return decoded;
}

static const struct probe_kind uprobes = {
	.name = "uprobes",
	.attach = attach_uprobes,
	.detach = detach_uprobes,
	.cost_ns = uprobes_ns,
	.hits = decoded_hits,
};

/* ---- a uprobe in the function that encloses an optimizer's step ---- */

/* A step may have begun before its probe is attached. */
static int attach_enclosing(struct session *s, enum probe_group group)
{
	s->probes.ctl->optimizer_under_way = 1;
	return attach_uprobes(s, group);
}

/* Hits both begin and end spans, so spans cost nothing extra. */
static double enclosing_ns(const struct probe_cost *cost, const struct pt_probe_stat *stat)
{
	return (double)stat->hits * (double)cost->cold_hit_ns;
}

/* Most hits may belong to other calls, which have no record. */
static uint64_t enclosing_hits(const struct session *s, uint64_t decoded)
{
	(void)decoded;
	return s->probes.ctl->enclosing_hits - s->before.enclosing_hits;
}

static const struct probe_kind enclosing = {
	.name = "enclosing function",
	.attach = attach_enclosing,
	.detach = detach_uprobes,
	.cost_ns = enclosing_ns,
	.hits = enclosing_hits,
};

/* ---- data breakpoints ---- */

/* A range may be a step. */
bool probe_kind__makes_steps(const struct session *s, int group)
{
	if (group != GROUP_WATCH)
		return false;
	for (size_t i = 0; i < s->plan.cnt; i++)
		if (s->plan.probes[i].group == GROUP_WATCH && s->plan.probes[i].row == s->rule.row)
			return true;
	return s->opts->step_range != NULL;
}

/* Breakpoints are attached thread by thread, and the reference count may change meanwhile. The
 * first write that a breakpoint sees does not show the old value. So we read the count after the
 * attach. */
static void read_count(struct session *s)
{
	struct pt_ctl *ctl = s->probes.ctl;
	const uint64_t refs_at = ctl->optimizer_step.refs_at;
	uint32_t refs = 0, unknown = 0;

	if (refs_at && !target__read(s->target, refs_at, &refs, sizeof(refs)))
		__atomic_compare_exchange_n(&ctl->optimizer_refs, &unknown, refs, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/* Only in the target: threads of other processes get no breakpoints. */
static int attach_breakpoints(struct session *s, enum probe_group group)
{
	int err;

	if (s->opts->timer_only && !probe_kind__makes_steps(s, group))
		return 0;
	s->probes.ctl->optimizer_refs = 0;
	s->probes.ctl->optimizer_under_way = 1;
	err = probes__watch(&s->probes);
	read_count(s);
	return err;
}

static void detach_breakpoints(struct session *s, enum probe_group group)
{
	(void)group;
	probes__unwatch(&s->probes);
}

static double breakpoints_ns(const struct probe_cost *cost, const struct pt_probe_stat *stat)
{
	return (double)(stat->hits + stat->spans) * (double)cost->watch_ns;
}

static const struct probe_kind breakpoints = {
	.name = "data breakpoints",
	.attach = attach_breakpoints,
	.detach = detach_breakpoints,
	.cost_ns = breakpoints_ns,
	.hits = decoded_hits,
};

const struct probe_kind *probe_kind__of(enum probe_group group)
{
	switch (group) {
	case GROUP_WATCH:
		return &breakpoints;
	case GROUP_ENCLOSING:
		return &enclosing;
	default:
		return &uprobes;
	}
}
