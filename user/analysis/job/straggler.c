// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/job/straggler.h"
#include "analysis/step_parts.h"
#include "common/median.h"
#include "common/util.h"
#include <stdlib.h>

#define WORTH_WAITING 0.05 /* share of a step that the others wait for a straggler, at least */
#define EXPLAINS      0.25 /* share of their wait that a phase must take longer to be the reason */

static uint64_t time_of(const struct rank_times *t, enum span_kind phase)
{
	return rank_times__per_step(t, phase == KIND_KERNEL ? t->compute_ns : t->phase_ns[phase]);
}

/* Median of the ranks but one. */
static uint64_t median_of_others(const struct job *j, const struct member *one,
				 enum span_kind phase, uint64_t *values)
{
	size_t cnt = 0;

	for (size_t i = 0; i < j->cnt; i++)
		if (&j->members[i] != one)
			values[cnt++] = time_of(&j->members[i].times, phase);
	return median__of(values, cnt);
}

static int explain(const struct job *j, struct straggler *s)
{
	auto_free uint64_t *values = calloc(j->cnt, sizeof(*values));
	double most = EXPLAINS * (double)s->wait_ns;

	if (!values)
		return -ENOMEM;
	for (size_t i = 0; i <= STEP_PARTS; i++) {
		enum span_kind phase = i < STEP_PARTS ? step_parts[i].kind : KIND_KERNEL;
		uint64_t own = time_of(&s->member->times, phase);
		uint64_t others = median_of_others(j, s->member, phase, values);

		if ((double)own - (double)others <= most)
			continue;
		most = (double)own - (double)others;
		s->phase = phase;
		s->own_ns = own;
		s->others_ns = others;
	}
	return 0;
}

static uint64_t collectives_of(const struct member *m)
{
	return rank_times__per_step(&m->times, m->times.collective_ns);
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
		else if (!t->collective_ns)
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

/* Who comes last to the collectives spends the least time in them. */
int straggler__find(const struct job *j, struct straggler *s)
{
	const struct member *last = &j->members[0];
	uint64_t collectives = 0, steps = 0;

	*s = (struct straggler){.phase = KIND_STEP};
	if (j->cnt < 2) {
		s->why_none = "there is one rank only";
		return 0;
	}
	s->why_none = why_unknown(j);
	if (s->why_none)
		return 0;
	s->is_judged = true;
	for (size_t i = 0; i < j->cnt; i++) {
		const struct member *m = &j->members[i];

		if (collectives_of(m) < collectives_of(last))
			last = m;
		collectives += collectives_of(m);
		steps += rank_times__per_step(&m->times, m->times.step_ns);
	}
	s->wait_ns = (collectives - collectives_of(last)) / (j->cnt - 1) - collectives_of(last);
	s->step_ns = steps / j->cnt;
	if ((double)s->wait_ns < WORTH_WAITING * (double)s->step_ns) {
		s->why_none = "no rank makes the others wait for more than 5 % of a step";
		return 0;
	}
	s->member = last;
	return explain(j, s);
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
	return err ? err : table__add_row(t, 0, cells);
}
