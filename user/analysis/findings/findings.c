// SPDX-License-Identifier: BSD-2-Clause
/* What to look at first: at most five findings, by what a step may save. */
#include "analysis/findings/findings.h"
#include "analysis/left_out.h"
#include "analysis/losses.h"
#include <stdlib.h>
#include <string.h>
#include "common/counted.h"
#include "common/util.h"

#define MAX_SHOWN 5
/* share of a step: less is not worth a finding if the device is busy */
#define WORTH_SAVING 0.02
#define SHORT_STEPS  8	       /* a window of fewer steps is short, and so is ... */
#define SHORT_NS     100000000 /* ... a window of less time */

static const struct finding_rule *const rules[] = {
	&finding_data_loader,	 &finding_device_idle,	  &finding_launch_bound,
	&finding_gpu_bound,	 &finding_sync,		  &finding_small_copies,
	&finding_copy_bandwidth, &finding_exposed_copies, &finding_exposed_communication,
	&finding_device_alloc,	 &finding_cpu_wait,	  &finding_off_cpu,
	&finding_slow_steps,	 &finding_outside_phases, &finding_page_faults,
	&finding_memory_peak,	 &finding_memory_unused,
};

struct found {
	const struct finding_rule *rule;
	struct finding f;
	uint64_t weight_ns; /* for the order of the table */
};

struct findings {
	void *states[ARRAY_SIZE(rules)];
	struct found found[ARRAY_SIZE(rules)];
	size_t cnt;
};

static int make_states(struct findings *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		if (s->states[i] || !rules[i]->state_size)
			continue;
		s->states[i] = calloc(1, rules[i]->state_size);
		if (!s->states[i])
			return -ENOMEM;
	}
	return 0;
}

static int visit(const struct analysis *a, void *state, const struct batch *b)
{
	struct findings *s = state;

	if (make_states(s))
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		int err = 0;

		if (rules[i]->visit && b->step)
			err = rules[i]->visit(a, s->states[i], b);
		if (err)
			return err;
	}
	return 0;
}

static int visit_work(const struct analysis *a, void *state, const struct device_work *w)
{
	struct findings *s = state;
	int err = make_states(s);

	for (size_t i = 0; i < ARRAY_SIZE(rules) && !err && a->feed.batch; i++)
		if (rules[i]->visit_work)
			err = rules[i]->visit_work(a, s->states[i], w);
	return err;
}

/* Does another finding explain most of the same wait? */
static bool is_told(const struct findings *s, const struct found *found)
{
	for (size_t i = 0; i < s->cnt; i++) {
		const struct found *other = &s->found[i];

		if (found->f.cause && other->f.cause == found->f.cause &&
		    other->rule->wait_rank > found->rule->wait_rank &&
		    2 * other->f.cost_ns > found->f.cost_ns)
			return true;
	}
	return false;
}

static void leave_out_told(struct findings *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->cnt; i++)
		if (!is_told(s, &s->found[i]))
			s->found[kept++] = s->found[i];
	s->cnt = kept;
}

static int by_weight(const void *x, const void *y)
{
	const struct found *p = x, *q = y;

	return (p->weight_ns < q->weight_ns) - (p->weight_ns > q->weight_ns);
}

static void raise_pointed_at(struct findings *s)
{
	for (size_t i = 0; i < s->cnt; i++)
		for (size_t k = 0; k < s->cnt; k++)
			if (s->found[k].rule == s->found[i].f.see_first &&
			    s->found[k].weight_ns <= s->found[i].weight_ns)
				s->found[k].weight_ns = s->found[i].weight_ns + 1;
}

/* General findings lose the cost of their possible causes, so that causes come first. */
static void weigh(struct findings *s)
{
	uint64_t causes_ns = 0;

	for (size_t i = 0; i < s->cnt; i++)
		causes_ns += s->found[i].rule->is_general ? 0 : s->found[i].f.cost_ns;
	for (size_t i = 0; i < s->cnt; i++) {
		const uint64_t cost_ns = s->found[i].f.cost_ns;

		s->found[i].weight_ns = !s->found[i].rule->is_general ? cost_ns
					: cost_ns > causes_ns	      ? cost_ns - causes_ns
								      : 0;
	}
	raise_pointed_at(s);
}

static bool can_judge(const struct analysis *a, const struct finding_rule *rule)
{
	if (a->timer_only && !rule->timer)
		return false;
	return !rule->rests_on_device || !coverage__is_partial(a);
}

/* The busiest device's idle time per step. */
static uint64_t slack_ns(const struct analysis *a)
{
	uint64_t busy_ns, known_ns;
	const int device = gpu_wait__busiest(a, &busy_ns);

	if (device < 0 || coverage__is_partial(a))
		return UINT64_MAX;
	known_ns = analysis__clock_ns(a, device);
	return finding__per_step(a,
				 finding__of_clock(a, known_ns > busy_ns ? known_ns - busy_ns : 0));
}

/* Limits the cost to the device's idle time, as a step is never shorter than its device's work.
 * False: too little is left to report. */
static bool is_limited(const struct analysis *a, const struct finding_rule *rule, struct finding *f)
{
	const uint64_t most_ns = rule->of_host ? slack_ns(a) : UINT64_MAX;

	if (f->cost_ns <= most_ns)
		return true;
	f->cost_ns = most_ns;
	return (double)most_ns >= WORTH_SAVING * (double)finding__per_step(a, a->steps.cpu.total);
}

static int judge(const struct analysis *a, struct findings *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(rules) && a->steps.calls; i++) {
		struct found *found = &s->found[s->cnt];
		int says;

		if (!can_judge(a, rules[i]))
			continue;
		found->f = (struct finding){0};
		says = rules[i]->judge(a, s->states[i], &found->f);
		if (says < 0)
			return says;
		found->rule = rules[i];
		s->cnt += says > 0 && is_limited(a, rules[i], &found->f);
	}
	leave_out_told(s);
	weigh(s);
	qsort(s->found, s->cnt, sizeof(*s->found), by_weight);
	return 0;
}

int findings_table__begin(struct table *t)
{
	const struct column columns[] = {
		{.key = "finding", .title = "Finding", .type = CELL_TEXT},
		{.key = "evidence", .title = "evidence", .type = CELL_TEXT},
		{.key = "cost",
		 .title = "cost of a step, at most",
		 .type = CELL_TIME,
		 .aside = true,
		 .frame = "at most % of a step"},
		{.key = "share", .title = "of the step", .type = CELL_PERCENT, .aside = true},
		{.key = "next", .title = "next", .type = CELL_TEXT},
		{.key = "rule",
		 .title = "rule",
		 .type = CELL_TEXT,
		 .aside = true,
		 .frame = "rule: %"},
	};

	table__set_prose(t);
	return table__add_columns(t, columns, ARRAY_SIZE(columns));
}

int findings_table__add(struct table *t, const struct finding *f, const char *rule,
			uint64_t step_ns)
{
	const struct cell no_time = cell__none("it costs memory, not time");
	const struct cell cells[] = {
		cell__text(f->what),
		cell__text(f->evidence),
		f->cost_ns ? cell__time(f->cost_ns) : no_time,
		f->cost_ns ? cell__share(f->cost_ns, step_ns) : no_time,
		cell__text(f->next),
		cell__text(rule),
	};

	return table__add_row(t, 0, cells);
}

static bool has_nothing(const struct analysis *a)
{
	return !a->timer_only && !a->model.spans && !left_out__has_operators(a);
}

static const char *why_none(const struct analysis *a)
{
	if (!a->steps.calls && has_nothing(a))
		return "No step was recorded, and no operator: no function that has a probe was "
		       "called in the window. `--table sched` says what the threads did.";
	if (!a->steps.calls)
		return "No step was recorded: the rules are about steps.";
	if (coverage__is_partial(a))
		return "No rule of the host found anything; those that rest on the device's work "
		       "and calls do not judge.";
	if (a->timer_only)
		return "No rule that could judge found anything.";
	return "No rule found anything: no part of the steps stands out as waste.";
}

/* "Not judged: sync, cpu_wait, ...: ..." */
static int note_timer(const struct analysis *a, struct table *t)
{
	char names[512] = "";

	for (size_t i = 0, at = 0; i < ARRAY_SIZE(rules) && at < sizeof(names); i++)
		if (!can_judge(a, rules[i]))
			at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%s",
					       at ? ", " : "", rules[i]->key);
	return table__add_notef(t, "Not judged: %s. " TIMER_ONLY_HAS, names);
}

/* A short window may show chance. */
static int note_short(const struct analysis *a, struct table *t)
{
	const uint64_t ns = analysis__window_ns(a);

	if (!a->steps.calls || (a->steps.calls >= SHORT_STEPS && ns >= SHORT_NS))
		return 0;
	return table__add_notef(
		t,
		"The window is short, %s in %s: what it shows may be chance. Record "
		"%d steps and %d ms, or more.",
		counted(a->steps.calls, "step", "steps").s, time_text(a, ns).s, SHORT_STEPS,
		SHORT_NS / 1000000);
}

/* Scheduler times are at the end of a recording, so a cut file lacks them. */
static int note_cut(const struct analysis *a, const struct findings *s, struct table *t)
{
	const struct sched_row *rows;

	if (!s->cnt || recording__summary(a->r) || recording__sched(a->r, &rows))
		return 0;
	return table__add_note(t, "The file was cut off before the scheduler's times: waits for a "
				  "processor are unknown, and may be a part of what was found.");
}

static int fill(const struct analysis *a, void *state, struct table *t)
{
	struct findings *s = state;
	const char *why_unsure = losses__why_unsure(a);
	const uint64_t step_ns = finding__per_step(a, a->steps.cpu.total);
	int err = findings_table__begin(t);

	if (!err && why_unsure)
		return table__add_note(t, why_unsure);
	if (!err)
		err = judge(a, s);
	for (size_t i = 0; i < s->cnt && i < MAX_SHOWN && !err; i++)
		err = findings_table__add(t, &s->found[i].f, s->found[i].rule->key, step_ns);
	if (!err && !s->cnt)
		err = table__add_note(t, why_none(a));
	if (!err && a->timer_only && a->steps.calls)
		err = note_timer(a, t);
	if (!err)
		err = note_cut(a, s, t);
	if (!err)
		err = note_short(a, t);
	if (!err && s->cnt > MAX_SHOWN)
		err = table__add_notef(
			t, "%s not shown.",
			counted(s->cnt - MAX_SHOWN, "smaller finding is", "smaller findings are")
				.s);
	return err;
}

static void clean(void *state)
{
	struct findings *s = state;

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		if (s->states[i] && rules[i]->clean)
			rules[i]->clean(s->states[i]);
		free(s->states[i]);
	}
}

const struct table_impl table_findings = {
	.def = {"findings", "what to look at first: evidence, cost, next step", true},
	.title = "What to Look at First",
	.timer = true,
	.always = true,
	.rests_on_device = true,
	.state_size = sizeof(struct findings),
	.visit = visit,
	.visit_work = visit_work,
	.fill = fill,
	.clean = clean,
};

/* ---- of one of several recordings ---- */

struct reading {
	struct analysis a;
	struct findings findings;
};

static int visit_work_alone(const struct device_work *w, void *ctx)
{
	struct reading *rd = ctx;

	return visit_work(&rd->a, &rd->findings, w);
}

static int visit_alone(const struct batch *b, void *ctx)
{
	struct reading *rd = ctx;
	int err = analysis__visit(&rd->a, b);

	if (!err)
		err = device_feed__step(&rd->a, b, visit_work_alone, rd);
	return err ? err : visit(&rd->a, &rd->findings, b);
}

int findings__first(const struct recording *r, const struct report_opts *opts, struct finding *f,
		    const struct finding_rule **rule)
{
	struct reading rd = {};
	struct model_opts model = {.raw_times = opts->raw_times, .stats = &rd.a.model};
	int err = analysis__begin(&rd.a, r, opts);

	if (!err)
		err = model__run(r, &model, visit_alone, &rd);
	if (!err && !losses__why_unsure(&rd.a))
		err = judge(&rd.a, &rd.findings);
	if (!err && rd.findings.cnt) {
		*f = rd.findings.found[0].f;
		*rule = rd.findings.found[0].rule;
		err = 1;
	}
	clean(&rd.findings);
	analysis__end(&rd.a);
	return err;
}
