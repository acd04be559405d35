// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/job/straggler.h"
#include "analysis/step_parts.h"
#include "common/median.h"
#include "common/util.h"
#include <math.h>
#include <stdlib.h>

#define WORTH_WAITING 0.05 /* least share of a step that the others wait for a straggler */
/* share of their wait by which a phase must be longer to be the reason */
#define EXPLAINS 0.25

#define FEWEST_STEPS 4
/* The wait must be so many standard errors long: one of many ranks is always last. */
#define SURE 3.0

double straggler__percent(const struct straggler *s)
{
	return s->step_ns ? 100.0 * (double)s->wait_ns / (double)s->step_ns : 0;
}

bool straggler__explains(const struct straggler *s, uint64_t own_ns, uint64_t others_ns)
{
	return (double)own_ns - (double)others_ns > EXPLAINS * (double)s->wait_ns;
}

static double variance_of(const struct collective_waits *w)
{
	const double mean = (double)w->ns / (double)w->steps;

	return fmax(0, w->sq / (double)w->steps - mean * mean) / (double)(w->steps - 1);
}

/* Standard error of the wait. A straggler delays all others in the same steps, so their mean is not
 * more certain than one of them. */
static double error_of(const struct job *j, const struct straggler *s)
{
	double own = variance_of(&s->member->waits), all = 0;

	for (size_t i = 0; i < j->cnt; i++)
		all += variance_of(&j->members[i].waits);
	return sqrt(own + (all - own) / (double)(j->cnt - 1));
}

static uint64_t fewest_steps(const struct job *j)
{
	uint64_t fewest = j->members[0].waits.steps;

	for (size_t i = 1; i < j->cnt; i++)
		if (j->members[i].waits.steps < fewest)
			fewest = j->members[i].waits.steps;
	return fewest;
}

static bool may_be_chance(const struct job *j, const struct straggler *s)
{
	return fewest_steps(j) < FEWEST_STEPS || (double)s->wait_ns < SURE * error_of(j, s);
}

/* Median over all ranks but this one. */
static uint64_t median_of_others(const struct job *j, const struct member *one,
				 enum span_kind phase, uint64_t *values)
{
	size_t cnt = 0;

	for (size_t i = 0; i < j->cnt; i++)
		if (&j->members[i] != one)
			values[cnt++] = member__part_ns(j, &j->members[i], phase);
	return median__of(values, cnt);
}

static int explain(const struct job *j, struct straggler *s)
{
	auto_free uint64_t *values = calloc(j->cnt, sizeof(*values));

	if (!values)
		return -ENOMEM;
	for (size_t i = 0; i <= STEP_PARTS; i++) {
		enum span_kind phase = i < STEP_PARTS ? step_parts[i].kind : KIND_KERNEL;
		uint64_t own = member__part_ns(j, s->member, phase);
		uint64_t others = median_of_others(j, s->member, phase, values);

		if (!straggler__explains(s, own, others) ||
		    own - others <= s->own_ns - s->others_ns)
			continue;
		s->phase = phase;
		s->own_ns = own;
		s->others_ns = others;
	}
	return 0;
}

static const char *why_unknown(const struct job *j)
{
	const char *why = NULL;

	for (size_t i = 0; i < j->cnt; i++) {
		const struct rank_times *t = &j->members[i].times;

		if (t->why_unsure)
			return "of a rank events are missing";
		if (!t->steps)
			why = "a rank has no step";
		else if (t->timer_only)
			why = "--timer-only does not record collectives, in which ranks wait for "
			      "each other";
		else if (t->asks && !t->waits)
			why = "the calls of a key-value store only ask MXNet's engine for the "
			      "exchange, so it is not known who waits for whom";
		else if (!j->members[i].waits.ns)
			why = "no collectives were seen, in which ranks wait for each other";
	}
	if (job__has_gap(j))
		why = "device times of a rank end within the window, and with them its "
		      "collectives";
	if (!job__windows_meet(j))
		why = "the windows of the ranks do not overlap, so it cannot be told who waited "
		      "for whom";
	return why;
}

/* Finds the rank that comes last to collectives: it spends the least time in them. Waits in several
 * streams may overlap, but nobody waits longer than a step. */
static void find_last(const struct job *j, struct straggler *s)
{
	const struct member *last = &j->members[0];
	uint64_t collectives = 0, steps = 0, last_ns;

	for (size_t i = 0; i < j->cnt; i++) {
		const struct member *m = &j->members[i];

		if (member__collective_ns(m) < member__collective_ns(last))
			last = m;
		collectives += member__collective_ns(m);
		steps += m->waits.step_ns;
	}
	last_ns = member__collective_ns(last);
	s->member = last;
	s->step_ns = steps / j->cnt;
	s->wait_ns = (collectives - last_ns) / (j->cnt - 1) - last_ns;
	s->wait_ns = s->wait_ns < s->step_ns ? s->wait_ns : s->step_ns;
}

static int name_none(struct straggler *s, const char *why)
{
	s->member = NULL;
	snprintf(s->why_none, sizeof(s->why_none), "%s", why);
	return 0;
}

static int name_chance(const struct job *j, struct straggler *s)
{
	snprintf(s->why_none, sizeof(s->why_none),
		 "that the others wait %.0f %% of a step for %s may be chance in %s",
		 straggler__percent(s), member__name(s->member).s,
		 counted(fewest_steps(j), "step", "steps").s);
	s->member = NULL;
	return 0;
}

int straggler__find(const struct job *j, struct straggler *s)
{
	const char *why = j->cnt < 2 ? "there is one rank only" : why_unknown(j);

	*s = (struct straggler){.phase = KIND_STEP};
	if (why)
		return name_none(s, why);
	s->is_judged = true;
	find_last(j, s);
	if ((double)s->wait_ns < WORTH_WAITING * (double)s->step_ns)
		return name_none(s, "no rank makes the others wait for more than 5 % of a step");
	return may_be_chance(j, s) ? name_chance(j, s) : explain(j, s);
}

const char *straggler__phase(const struct straggler *s)
{
	return s->phase == KIND_KERNEL	? "GPU computation"
	       : s->phase == KIND_OTHER ? "Others"
					: span_kind__label(s->phase);
}

int straggler__fill(const struct straggler *s, struct table *t)
{
	const char *none = "no straggler is named", *unknown = "none of its phases is longer";
	const struct column columns[] = {
		{"straggler", "straggler", 0, NULL, CELL_COUNT},
		{"pid", "its process", 0, NULL, CELL_COUNT},
		{"others_wait", "others wait per step", 0, NULL, CELL_TIME},
		{"of_step", "of a step", 0, NULL, CELL_PERCENT},
		{"phase", "because of", 0, NULL, CELL_TEXT},
		{"own", "its time per step", 0, NULL, CELL_TIME},
		{"median_of_others", "median of the others", 0, NULL, CELL_TIME},
	};
	bool why = s->member && s->phase != KIND_STEP;
	const char *reason = s->member ? unknown : none;
	struct cell cells[] = {
		s->member ? member__cell(s->member) : cell__none(s->why_none),
		s->member ? member__process(s->member) : cell__none(none),
		s->member ? cell__time(s->wait_ns) : cell__none(none),
		s->member ? cell__share(s->wait_ns, s->step_ns) : cell__none(none),
		why ? cell__text(straggler__phase(s)) : cell__none(reason),
		why ? cell__time(s->own_ns) : cell__none(reason),
		why ? cell__time(s->others_ns) : cell__none(reason),
	};
	int err = table__add_columns(t, columns, ARRAY_SIZE(columns));

	table__set_list(t);
	if (!err)
		err = table__set_json(t, "judged", json_boolean(s->is_judged));
	return err ? err : table__add_row(t, 0, cells);
}
