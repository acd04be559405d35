/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the thread that makes the steps did in some of them, in bounded memory: the slowest ones, and
 * others spread evenly over the recording.
 */
#ifndef PROFTRACE_STEP_SAMPLE_H
#define PROFTRACE_STEP_SAMPLE_H

#include "analysis/analysis.h"

#define SAMPLE_EVEN 256 /* at most, and more than half as many of a longer recording */
#define SAMPLE_SLOW 64

struct step_sample {
	struct sampled_step {
		uint64_t cpu_ns;
		struct sampled_name {
			uint32_t name;
			uint64_t self_ns;
		} *names;
		size_t cnt;
	} even[SAMPLE_EVEN], slow[SAMPLE_SLOW];
	size_t even_cnt, slow_cnt;
	uint64_t seen, stride; /* stride - 1 steps are left out between two of even */
};
/* off_ns: what each name may have that is none of its own time. 0 or -ENOMEM */
int step_sample__add(struct step_sample *s, const struct batch *b, uint64_t off_ns);
/*
 * Which name has the largest surplus, in time of its own, of the slow steps over the others; slow:
 * those that took more than limit_ns. *share is its surplus as a part (0..1) of all the surplus of
 * the slow steps in the sample over the others' mean. *name is 0 if none has any. 0 or -ENOMEM.
 */
int step_sample__differs(const struct step_sample *s, uint64_t limit_ns, uint32_t *name,
			 double *share);
void step_sample__free(struct step_sample *s);

#endif
