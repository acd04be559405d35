// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/findings/call_time.h"
#include "analysis/findings/finding.h"

static uint64_t at_most(uint64_t ns, uint64_t most_ns)
{
	return ns < most_ns ? ns : most_ns;
}

static int add(const struct analysis *a, struct call_sum *c, const struct span *s, uint64_t most_ns)
{
	const uint64_t begin = s->ev.ts_ns, end = begin + at_most(s->ev.dur_ns, most_ns);
	struct stretch part;
	int err = 0;

	c->sum_ns += at_most(s->cpu_ns, most_ns);
	for (size_t at = 0; !err && analysis__part(a, begin, end, &at, &part);)
		err = interval_union__add(&c->time, part.begin, part.end);
	return err;
}

int call_time__add(const struct analysis *a, struct call_time *t, const struct span *s)
{
	int err = add(a, &t->whole, s, UINT64_MAX);

	return err ? err : add(a, &t->capped, s, SHORT_CALL_NS);
}

static uint64_t total_ns(const struct analysis *a, struct call_sum *c)
{
	return at_most(finding__of_clock(a, interval_union__length(&c->time)), c->sum_ns);
}

uint64_t call_time__ns(const struct analysis *a, struct call_time *t)
{
	const uint64_t whole_ns = ready_time__off(a, total_ns(a, &t->whole));
	const uint64_t capped_ns = total_ns(a, &t->capped);

	return whole_ns > capped_ns ? whole_ns : capped_ns;
}

void call_time__free(struct call_time *t)
{
	interval_union__free(&t->whole.time);
	interval_union__free(&t->capped.time);
}
