/* SPDX-License-Identifier: BSD-2-Clause */
/* How long a step takes, by censuses of a counter. It is the median of the latest few: one that
 * spans an evaluation or a checkpoint says nothing of the next steps. */
#ifndef PROFTRACE_STEP_TIME_H
#define PROFTRACE_STEP_TIME_H

#include <stddef.h>
#include <stdint.h>

#define STEP_TIME_CENSUSES 5

struct step_time {
	uint64_t latest[STEP_TIME_CENSUSES]; /* ns of a step between two censuses */
	size_t cnt;
	uint64_t steps, census_ns; /* at the latest census; census_ns 0: none yet */
};

/* So many steps were counted at that moment; one that has no new step waits for the next. */
void step_time__count(struct step_time *t, uint64_t steps, uint64_t now_ns);
/* 0: not known yet. */
uint64_t step_time__ns(const struct step_time *t);

#endif
