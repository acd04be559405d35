// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/findings/rank_sum.h"
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include "common/util.h"

struct ranked {
	uint64_t value;
	bool from_a;
};

static int by_value(const void *x, const void *y)
{
	const struct ranked *p = x, *q = y;

	return (p->value > q->value) - (p->value < q->value);
}

/* Sum of the ranks of a, ties sharing their mean; *ties: sum of t^3 - t over the groups of ties. */
static double sum_ranks(const struct ranked *all, size_t cnt, double *ties)
{
	double sum = 0;

	*ties = 0;
	for (size_t i = 0, end; i < cnt; i = end) {
		double rank, t;

		for (end = i + 1; end < cnt && all[end].value == all[i].value; end++)
			;
		t = (double)(end - i);
		rank = (double)(i + 1 + end) / 2;
		*ties += t * t * t - t;
		for (size_t k = i; k < end; k++)
			sum += all[k].from_a ? rank : 0;
	}
	return sum;
}

double rank_sum__p(const uint64_t *a, size_t a_cnt, const uint64_t *b, size_t b_cnt)
{
	double m = (double)a_cnt, n = (double)b_cnt, total = m + n, ties, u, variance, distance;
	auto_free struct ranked *all = calloc(a_cnt + b_cnt + 1, sizeof(*all));

	if (!all || a_cnt < RANK_SUM_FEWEST || b_cnt < RANK_SUM_FEWEST)
		return -1;
	for (size_t i = 0; i < a_cnt; i++)
		all[i] = (struct ranked){a[i], true};
	for (size_t i = 0; i < b_cnt; i++)
		all[a_cnt + i] = (struct ranked){b[i], false};
	qsort(all, a_cnt + b_cnt, sizeof(*all), by_value);
	u = sum_ranks(all, a_cnt + b_cnt, &ties) - m * (m + 1) / 2;
	variance = m * n / 12 * (total + 1 - ties / (total * (total - 1)));
	if (variance <= 0) /* all are equal */
		return 1;
	distance = fabs(u - m * n / 2) - 0.5;
	return distance <= 0 ? 1 : erfc(distance / sqrt(variance) / sqrt(2));
}

static int by_p(const void *x, const void *y)
{
	const double *p = *(const double *const *)x, *q = *(const double *const *)y;

	return (*p > *q) - (*p < *q);
}

int holm__correct(double *p, size_t cnt)
{
	auto_free double **order = calloc(cnt + 1, sizeof(*order));
	size_t known = 0;
	double least = 0;

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++)
		if (p[i] >= 0)
			order[known++] = &p[i];
	qsort(order, known, sizeof(*order), by_p);
	for (size_t i = 0; i < known; i++) {
		double corrected = fmin(1, *order[i] * (double)(known - i));

		least = fmax(least, corrected);
		*order[i] = least;
	}
	return 0;
}
