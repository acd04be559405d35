// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/findings/call_time.h"
#include "analysis/findings/findings.h"

int call_time__add_short(const struct analysis *a, struct call_time *t, const struct span *s,
			 uint64_t most_ns)
{
	const uint64_t dur_ns = s->ev.dur_ns < most_ns ? s->ev.dur_ns : most_ns;
	struct stretch part;
	int err = 0;

	t->sum_ns += s->cpu_ns < most_ns ? s->cpu_ns : most_ns;
	for (size_t at = 0;
	     !err && analysis__part(a, s->ev.ts_ns, s->ev.ts_ns + dur_ns, &at, &part);)
		err = interval_union__add(&t->time, part.begin, part.end);
	return err;
}

int call_time__add(const struct analysis *a, struct call_time *t, const struct span *s)
{
	return call_time__add_short(a, t, s, UINT64_MAX);
}

uint64_t call_time__short_ns(const struct analysis *a, struct call_time *t)
{
	const uint64_t ns = finding__of_clock(a, interval_union__length(&t->time));

	return ns < t->sum_ns ? ns : t->sum_ns;
}

uint64_t call_time__ns(const struct analysis *a, struct call_time *t)
{
	return ready_time__off(a, call_time__short_ns(a, t));
}

void call_time__free(struct call_time *t)
{
	interval_union__free(&t->time);
}
