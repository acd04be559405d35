// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/diff/holm.h"
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include "common/util.h"

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
