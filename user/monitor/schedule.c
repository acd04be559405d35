// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/schedule.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "monitor/event_loop.h"

#define LEAST_DUTY 1e-5

void schedule__init(struct schedule *s, double budget, double max_duty, uint64_t seed)
{
	*s = (struct schedule){.budget = budget, .duty = max_duty, .random = seed | 1};
}

static int by_size(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

_Static_assert(SCHEDULE_OVERHEADS <= SCHEDULE_COMPARED, "quantile() has place for either");

static double quantile(const double *values, size_t cnt, double share)
{
	double sorted[SCHEDULE_COMPARED];

	memcpy(sorted, values, cnt * sizeof(*sorted));
	qsort(sorted, cnt, sizeof(*sorted), by_size);
	return sorted[(size_t)((double)cnt * share)];
}

double schedule__growth(const struct schedule *s)
{
	if (s->growth_cnt < SCHEDULE_COMPARED)
		return 0;
	return fmax(quantile(s->growths, SCHEDULE_COMPARED, 0.25), 0);
}

static double overhead(const struct schedule *s)
{
	const size_t cnt =
		s->overhead_cnt < SCHEDULE_OVERHEADS ? s->overhead_cnt : SCHEDULE_OVERHEADS;
	const double estimated = cnt ? quantile(s->overheads, cnt, 0.5) : 0;

	return fmax(estimated, schedule__growth(s));
}

static void lower(struct schedule *s)
{
	const double cost = overhead(s), allowed = cost > 0 ? s->budget / cost : s->duty;

	if (allowed < s->duty)
		s->duty = allowed > LEAST_DUTY ? allowed : LEAST_DUTY;
}

void schedule__measured(struct schedule *s, double overhead)
{
	if (!isfinite(overhead) || overhead <= 0)
		return;
	s->overheads[s->overhead_cnt++ % SCHEDULE_OVERHEADS] = overhead;
	lower(s);
}

void schedule__set_budget(struct schedule *s, double budget, double max_duty)
{
	s->budget = budget;
	s->duty = max_duty;
	lower(s);
}

void schedule__compared(struct schedule *s, double inside_s, double outside_s)
{
	if (!(inside_s > 0) || !(outside_s > 0) || !isfinite(inside_s) || !isfinite(outside_s))
		return;
	s->growths[s->growth_cnt++ % SCHEDULE_COMPARED] = inside_s / outside_s - 1;
	lower(s);
}

/* A random number from 0 to 1 by xorshift64*, Vigna 2016. */
static double draw(struct schedule *s)
{
	s->random ^= s->random >> 12;
	s->random ^= s->random << 25;
	s->random ^= s->random >> 27;
	return (double)(s->random * 0x2545F4914F6CDD1Dull >> 11) / 0x1p53;
}

static double duty(const struct schedule *s)
{
	return s->duty < 1 ? s->duty : 1;
}

void schedule__used(struct schedule *s, uint64_t open_ns, uint64_t now_ns)
{
	const uint64_t from_ns = later(s->paid_ns, open_ns);

	s->paid_ns = from_ns + (uint64_t)((double)(now_ns - open_ns) / duty(s));
	if (s->paid_ns > s->stratum_end_ns)
		s->stratum_end_ns = s->paid_ns;
}

uint64_t schedule__next(struct schedule *s, uint64_t now_ns, uint64_t window_ns)
{
	const uint64_t begin_ns = later(s->stratum_end_ns, now_ns);
	const double stratum_ns = (double)window_ns / duty(s);

	s->stratum_end_ns = begin_ns + (uint64_t)stratum_ns;
	return begin_ns + (uint64_t)(draw(s) * (stratum_ns - (double)window_ns));
}

uint64_t schedule__next_of_all(struct schedule *const *all, size_t cnt, uint64_t now_ns,
			       uint64_t window_ns)
{
	uint64_t begin_ns = now_ns;
	double stratum_ns = 0;

	for (size_t i = 0; i < cnt; i++) {
		begin_ns = later(all[i]->paid_ns, begin_ns);
		stratum_ns = fmax(stratum_ns, (double)window_ns / duty(all[i]));
	}
	for (size_t i = 0; i < cnt; i++)
		all[i]->stratum_end_ns = begin_ns + (uint64_t)stratum_ns;
	return begin_ns + (uint64_t)(draw(all[0]) * (stratum_ns - (double)window_ns));
}
