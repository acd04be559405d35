// SPDX-License-Identifier: BSD-2-Clause
#include "device/clock_bounds.h"
#include <math.h>
#include <stdlib.h>

/* smaller errors are not corrected, because CUPTI's own times have them */
#define NOISE_NS   10000.0
#define BUCKET_NS  1e6
#define BROKEN_MIN 3	/* pairs; fewer may come from a wrongly matched launch */
#define SLOPE_MAX  1e-3 /* crystals differ by 100 ppm at most */
/* steps of the search for the slope, each of which keeps two thirds of the range */
#define SLOPE_LOOK 100

/* ---- hulls ---- */

static int by_time(const void *a, const void *b)
{
	const struct clock_point *x = a, *y = b;

	if (x->t_ns != y->t_ns)
		return x->t_ns < y->t_ns ? -1 : 1;
	return x->bound_ns < y->bound_ns ? -1 : x->bound_ns > y->bound_ns;
}

/* Is b above the line from a to c (sign 1), or below it (sign -1)? */
static bool is_outside(const struct clock_point *a, const struct clock_point *b,
		       const struct clock_point *c, int sign)
{
	const double turn = (b->t_ns - a->t_ns) * (c->bound_ns - a->bound_ns) -
			    (c->t_ns - a->t_ns) * (b->bound_ns - a->bound_ns);

	return sign * turn < 0;
}

static void keep_hull(struct clock_side *s, int sign)
{
	size_t cnt = 0;

	qsort(s->points, s->cnt, sizeof(*s->points), by_time);
	for (size_t i = 0; i < s->cnt; i++) {
		const struct clock_point p = s->points[i];

		while (cnt >= 2 && !is_outside(&s->points[cnt - 2], &s->points[cnt - 1], &p, sign))
			cnt--;
		s->points[cnt++] = p;
	}
	/* The hull has too many corners. Some bounds are dropped, but none is invented. */
	if (cnt > CLOCK_POINTS / 2) {
		const size_t all = cnt;

		cnt = 0;
		for (size_t i = 0; i < all; i += 2)
			s->points[cnt++] = s->points[i];
	}
	s->cnt = s->hull_cnt = cnt;
}

static void push(struct clock_side *s, int sign)
{
	if (!s->has_latest)
		return;
	s->points[s->cnt++] = s->latest;
	s->has_latest = false;
	if (s->cnt == CLOCK_POINTS)
		keep_hull(s, sign);
}

static void add(struct clock_side *s, int sign, double t_ns, double bound_ns)
{
	s->broken += sign * bound_ns > NOISE_NS;
	if (s->has_latest && floor(t_ns / BUCKET_NS) != floor(s->latest.t_ns / BUCKET_NS))
		push(s, sign);
	if (s->has_latest && sign * bound_ns <= sign * s->latest.bound_ns)
		return;
	s->latest = (struct clock_point){t_ns, bound_ns};
	s->has_latest = true;
}

static double difference(uint64_t to_ns, uint64_t from_ns)
{
	return (double)(int64_t)(to_ns - from_ns);
}

void clock_bounds__launched(struct clock_bounds *b, uint64_t device_ns, uint64_t host_ns)
{
	add(&b->least, 1, difference(device_ns, b->origin_ns), difference(host_ns, device_ns));
}

void clock_bounds__awaited(struct clock_bounds *b, uint64_t device_ns, uint64_t host_ns)
{
	add(&b->most, -1, difference(device_ns, b->origin_ns), difference(host_ns, device_ns));
}

/* ---- lines ---- */

/* Shifts between which all lines of the slope fit; low > high: none does. */
struct band {
	double low, high;
};

static struct band band_of(const struct clock_bounds *b, double slope)
{
	struct band band = {-INFINITY, INFINITY};

	for (size_t i = 0; i < b->least.cnt; i++)
		band.low = fmax(band.low,
				b->least.points[i].bound_ns - slope * b->least.points[i].t_ns);
	for (size_t i = 0; i < b->most.cnt; i++)
		band.high = fmin(band.high,
				 b->most.points[i].bound_ns - slope * b->most.points[i].t_ns);
	return band;
}

static double width_of(const struct clock_bounds *b, double slope)
{
	const struct band band = band_of(b, slope);

	return band.high - band.low;
}

/* The slope with the widest band. The width is a concave function of the slope. */
static double best_slope(const struct clock_bounds *b)
{
	double low = -SLOPE_MAX, high = SLOPE_MAX;

	for (int i = 0; i < SLOPE_LOOK; i++) {
		const double third = (high - low) / 3;

		if (width_of(b, low + third) < width_of(b, high - third))
			low += third;
		else
			high -= third;
	}
	return (low + high) / 2;
}

/* The smallest correction that the band allows, with some room for errors of the times. */
static double shift_in(struct band band)
{
	const double room = fmin(NOISE_NS, (band.high - band.low) / 2);

	if (band.low + room > 0)
		return band.low + room;
	return band.high - room < 0 ? band.high - room : 0;
}

struct clock_line clock_bounds__line(struct clock_bounds *b)
{
	struct clock_line line = {.below_ns = INFINITY, .above_ns = INFINITY};
	struct band band;

	push(&b->least, 1);
	push(&b->most, -1);
	if (b->least.broken < BROKEN_MIN && b->most.broken < BROKEN_MIN)
		return line;
	keep_hull(&b->least, 1);
	keep_hull(&b->most, -1);
	if (width_of(b, 0) < 0)
		line.slope = best_slope(b);
	band = band_of(b, line.slope);
	if (band.high - band.low < -NOISE_NS) {
		line.verdict = CLOCK_IS_WILD;
		line.wild_ns = (band.low - band.high) / 2;
		line.slope = 0;
		return line;
	}
	line.verdict = CLOCK_IS_OFF;
	line.shift_ns = line.slope != 0 || band.high < band.low ? (band.low + band.high) / 2
								: shift_in(band);
	line.below_ns = fmax(line.shift_ns - band.low, 0);
	line.above_ns = fmax(band.high - line.shift_ns, 0);
	return line;
}
