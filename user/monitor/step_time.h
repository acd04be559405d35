/* SPDX-License-Identifier: BSD-2-Clause */
/* The length of a step, from readings of a step counter. It is the median of the latest few: a
 * reading over an evaluation or a checkpoint says nothing about the next steps. */
#ifndef PROFTRACE_STEP_TIME_H
#define PROFTRACE_STEP_TIME_H

#include <stddef.h>
#include <stdint.h>

#define STEP_TIME_CENSUSES 5

struct step_time {
	uint64_t latest[STEP_TIME_CENSUSES]; /* ns of a step between two readings */
	size_t cnt;
	uint64_t steps, census_ns; /* at the latest reading; census_ns 0: none yet */
};

/* Adds a reading of the counter. Without a new step it waits for the next one. */
void step_time__count(struct step_time *t, uint64_t steps, uint64_t now_ns);
/* 0: unknown. */
uint64_t step_time__ns(const struct step_time *t);

#endif
