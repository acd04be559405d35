// SPDX-License-Identifier: BSD-2-Clause
/* The other ranks of the job wait for one rank. straggler__find() finds it; this file says what to
 * do. */
#include "analysis/findings/findings.h"
#include "analysis/job/straggler_cause.h"
#include "common/counted.h"
#include <string.h>

/* The reason, as a phrase. */
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

static void describe_wait(const struct job *j, const struct straggler *s, char *text, size_t size)
{
	const struct table_style *style = &j->opts->style;
	const uint64_t own_ns = member__collective_ns(s->member);
	int len = snprintf(text, size, "%s is in collectives for %s of a step, the %s for %s",
			   member__name(s->member).s, time_text__of(style, own_ns).s,
			   j->cnt > 2 ? "others" : "other",
			   time_text__of(style, own_ns + s->wait_ns).s);

	if (s->phase == KIND_STEP)
		snprintf(text + len, size - (size_t)len, "; no phase of it explains that");
	else
		snprintf(text + len, size - (size_t)len, "; its %s takes %s, the others' %s",
			 reason_of(s), time_text__of(style, s->own_ns).s,
			 time_text__of(style, s->others_ns).s);
}

/* Can this rule's finding explain that the phase takes longer than on the other ranks? What all
 * ranks have in common, such as how the model is launched, cannot. Nor can something that the
 * thread does not do longer than the others. */
static bool explains(const struct finding_rule *rule, const struct straggler *s,
		     const struct straggler_cause *cause)
{
	if (rule == &finding_data_loader)
		return s->phase == KIND_DATALOADER;
	if (rule == &finding_outside_phases)
		return s->phase == KIND_OTHER;
	if (rule == &finding_cpu_wait)
		return !cause->own_ns || cause->is_ready;
	return rule == &finding_off_cpu || rule == &finding_page_faults;
}

/* The first finding in the straggler's own report is often the cause. */
static int describe_own(const struct job *j, const struct straggler *s,
			const struct straggler_cause *cause, struct finding *f)
{
	const size_t len = strlen(f->evidence);
	const struct finding_rule *rule;
	struct finding own;
	int says = findings__first(s->member->recording, j->opts, &own, &rule);

	if (says <= 0)
		return says;
	snprintf(f->evidence + len, sizeof(f->evidence) - len, "; its own report begins: %s",
		 own.what);
	if (explains(rule, s, cause))
		snprintf(f->next, sizeof(f->next), "%s", own.next);
	return 0;
}

static void describe_cause(const struct job *j, const struct straggler_cause *c, char *text,
			   size_t size)
{
	const struct table_style *style = &j->opts->style;
	const size_t len = strlen(text);
	const bool sleeps = straggler_cause__is_sleep(c), named = !sleeps && !c->is_ready;

	snprintf(text + len, size - len, "; its thread %s%s for %s of a step, the others' for %s",
		 sleeps	       ? "sleeps"
		 : c->is_ready ? "waits for a processor"
			       : "is blocked in ",
		 named ? c->reason : "", time_text__of(style, c->own_ns).s,
		 time_text__of(style, c->others_ns).s);
}

static int describe(const struct job *j, const struct straggler *s, struct finding *f)
{
	const bool is_explained = s->phase != KIND_STEP;
	struct straggler_cause cause = {0};
	int err;

	/* With few steps, waits that began in earlier steps may be counted. */
	f->cost_ns = s->wait_ns < s->step_ns ? s->wait_ns : s->step_ns;
	snprintf(f->what, sizeof(f->what), "The other %s %.0f %% of a step for %s%s%s.",
		 j->cnt > 2 ? "ranks wait" : "rank waits", straggler__percent(s),
		 member__name(s->member).s, is_explained ? ", because of its " : "",
		 is_explained ? reason_of(s) : "");
	describe_wait(j, s, f->evidence, sizeof(f->evidence));
	snprintf(f->next, sizeof(f->next), "%s", next_of(s));
	if (s->phase != KIND_KERNEL && straggler_cause__find(j, s, &cause))
		describe_cause(j, &cause, f->evidence, sizeof(f->evidence));
	err = describe_own(j, s, &cause, f);
	/* A loader without workers sleeps on purpose. */
	if (s->phase != KIND_DATALOADER && straggler_cause__is_sleep(&cause))
		snprintf(f->next, sizeof(f->next),
			 "a sleep, or a loop that asks and sleeps: look for time.sleep in the loop "
			 "of that rank and in what it calls");
	return err;
}

static int note_none(const struct straggler *s, struct table *t)
{
	if (!s->is_judged)
		return table__add_notef(t, "Not judged: straggler (%s).", s->why_none);
	return table__add_notef(t, "No rule found anything: %s.", s->why_none);
}

int finding_straggler__fill(const struct job *j, const struct straggler *s, struct table *t)
{
	struct finding f = {0};
	int err = findings_table__begin(t);

	if (err)
		return err;
	if (!s->member)
		return note_none(s, t);
	err = describe(j, s, &f);
	return err ? err : findings_table__add(t, &f, "straggler", s->step_ns);
}
