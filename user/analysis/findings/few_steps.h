/* SPDX-License-Identifier: BSD-2-Clause */
/* Does most of a time lie in a few of the steps? Then its mean says nothing about the others.
 * Examples: an epoch's begin, an evaluation, a checkpoint. */
#ifndef PROFTRACE_FEW_STEPS_H
#define PROFTRACE_FEW_STEPS_H

#include "analysis/analysis.h"

struct few_steps {
	struct step_time {
		uint64_t step, ns;
	} *items;
	size_t cnt, cap;
};
/* 0 or -ENOMEM */
int few_steps__add(struct few_steps *f, uint64_t step, uint64_t ns);
/* Appends ", 70 % of that in 2 of 58 steps (longest 210.4 ms, step 45)". False: the time is spread
 * over more steps. Few means an eighth of the steps, or as many as there are known `causes` in the
 * window, but at most half. */
bool few_steps__describe(const struct analysis *a, const struct few_steps *f, size_t causes, char *text,
		     size_t size);
void few_steps__free(struct few_steps *f);

#endif
