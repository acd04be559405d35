// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/findings/call_time.h"
#include "analysis/findings/findings.h"

int call_time__add(const struct analysis *a, struct call_time *t, const struct span *s)
{
	struct stretch part;
	int err = 0;

	t->sum_ns += s->cpu_ns;
	for (size_t at = 0;
	     !err && analysis__part(a, s->ev.ts_ns, s->ev.ts_ns + s->ev.dur_ns, &at, &part);)
		err = interval_union__add(&t->time, part.begin, part.end);
	return err;
}

uint64_t call_time__ns(const struct analysis *a, struct call_time *t)
{
	const uint64_t ns = finding__of_clock(a, interval_union__length(&t->time));

	return ready_time__off(a, ns < t->sum_ns ? ns : t->sum_ns);
}

void call_time__free(struct call_time *t)
{
	interval_union__free(&t->time);
}
