// SPDX-License-Identifier: BSD-2-Clause
/* Before the first window: what a step is, and which functions are worth a probe. */
#include "capture/arm.h"
#include "common/err.h"
#include "common/util.h"
#include <string.h>

#define MS 1000000ull

/* A period is found in the calls of a second, so it is shorter than that. */
#define PERIOD_PATIENCE_NS (5000 * MS)

/* ---- steps ---- */

static void rule_apply(struct session *s)
{
	struct pt_ctl *ctl = s->probes.ctl;

	ctl->step_row = s->rule.row;
	ctl->boundary_needs = s->rule.needs;
	ctl->boundary_at_end = s->rule.at_end;
	ctl->boundary_class = s->rule.boundary;
}

/* The operator that opens each step keeps its probe when the others of its group go. */
static int keep_attached(struct session *s, uint32_t row)
{
	enum probe_group group = GROUP_STEP;
	int err;

	for (size_t i = 0; i < s->plan.cnt; i++) {
		if (s->plan.probes[i].row != row)
			continue;
		group = s->plan.probes[i].group;
		s->plan.probes[i].group = GROUP_STEP;
	}
	err = arm__reattach(s, group);
	if (!err && group != GROUP_STEP)
		err = arm__reattach(s, GROUP_STEP);
	probes__forget_spans(&s->probes);
	return err;
}

/* A boxed operator is known by its whole name, if it is not longer than a rule can be. */
static int add_name_rule(struct session *s, const char *name)
{
	struct pt_name_rule *rule = &s->probes.ctl->name_rules[s->plan.name_rule_cnt];

	if (s->plan.name_rule_cnt == PT_MAX_NAME_RULES)
		return -ENOSPC;
	s->plan.name_rule_cnt++;
	rule->name_class = PT_CLASS_STEP_PROBE;
	memcpy(rule->prefix, name, strlen(name) + 1);
	rule->len = (uint32_t)strlen(name) + (strlen(name) + 1 < sizeof(rule->prefix));
	return 0;
}

static int period_rule(struct session *s, struct step_period period)
{
	const struct named_op *named = call_log__named(&s->log, period.op);
	int err = named ? add_name_rule(s, named->name) : 0;

	if (!period.op || err)
		return err;
	s->rule.row = named ? named->row : period.op;
	s->rule.boundary = PT_CLASS_STEP_PROBE;
	s->rule.source = "operator period";
	s->rule.explain = "no data loader, optimizer or backward pass was seen; each step opens at "
			  "the operator that opens each repetition of the same calls";
	s->probes.ctl->step_tid = period.tid;
	return keep_attached(s, s->rule.row);
}

static bool nothing_seen(const struct pt_ctl *ctl)
{
	for (int c = 1; c < PT_CLASS_CNT; c++)
		if (ctl->class_seen[c])
			return false;
	return true;
}

/* What the scheduler told in a window that is nobody's. */
static int forget_sched(struct session *s)
{
	const struct pt_ctl *ctl = s->probes.ctl;
	struct sched_totals totals = {0};
	int err = sched_source__drain(s->sched, ctl->window_open_ns, ctl->window_close_ns, NULL,
				      NULL, &totals);

	if (!err)
		sched_totals__free(&totals);
	return err;
}

/* Opens the window on nobody's file for a moment, to see operators in order. */
static int find_period(struct session *s)
{
	struct pt_ctl *ctl = s->probes.ctl;
	uint64_t until = clock__monotonic_ns() + 1000 * MS;
	int err = 0;

	if (!s->probes.attached[GROUP_OPERATOR] && !s->probes.attached[GROUP_INNER])
		return 0;
	s->log.pid = (uint32_t)s->target->pid;
	ctl->window_open_ns = clock__monotonic_ns();
	ctl->window_open = 1;
	while (!err && clock__monotonic_ns() < until && s->log.cnt < 20000)
		err = session__pump(s, 10);
	ctl->window_close_ns = clock__monotonic_ns();
	ctl->window_open = 0;
	if (!err)
		err = session__drain(s);
	if (!err)
		err = forget_sched(s);
	ctl->window_open_ns = 0;
	/* A job that has only begun to train meanwhile has better marks. */
	if (!err && nothing_seen(ctl))
		err = period_rule(s, steps__period(s->log.calls, s->log.cnt));
	call_log__free(&s->log);
	return err;
}

/* Operators that an import calls have a period too, and it is found if it takes longer than we
 * wait: until its steps were measured, a period is only a guess, refuted by a sign of the job's own
 * kind or by steps that do not come. */
static bool period_refuted(const struct session *s, uint64_t waiting_since_ns)
{
	if (s->rule.boundary != PT_CLASS_STEP_PROBE || s->opts->step_probe)
		return false;
	for (int c = 1; c < PT_CLASS_CNT; c++)
		if (c != PT_CLASS_STEP_PROBE && s->probes.ctl->class_seen[c])
			return true;
	return clock__monotonic_ns() - waiting_since_ns > PERIOD_PATIENCE_NS;
}

static void forget_period(struct session *s)
{
	struct pt_ctl *ctl = s->probes.ctl;

	log__debug("%s: no longer seen, or not the job's steps", s->rule.source);
	while (s->plan.name_rule_cnt &&
	       ctl->name_rules[s->plan.name_rule_cnt - 1].name_class == PT_CLASS_STEP_PROBE)
		ctl->name_rules[--s->plan.name_rule_cnt] = (struct pt_name_rule){0};
	s->rule = (struct step_rule){0};
	rule_apply(s);
	ctl->class_seen[PT_CLASS_STEP_PROBE] = 0;
	ctl->step_tid = 0;
}

static void note_first_event(struct session *s)
{
	if (!s->attach_begin_ns || nothing_seen(s->probes.ctl))
		return;
	log__debug("first event %.1f ms after the attach began",
		   (double)(clock__monotonic_ns() - s->attach_begin_ns) / 1e6);
	s->attach_begin_ns = 0;
}

int session__learn(struct session *s)
{
	struct pt_ctl *ctl = s->probes.ctl;
	struct step_evidence e = {
		.seen = ctl->class_seen,
		.user_range = s->opts->step_range,
		.user_probe = s->opts->step_probe,
	};
	uint64_t begin = clock__monotonic_ns(), period_tried = 0;
	int err = 0;

	while (!step_rule__decide(&e, &s->rule)) {
		session__progress(s, "waiting for a step (%.0f s)", (double)e.elapsed_ns / 1e9);
		note_first_event(s);
		err = session__pump(s, 5);
		if (err)
			return err;
		e.elapsed_ns = clock__monotonic_ns() - begin;
		if (e.elapsed_ns > s->opts->step_timeout_ns)
			return 0;
		if (nothing_seen(ctl) && e.elapsed_ns - period_tried > 2000 * MS) {
			err = find_period(s);
			if (err || s->rule.boundary)
				break;
			period_tried = clock__monotonic_ns() - begin;
		}
	}
	note_first_event(s);
	if (!err && s->rule.boundary)
		rule_apply(s);
	return err;
}

/* ---- pruning ---- */

enum {
	MEASURED_MIN = 2, /* steps */
	MEASURED_MAX = 32,
};
#define MEASURED_NS (50 * MS) /* short steps: as many as fill this */

/* -EAGAIN: the steps were not steps. */
static int wait_boundary(struct session *s, uint64_t seq)
{
	const struct pt_ctl *ctl = s->probes.ctl;
	uint64_t seen = ctl->step_seq, since = clock__monotonic_ns();
	int err = 0;

	while (!err && ctl->step_seq < seq) {
		session__progress(s, "measuring a step");
		err = session__pump(s, 1);
		if (ctl->step_seq != seen)
			since = clock__monotonic_ns();
		seen = ctl->step_seq;
		if (!err && period_refuted(s, since)) {
			forget_period(s);
			err = -EAGAIN;
		}
		if (!err && clock__monotonic_ns() - since > s->opts->step_timeout_ns)
			err = err__set(-ETIMEDOUT,
				       "no step was seen in %.0f s by %s: wait longer with "
				       "--step-timeout, or record by time with --duration 5s",
				       (double)s->opts->step_timeout_ns / 1e9, s->rule.source);
	}
	return err;
}

/* Mean length of the latest `cnt` steps. */
static uint64_t step_length(const struct session *s, uint64_t cnt)
{
	const struct pt_ctl *ctl = s->probes.ctl;
	uint64_t seq = ctl->step_seq;

	return (ctl->step_ns[seq % PT_STEP_RING] - ctl->step_ns[(seq - cnt) % PT_STEP_RING]) / cnt;
}

/* Keeps statistics of some whole steps; their number goes to *steps. The first step after attach
 * pays for page faults and is not measured. */
static int measure_steps(struct session *s, uint64_t *steps)
{
	struct pt_ctl *ctl = s->probes.ctl;
	uint64_t from = ctl->step_seq + 2, begin, done = 0;
	int err;

	ctl->measure_from = from;
	ctl->measure_to = UINT64_MAX;
	err = wait_boundary(s, from);
	begin = clock__monotonic_ns();
	while (!err && done < MEASURED_MAX &&
	       (done < MEASURED_MIN || clock__monotonic_ns() - begin < MEASURED_NS)) {
		err = wait_boundary(s, from + done + 1);
		done = ctl->step_seq - from;
	}
	if (err)
		return err;
	/* The step that has begun counts whole. */
	ctl->measure_to = ctl->step_seq + 1;
	*steps = ctl->measure_to - from;
	err = wait_boundary(s, ctl->measure_to);
	s->step_ns = step_length(s, *steps < PT_STEP_RING ? *steps : PT_STEP_RING - 1);
	return err;
}

/* What a row is called when it is left out; NULL: it cannot be, having names of many kinds. */
static const char *left_out_name(const struct planned_probe *probe)
{
	return probe->name			      ? probe->name
	       : probe->category == CAT_BACKWARD_NODE ? "backward nodes, all together"
						      : NULL;
}

/* What gives the device work is what the user wants to see. */
static bool must_stay(const struct planned_probe *probe)
{
	const uint8_t class = probe->cfg.call.call_class;

	if (probe->chosen)
		return true;
	return probe->group == GROUP_DEVICE
		       ? class == PT_CALL_LAUNCH || class == PT_CALL_COPY || class == PT_CALL_SET
		       : !left_out_name(probe);
}

/* A call of the runtime is one of the driver within it, whose probes are hit, too. A return probe
 * traps at the entry as well. */
static uint32_t hits_of(const struct planned_probe *probe)
{
	const uint32_t hits = probe->return_program ? 2 : 1;

	return probe->category == CAT_RUNTIME ? 2 * hits : hits;
}

/* A span may begin and end by probes of several functions; of the instructions that may be its last
 * one is. */
static void add_hits(struct prune_input *in, const struct planned_probe *probe, bool is_first)
{
	if (is_first || !probe->program)
		in->hits += hits_of(probe);
	else
		in->hits = in->hits > 1 ? in->hits : 2;
}

static size_t gather(const struct session *s, struct prune_input *in)
{
	auto_free size_t *at = calloc(s->plan.row_cnt + 1, sizeof(*at));
	size_t cnt = 0;

	for (size_t i = 0; at && i < s->plan.cnt; i++) {
		const struct planned_probe *probe = &s->plan.probes[i];
		bool is_first = !at[probe->row];

		if (probe->group != GROUP_OPERATOR && probe->group != GROUP_DEVICE)
			continue;
		if (is_first) {
			in[cnt] =
				(struct prune_input){.row = probe->row, .stays = must_stay(probe)};
			probes__stat(&s->probes, probe->row, &in[cnt++].stat);
			at[probe->row] = cnt;
		}
		add_hits(&in[at[probe->row] - 1], probe, is_first);
	}
	return cnt;
}

/* What the runtime's function calls in the driver would be told in its place: cuEventRecord for
 * cudaEventRecord. */
static void drop_twins(struct session *s)
{
	for (size_t i = 0; i < s->plan.cnt; i++) {
		const struct planned_probe *runtime = &s->plan.probes[i];

		if (runtime->category != CAT_RUNTIME || !s->dropped[runtime->row])
			continue;
		for (size_t j = 0; j < s->plan.cnt; j++) {
			const struct planned_probe *driver = &s->plan.probes[j];

			if (driver->category == CAT_DRIVER &&
			    !strcmp(driver->name + strlen("cu"), runtime->name + strlen("cuda")))
				s->dropped[driver->row] = true;
		}
	}
}

static int note_drops(struct session *s, const struct prune_input *in, size_t cnt, double steps)
{
	for (size_t i = 0; i < cnt; i++) {
		struct dropped_probe drop;
		int err;

		if (!s->dropped[in[i].row] || !in[i].stat.spans)
			continue;
		for (size_t j = 0; j < s->plan.cnt; j++)
			if (s->plan.probes[j].row == in[i].row)
				drop.name = left_out_name(&s->plan.probes[j]);
		drop.steps = (uint64_t)steps;
		drop.per_step = (double)in[i].stat.spans / steps;
		drop.avg_ns = (double)in[i].stat.span_ns / (double)in[i].stat.spans -
			      (double)s->facts.cost.span_inside_ns;
		if (drop.avg_ns < 0)
			drop.avg_ns = 0;
		err = ARRAY_PUSH(s->drops, s->drop_cnt, s->drop_cap, drop);
		if (err)
			return err;
	}
	return 0;
}

int session__prune(struct session *s)
{
	auto_free struct prune_input *in = calloc(s->plan.cnt + 1, sizeof(*in));
	struct prune_policy policy = {
		.max_overhead = s->opts->max_overhead,
		.hit_ns = s->facts.cost.cold_hit_ns,
		.inside_ns = s->facts.cost.span_inside_ns,
	};
	uint64_t steps;
	size_t cnt;
	int err;

	if (!in)
		return -ENOMEM;
	s->probes.ctl->clip_ns = prune__clip_ns(&policy);
	err = measure_steps(s, &steps);
	if (err || s->opts->keep_all || s->opts->detail != DETAIL_OPERATOR)
		return err;
	policy.steps = (double)steps;
	policy.step_ns = s->step_ns;
	cnt = gather(s, in);
	if (!prune__choose(&policy, in, cnt, s->dropped))
		return 0;
	err = note_drops(s, in, cnt, policy.steps);
	drop_twins(s);
	if (!err)
		err = arm__reattach(s, GROUP_OPERATOR);
	if (!err && s->calls_on)
		err = arm__reattach(s, GROUP_DEVICE);
	return err;
}
