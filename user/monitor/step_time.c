// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/step_time.h"
#include <string.h>
#include "common/median.h"

void step_time__count(struct step_time *t, uint64_t steps, uint64_t now_ns)
{
	if (t->census_ns && steps <= t->steps)
		return;
	if (t->census_ns && now_ns > t->census_ns)
		t->latest[t->cnt++ % STEP_TIME_CENSUSES] =
			(now_ns - t->census_ns) / (steps - t->steps);
	t->steps = steps;
	t->census_ns = now_ns;
}

uint64_t step_time__ns(const struct step_time *t)
{
	const size_t cnt = t->cnt < STEP_TIME_CENSUSES ? t->cnt : STEP_TIME_CENSUSES;
	uint64_t sorted[STEP_TIME_CENSUSES];

	memcpy(sorted, t->latest, sizeof(sorted));
	return median__of(sorted, cnt);
}
