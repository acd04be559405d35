// SPDX-License-Identifier: BSD-2-Clause
/*
 * The windows of two ranks may begin some steps apart, and their clocks may differ by any time. So
 * each way to lay one rank's steps beside the other's is tried. In the right one the differences of
 * the ends are alike; in others the steps' own lengths scatter them.
 */
#include "analysis/job/clock_offset.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "common/median.h"
#include "common/util.h"

#define STEPS_MAX 1024 /* that are compared; the time grows with the square */
/* The right way must scatter so much less than any other. */
#define CLEARLY	      3
#define SCATTER_MIN   1000 /* ns; ends of collectives are no surer */
#define TOGETHER      0.9  /* least share of collectives that the offset must suit */
#define ERROR_SHARE   4	   /* an error of 1/4 step is no offset */
#define NAME_COMPARED 128
/* Times and clocks of a damaged file may be any number. */
#define TIME_MAX_NS  (UINT64_C(1) << 60)
#define AHEAD_MAX_NS (INT64_C(1) << 61)

/* ---- collectives ---- */

/* 0: ranks may leave it before others have come. */
static int kind_of(const char *name)
{
	static const char *const kinds[] = {"allreduce", "allgather", "reducescatter", "alltoall",
					    "barrier"};
	char plain[NAME_COMPARED];
	size_t len = 0;

	for (; *name && len + 1 < sizeof(plain); name++)
		if (*name != '_')
			plain[len++] = (char)tolower((unsigned char)*name);
	plain[len] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strstr(plain, kinds[i]))
			return (int)i + 1;
	return 0;
}

int collective_ends__add(struct collective_ends *e, uint64_t step, const char *name,
			 uint64_t begin_ns, uint64_t end_ns)
{
	const struct collective_end end = {step, begin_ns, end_ns, kind_of(name)};

	return end.kind && begin_ns <= end_ns && end_ns < TIME_MAX_NS
		       ? ARRAY_PUSH(e->items, e->cnt, e->cap, end)
		       : 0;
}

static int by_step_and_begin(const void *a, const void *b)
{
	const struct collective_end *x = a, *y = b;

	if (x->step != y->step)
		return x->step < y->step ? -1 : 1;
	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

void collective_ends__sort(struct collective_ends *e)
{
	if (e->cnt)
		qsort(e->items, e->cnt, sizeof(*e->items), by_step_and_begin);
}

void collective_ends__free(struct collective_ends *e)
{
	free(e->items);
	*e = (struct collective_ends){};
}

/* ---- steps side by side ---- */

struct step_ends {
	const struct collective_end *items;
	size_t cnt;
};

struct steps {
	struct step_ends items[STEPS_MAX];
	size_t cnt;
};

/* One way to lay the steps side by side: step i of a and step i + shift of b. */
struct way {
	ptrdiff_t shift;
	int64_t ns;	     /* median of the differences */
	uint64_t scatter_ns; /* median of their distances from it */
};

struct comparison {
	struct steps a, b;
	int64_t ahead_ns;
	size_t fewest;		     /* common steps that a way must have */
	uint64_t step_ns, uneven_ns; /* median of a's steps, and of their distances from it */
	struct way ways[2 * STEPS_MAX];
	size_t way_cnt;
	int64_t *differences;
	uint64_t *distances;
};

static void split(const struct collective_ends *e, struct steps *steps)
{
	for (size_t i = 0; i < e->cnt; i++) {
		if (i && e->items[i].step == e->items[i - 1].step) {
			steps->items[steps->cnt - 1].cnt++;
			continue;
		}
		if (steps->cnt == STEPS_MAX)
			return;
		steps->items[steps->cnt++] = (struct step_ends){&e->items[i], 1};
	}
}

static bool are_alike(const struct step_ends *a, const struct step_ends *b)
{
	if (a->cnt != b->cnt)
		return false;
	for (size_t i = 0; i < a->cnt; i++)
		if (a->items[i].kind != b->items[i].kind)
			return false;
	return true;
}

static int64_t difference(const struct comparison *c, uint64_t a_ns, uint64_t b_ns)
{
	return (int64_t)(b_ns - a_ns + (uint64_t)c->ahead_ns);
}

/* b's step beside step i of a; NULL: there is none. */
static const struct step_ends *beside(const struct comparison *c, size_t i, ptrdiff_t shift)
{
	const ptrdiff_t k = (ptrdiff_t)i + shift;

	return k >= 0 && k < (ptrdiff_t)c->b.cnt && are_alike(&c->a.items[i], &c->b.items[k])
		       ? &c->b.items[k]
		       : NULL;
}

/* Differences of the latest `most` collectives of each step. */
static size_t gather(const struct comparison *c, ptrdiff_t shift, size_t most)
{
	size_t cnt = 0;

	for (size_t i = 0; i < c->a.cnt; i++) {
		const struct step_ends *a = &c->a.items[i], *b = beside(c, i, shift);

		for (size_t k = a->cnt > most ? a->cnt - most : 0; b && k < a->cnt; k++)
			c->differences[cnt++] =
				difference(c, a->items[k].end_ns, b->items[k].end_ns);
	}
	return cnt;
}

static int by_value(const void *x, const void *y)
{
	const int64_t *p = x, *q = y;

	return (*p > *q) - (*p < *q);
}

/* The median of the differences; distances gets each one's distance from it. */
static int64_t centre(const struct comparison *c, size_t cnt)
{
	int64_t median;

	qsort(c->differences, cnt, sizeof(*c->differences), by_value);
	median = c->differences[cnt / 2];
	for (size_t i = 0; i < cnt; i++)
		c->distances[i] = (uint64_t)llabs(c->differences[i] - median);
	return median;
}

static void try_ways(struct comparison *c)
{
	for (ptrdiff_t shift = 1 - (ptrdiff_t)c->a.cnt; shift < (ptrdiff_t)c->b.cnt; shift++) {
		const size_t cnt = gather(c, shift, 1);
		struct way way = {.shift = shift};

		if (cnt < c->fewest)
			continue;
		way.ns = centre(c, cnt);
		way.scatter_ns = median__of(c->distances, cnt);
		c->ways[c->way_cnt++] = way;
	}
}

/* The steps' own lengths, by the latest collective of each. */
static void measure_steps(struct comparison *c)
{
	const size_t cnt = c->a.cnt - 1;

	for (size_t i = 0; i < cnt; i++) {
		const struct step_ends *s = &c->a.items[i];

		c->differences[i] =
			(int64_t)(s[1].items[s[1].cnt - 1].end_ns - s->items[s->cnt - 1].end_ns);
	}
	c->step_ns = (uint64_t)llabs(centre(c, cnt));
	c->uneven_ns = median__of(c->distances, cnt);
}

/* Of the ways that scatter nearly as little as the best, the one with the least offset. */
static const struct way *choose(const struct comparison *c, enum offset_result *result)
{
	const struct way *best = &c->ways[0], *least;
	uint64_t limit_ns;
	size_t cnt = 0;

	for (size_t i = 1; i < c->way_cnt; i++)
		if (c->ways[i].scatter_ns < best->scatter_ns)
			best = &c->ways[i];
	least = best;
	limit_ns = CLEARLY * (best->scatter_ns > SCATTER_MIN ? best->scatter_ns : SCATTER_MIN);
	for (size_t i = 0; i < c->way_cnt; i++) {
		const struct way *way = &c->ways[i];

		if (way->scatter_ns > limit_ns)
			continue;
		cnt++;
		if (llabs(way->ns) < llabs(least->ns))
			least = way;
	}
	if (cnt == 1 && limit_ns <= c->uneven_ns)
		*result = OFFSET_KNOWN;
	else /* Then the clocks count, if they are less than half a step apart. */
		*result = (uint64_t)llabs(least->ns) < c->step_ns / 2 ? OFFSET_OF_ALIKE_STEPS
								      : OFFSET_APART;
	return least;
}

/* ---- the offset ---- */

/* The share of collectives that no rank leaves before the other has come, by this offset. */
static double suited(const struct comparison *c, const struct way *way,
		     const struct clock_offset *o)
{
	const int64_t slack_ns =
		(int64_t)(way->scatter_ns < o->error_ns ? way->scatter_ns : o->error_ns);
	size_t cnt = 0;

	for (size_t i = 0; i < c->a.cnt; i++) {
		const struct step_ends *a = &c->a.items[i], *b = beside(c, i, way->shift);

		for (size_t k = 0; b && k < a->cnt; k++) {
			const struct collective_end *x = &a->items[k], *y = &b->items[k];
			const int64_t low = difference(c, x->end_ns, y->begin_ns),
				      high = difference(c, x->begin_ns, y->end_ns);

			cnt += low <= o->ns + slack_ns && high >= o->ns - slack_ns;
		}
	}
	return (double)cnt / (double)o->collectives;
}

static void measure(const struct comparison *c, struct clock_offset *out)
{
	const struct way *way = choose(c, &out->result);

	out->collectives = gather(c, way->shift, SIZE_MAX);
	out->ns = centre(c, out->collectives);
	median__of(c->distances, out->collectives); /* sorts */
	out->error_ns = c->distances[out->collectives * 9 / 10];
	if (out->error_ns > c->step_ns / ERROR_SHARE || suited(c, way, out) < TOGETHER)
		out->result = OFFSET_APART;
}

static int compare(struct comparison *c, const struct collective_ends *a,
		   const struct collective_ends *b, struct clock_offset *out)
{
	const size_t most = a->cnt + STEPS_MAX;

	split(a, &c->a);
	split(b, &c->b);
	c->fewest = (c->a.cnt < c->b.cnt ? c->a.cnt : c->b.cnt) / 2;
	c->fewest = c->fewest > OFFSET_STEPS ? c->fewest : OFFSET_STEPS;
	if (c->a.cnt < c->fewest || c->b.cnt < c->fewest || llabs(c->ahead_ns) > AHEAD_MAX_NS)
		return 0;
	c->differences = calloc(most, sizeof(*c->differences));
	c->distances = calloc(most, sizeof(*c->distances));
	if (!c->differences || !c->distances)
		return -ENOMEM;
	measure_steps(c);
	try_ways(c);
	if (c->way_cnt)
		measure(c, out);
	return 0;
}

int clock_offset__find(const struct collective_ends *a, const struct collective_ends *b,
		       int64_t ahead_ns, struct clock_offset *out)
{
	struct comparison *c = calloc(1, sizeof(*c));
	int err = c ? 0 : -ENOMEM;

	*out = (struct clock_offset){.result = OFFSET_FEW_STEPS};
	if (err)
		return err;
	c->ahead_ns = ahead_ns > -INT64_MAX ? ahead_ns : -INT64_MAX;
	err = compare(c, a, b, out);
	free(c->differences);
	free(c->distances);
	free(c);
	return err;
}

bool clock_offset__is_known(const struct clock_offset *o)
{
	return o->result == OFFSET_KNOWN || o->result == OFFSET_OF_ALIKE_STEPS;
}
