// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/ready_time.h"
#include <stdlib.h>
#include "analysis/analysis.h"
#include "common/util.h"

static int by_step(const void *x, const void *y)
{
	const struct ready_time *p = x, *q = y;

	if (p->track != q->track)
		return p->track < q->track ? -1 : 1;
	return p->step < q->step ? -1 : p->step > q->step;
}

int ready_times__load(struct analysis *a)
{
	struct ready_times *r = &a->ready;
	const struct sched_row *rows;
	const size_t cnt = recording__sched(a->r, &rows);
	int err = 0;

	for (size_t i = 0; i < cnt && !err; i++) {
		const struct ready_time t = {rows[i].track, rows[i].step, rows[i].ns};

		if (rows[i].state == SCHED_RUNNABLE)
			err = ARRAY_PUSH(r->items, r->cnt, r->cap, t);
	}
	if (r->cnt)
		qsort(r->items, r->cnt, sizeof(*r->items), by_step);
	return err;
}

void ready_times__free(struct ready_times *r)
{
	free(r->items);
}

uint64_t ready_time__of(const struct analysis *a, const struct step *step)
{
	const struct ready_times *r = &a->ready;
	const struct ready_time key = {.track = step->track, .step = step->index};
	uint64_t ns = 0;

	/* There is one row for each reason. */
	for (size_t i = COUNT_FIRST(r->cnt, k, by_step(&r->items[k], &key) < 0);
	     i < r->cnt && !by_step(&r->items[i], &key); i++)
		ns += r->items[i].ns;
	return ns < step->cpu_ns ? ns : step->cpu_ns;
}

uint64_t ready_time__all(const struct analysis *a)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < a->ready.cnt; i++)
		if (a->ready.items[i].track == a->step_track &&
		    analysis__has_step(a, a->ready.items[i].step))
			ns += a->ready.items[i].ns;
	return ns;
}

uint64_t ready_time__off(const struct analysis *a, uint64_t ns)
{
	const uint64_t ready_ns = ready_time__all(a);

	return ns > ready_ns ? ns - ready_ns : 0;
}
