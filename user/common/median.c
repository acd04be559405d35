// SPDX-License-Identifier: BSD-2-Clause
#include "common/median.h"
#include <stdlib.h>

static int by_value(const void *x, const void *y)
{
	const uint64_t *p = x, *q = y;

	return (*p > *q) - (*p < *q);
}

uint64_t median__of(uint64_t *values, size_t cnt)
{
	uint64_t low, high;

	if (!cnt)
		return 0;
	qsort(values, cnt, sizeof(*values), by_value);
	low = values[(cnt - 1) / 2];
	high = values[cnt / 2];
	return low + (high - low) / 2;
}
