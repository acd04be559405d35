// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/job/job_waits.h"

/* share of collectives outside of their steps from which on the device is behind */
#define BEHIND	   0.02
#define SAME_STEPS 4 /* fewest steps that must lie in the common span */

struct range_ns {
	uint64_t begin, end; /* wall clock */
};

static bool is_within(const struct step_collectives *s, uint64_t offset, const struct range_ns *r)
{
	return s->first_end_ns + offset >= r->begin && s->last_end_ns + offset <= r->end;
}

static struct range_ns ends_of(const struct member *m)
{
	const struct launched *l = &m->times.launched;
	struct range_ns r = {UINT64_MAX, 0};

	for (size_t i = 0; i < l->step_cnt; i++) {
		if (l->steps[i].first_end_ns < r.begin)
			r.begin = l->steps[i].first_end_ns;
		if (l->steps[i].last_end_ns > r.end)
			r.end = l->steps[i].last_end_ns;
	}
	return (struct range_ns){r.begin + m->wall_offset_ns, r.end + m->wall_offset_ns};
}

/* All ranks end a collective at the same time. So within a common span of time they end the same
 * collectives. */
static struct range_ns common_ends(const struct job *j)
{
	struct range_ns common = {0, UINT64_MAX};

	for (size_t i = 0; i < j->cnt; i++) {
		const struct range_ns r = ends_of(&j->members[i]);

		common.begin = r.begin > common.begin ? r.begin : common.begin;
		common.end = r.end < common.end ? r.end : common.end;
	}
	return common;
}

static struct collective_waits waits_of(const struct member *m, const struct range_ns *range)
{
	const struct launched *l = &m->times.launched;
	struct collective_waits w = {.step_ns = rank_times__per_step(&m->times, m->times.step_ns)};
	uint64_t begin = UINT64_MAX, end = 0;

	for (size_t i = 0; i < l->step_cnt; i++) {
		const struct step_collectives *s = &l->steps[i];

		if (!is_within(s, m->wall_offset_ns, range))
			continue;
		w.steps++;
		w.ns += s->ns;
		w.sq += (double)s->ns * (double)s->ns;
		begin = s->begin_ns < begin ? s->begin_ns : begin;
		end = s->last_end_ns > end ? s->last_end_ns : end;
	}
	/* The host may launch steps faster than the device runs them, while its queue has room.
	 * Then the device's time of a step counts. */
	if (w.steps && (end - begin) / w.steps > w.step_ns)
		w.step_ns = (end - begin) / w.steps;
	return w;
}

static uint64_t fewest_steps(const struct job *j, const struct range_ns *range)
{
	uint64_t fewest = UINT64_MAX;

	for (size_t i = 0; i < j->cnt; i++) {
		const uint64_t steps = waits_of(&j->members[i], range).steps;

		fewest = steps < fewest ? steps : fewest;
	}
	return fewest;
}

static bool are_behind(const struct job *j)
{
	bool behind = false;

	for (size_t i = 0; i < j->cnt; i++) {
		const struct launched *l = &j->members[i].times.launched;

		if (!l->ns)
			return false;
		behind |= (double)l->outside_ns > BEHIND * (double)l->ns;
	}
	return behind;
}

static void measure_in_steps(struct member *m)
{
	const struct rank_times *t = &m->times;

	m->waits = (struct collective_waits){t->steps, t->collective_ns, t->collective_sq,
					     rank_times__per_step(t, t->step_ns)};
}

void job_waits__measure(struct job *j)
{
	const struct range_ns all = {0, UINT64_MAX};
	struct range_ns range = common_ends(j);

	j->waits_by = !are_behind(j)			     ? WAITS_IN_STEPS
		      : fewest_steps(j, &range) < SAME_STEPS ? WAITS_MEANS
							     : WAITS_SAME_ENDS;
	if (j->waits_by == WAITS_MEANS)
		range = all;
	for (size_t i = 0; i < j->cnt; i++) {
		if (j->waits_by == WAITS_IN_STEPS)
			measure_in_steps(&j->members[i]);
		else
			j->members[i].waits = waits_of(&j->members[i], &range);
	}
}
