// SPDX-License-Identifier: BSD-2-Clause
#include "common/duration_text.h"
#include <stdio.h>

#define MINUTE 60u
#define HOUR   3600u
#define DAY    86400u

struct duration_text duration_text(uint64_t seconds)
{
	const unsigned long long s = seconds;
	struct duration_text t;

	if (s < 2 * MINUTE)
		snprintf(t.s, sizeof(t.s), "%llu s", s);
	else if (s < HOUR)
		snprintf(t.s, sizeof(t.s), "%llu min %llu s", s / MINUTE, s % MINUTE);
	else if (s < DAY)
		snprintf(t.s, sizeof(t.s), "%llu h %llu min", s / HOUR, s % HOUR / MINUTE);
	else
		snprintf(t.s, sizeof(t.s), "%llu day%s %llu h", s / DAY, s < 2 * DAY ? "" : "s",
			 s % DAY / HOUR);
	return t;
}
