// SPDX-License-Identifier: BSD-2-Clause
/* The other ranks of the job wait for one. It is found by straggler__find(); here it is asked
 * whether that may be chance, and what to do. */
#include "analysis/findings/findings.h"
#include "analysis/job/straggler.h"
#include "common/counted.h"
#include <math.h>
#include <string.h>

#define FEWEST_STEPS 4
/* Standard errors that the wait must be long: of many ranks one is always last. */
#define SURE 3.0

static double variance_of(const struct rank_times *t)
{
	const double mean = (double)t->collective_ns / (double)t->steps;

	return fmax(0, t->collective_sq / (double)t->steps - mean * mean) / (double)(t->steps - 1);
}

/* Standard error of the wait. What keeps the others waiting does so in the same steps: their mean
 * is not surer than one of them. */
static double error_of(const struct job *j, const struct straggler *s)
{
	double own = variance_of(&s->member->times), all = 0;

	for (size_t i = 0; i < j->cnt; i++)
		all += variance_of(&j->members[i].times);
	return sqrt(own + (all - own) / (double)(j->cnt - 1));
}

static uint64_t fewest_steps(const struct job *j)
{
	uint64_t fewest = j->members[0].times.steps;

	for (size_t i = 1; i < j->cnt; i++)
		if (j->members[i].times.steps < fewest)
			fewest = j->members[i].times.steps;
	return fewest;
}

static bool may_be_chance(const struct job *j, const struct straggler *s)
{
	return fewest_steps(j) < FEWEST_STEPS || (double)s->wait_ns < SURE * error_of(j, s);
}

/* "rank 1" */
static struct counted name_of(const struct member *m)
{
	struct counted name;

	if (m->times.rank >= 0)
		snprintf(name.s, sizeof(name.s), "rank %d", m->times.rank);
	else
		snprintf(name.s, sizeof(name.s), "process %u", m->times.pid);
	return name;
}

static double percent_of(const struct straggler *s)
{
	return s->step_ns ? 100.0 * (double)s->wait_ns / (double)s->step_ns : 0;
}

/* As prose has it. */
static const char *reason_of(const struct straggler *s)
{
	return s->phase == KIND_OTHER ? "time outside the phases" : straggler__phase(s);
}

static const char *next_of(const struct straggler *s)
{
	switch (s->phase) {
	case KIND_DATALOADER:
		return "look at what feeds that rank: its loader's workers (num_workers) and how "
		       "busy they are, its storage, its share of the samples; `proftrace report` "
		       "of its recording alone says what the loader waits for";
	case KIND_FORWARD:
	case KIND_BACKWARD:
	case KIND_OPTIMIZATION:
	case KIND_KERNEL:
		return "uneven batches (lengths, shapes: --record-shapes), or a slower or "
		       "throttled "
		       "device or processor: compare its clocks, and see by `proftrace cpu` who "
		       "else runs there; processors of its own (taskset)";
	case KIND_OTHER:
		return "that rank does something alone between the phases: logging, an "
		       "evaluation, a checkpoint? Do it more rarely, beside the training, or on "
		       "all ranks; --with-stack shows the lines";
	default:
		return "all of that rank is a little slower: its processors (`proftrace cpu`, "
		       "taskset), its device's clocks, or its way to the others, as it only comes "
		       "later to the collectives";
	}
}

static void tell_wait(const struct job *j, const struct straggler *s, char *text, size_t size)
{
	const struct table_style *style = &j->opts->style;
	const struct rank_times *t = &s->member->times;
	const uint64_t own_ns = rank_times__per_step(t, t->collective_ns);
	int len = snprintf(text, size, "%s is in collectives for %s of a step, the %s for %s",
			   name_of(s->member).s, time_text__of(style, own_ns).s,
			   j->cnt > 2 ? "others" : "other",
			   time_text__of(style, own_ns + s->wait_ns).s);

	if (s->phase == KIND_STEP)
		snprintf(text + len, size - (size_t)len, "; no phase of it explains that");
	else
		snprintf(text + len, size - (size_t)len, "; its %s takes %s, the others' %s",
			 reason_of(s), time_text__of(style, s->own_ns).s,
			 time_text__of(style, s->others_ns).s);
}

/* Is what this rule finds a reason for that phase to take longer than on the other ranks? What the
 * ranks have in common, how the model is launched say, is none. */
static bool explains(const struct finding_rule *rule, const struct straggler *s)
{
	if (rule == &finding_data_loader)
		return s->phase == KIND_DATALOADER;
	if (rule == &finding_outside_phases)
		return s->phase == KIND_OTHER;
	return rule == &finding_cpu_wait || rule == &finding_off_cpu ||
	       rule == &finding_page_faults;
}

/* What the report of the straggler's recording begins with is often the cause. */
static int tell_own(const struct job *j, const struct straggler *s, struct finding *f)
{
	const size_t len = strlen(f->evidence);
	const struct finding_rule *rule;
	struct finding own;
	int says = findings__first(s->member->recording, j->opts, &own, &rule);

	if (says <= 0)
		return says;
	snprintf(f->evidence + len, sizeof(f->evidence) - len, "; its own report begins: %s",
		 own.what);
	if (explains(rule, s))
		snprintf(f->next, sizeof(f->next), "%s", own.next);
	return 0;
}

static int tell(const struct job *j, const struct straggler *s, struct finding *f)
{
	const bool is_explained = s->phase != KIND_STEP;

	f->cost_ns = s->wait_ns;
	snprintf(f->what, sizeof(f->what), "The other %s %.0f %% of a step for %s%s%s.",
		 j->cnt > 2 ? "ranks wait" : "rank waits", percent_of(s), name_of(s->member).s,
		 is_explained ? ", because of its " : "", is_explained ? reason_of(s) : "");
	tell_wait(j, s, f->evidence, sizeof(f->evidence));
	snprintf(f->next, sizeof(f->next), "%s", next_of(s));
	return tell_own(j, s, f);
}

static int note_none(const struct job *j, const struct straggler *s, struct table *t)
{
	if (!s->is_judged)
		return table__add_notef(t, "Not judged: straggler (%s).", s->why_none);
	if (!s->member)
		return table__add_notef(t, "No rule found anything: %s.", s->why_none);
	return table__add_notef(t,
				"No rule found anything: that the others wait %.0f %% of a step "
				"for %s may be chance in %s.",
				percent_of(s), name_of(s->member).s,
				counted(fewest_steps(j), "step", "steps").s);
}

int finding_straggler__fill(const struct job *j, const struct straggler *s, struct table *t)
{
	struct finding f = {0};
	int err = findings_table__begin(t);

	if (err)
		return err;
	if (!s->member || may_be_chance(j, s))
		return note_none(j, s, t);
	err = tell(j, s, &f);
	return err ? err : findings_table__add(t, &f, "straggler", s->step_ns);
}
