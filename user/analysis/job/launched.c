// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/job/launched.h"
#include "common/util.h"
#include <stdlib.h>

static uint64_t inside(const struct step *step, uint64_t begin, uint64_t end)
{
	const uint64_t step_end = step->ts_ns + step->dur_ns;
	const uint64_t from = begin > step->ts_ns ? begin : step->ts_ns;
	const uint64_t to = end < step_end ? end : step_end;

	return from < to ? to - from : 0;
}

int launched__add(struct launched *l, const struct step *step, const struct event *kernel,
		  bool is_collective)
{
	const struct launched_collective c = {step->index, kernel->ts_ns,
					      kernel->ts_ns + kernel->dur_ns};

	if (!is_collective)
		return interval_union__add(&l->compute, c.begin_ns, c.end_ns);
	l->ns += kernel->dur_ns;
	l->outside_ns += kernel->dur_ns - inside(step, c.begin_ns, c.end_ns);
	return ARRAY_PUSH(l->collectives, l->cnt, l->cap, c);
}

static int by_step_and_begin(const void *a, const void *b)
{
	const struct launched_collective *x = a, *y = b;

	if (x->step != y->step)
		return x->step < y->step ? -1 : 1;
	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* Called in order of their begins. Adds the time by which the union grows. */
static void extend(struct step_collectives *s, const struct launched_collective *c)
{
	const uint64_t from = c->begin_ns > s->last_end_ns ? c->begin_ns : s->last_end_ns;

	if (c->end_ns > from) {
		s->ns += c->end_ns - from;
		s->last_end_ns = c->end_ns;
	}
	if (c->end_ns < s->first_end_ns)
		s->first_end_ns = c->end_ns;
}

int launched__end(struct launched *l)
{
	int err = 0;

	l->compute_ns = interval_union__length(&l->compute);
	if (l->cnt)
		qsort(l->collectives, l->cnt, sizeof(*l->collectives), by_step_and_begin);
	for (size_t i = 0; i < l->cnt && !err; i++) {
		const struct launched_collective *c = &l->collectives[i];
		const struct step_collectives new = {
			.step = c->step, .begin_ns = c->begin_ns, .first_end_ns = c->end_ns};

		if (!l->step_cnt || l->steps[l->step_cnt - 1].step != c->step)
			err = ARRAY_PUSH(l->steps, l->step_cnt, l->step_cap, new);
		if (!err)
			extend(&l->steps[l->step_cnt - 1], c);
	}
	return err;
}

void launched__free(struct launched *l)
{
	free(l->collectives);
	free(l->steps);
	interval_union__free(&l->compute);
	*l = (struct launched){};
}
