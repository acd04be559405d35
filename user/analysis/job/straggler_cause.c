// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/job/straggler_cause.h"
#include "common/median.h"
#include "common/util.h"
#include <stdlib.h>
#include <string.h>

static const char *reason_of(const struct member *m, const struct sched_row *row)
{
	const struct name *n = row->reason ? recording__name(m->recording, row->reason) : NULL;

	return n ? n->text : "";
}

static bool is_of_steps(const struct member *m, const struct sched_row *row)
{
	return row->track == m->times.track && row->step >= m->times.first_step &&
	       row->step <= m->times.last_step;
}

/* Mean per step of the time in a state. reason NULL: for any reason. */
static uint64_t time_in(const struct member *m, uint8_t state, const char *reason)
{
	const struct sched_row *rows;
	const size_t cnt = recording__sched(m->recording, &rows);
	uint64_t ns = 0;

	for (size_t i = 0; i < cnt; i++)
		if (rows[i].state == state && is_of_steps(m, &rows[i]) &&
		    (!reason || !strcmp(reason_of(m, &rows[i]), reason)))
			ns += rows[i].ns;
	return rank_times__per_step(&m->times, ns);
}

static uint64_t median_of_others(const struct job *j, const struct member *one, uint8_t state,
				 const char *reason, uint64_t *values)
{
	size_t cnt = 0;

	for (size_t i = 0; i < j->cnt; i++)
		if (&j->members[i] != one)
			values[cnt++] = time_in(&j->members[i], state, reason);
	return median__of(values, cnt);
}

static void keep_longest(const struct job *j, const struct member *one, uint8_t state,
			 const char *reason, uint64_t *values, struct straggler_cause *best)
{
	const uint64_t own = time_in(one, state, reason);
	const uint64_t others = median_of_others(j, one, state, reason, values);
	const uint64_t most = best->own_ns - best->others_ns;

	if (own > others && own - others > most)
		*best = (struct straggler_cause){reason, state == SCHED_RUNNABLE, own, others};
}

/* A lock does not say what the thread waits for. Other threads of the process may do its work. */
static bool is_told(const char *reason)
{
	return *reason && strncmp(reason, "futex", 5);
}

bool straggler_cause__find(const struct job *j, const struct straggler *s,
			   struct straggler_cause *out)
{
	const struct sched_row *rows;
	const size_t cnt = recording__sched(s->member->recording, &rows);
	auto_free uint64_t *values = calloc(j->cnt, sizeof(*values));

	*out = (struct straggler_cause){0};
	for (size_t i = 0; values && i < cnt; i++) {
		const char *reason = reason_of(s->member, &rows[i]);

		if (rows[i].state == SCHED_BLOCKED && is_of_steps(s->member, &rows[i]) &&
		    is_told(reason) && !text__is(out->reason, reason))
			keep_longest(j, s->member, SCHED_BLOCKED, reason, values, out);
	}
	if (values && cnt)
		keep_longest(j, s->member, SCHED_RUNNABLE, NULL, values, out);
	if (out->own_ns && straggler__explains(s, out->own_ns, out->others_ns))
		return true;
	*out = (struct straggler_cause){0};
	return false;
}

bool straggler_cause__is_sleep(const struct straggler_cause *c)
{
	return c->reason && strstr(c->reason, "nanosleep");
}
