/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the thread of the steps did in some steps, in bounded memory. The sample has the slowest
 * steps, and others spread evenly over the recording.
 */
#ifndef PROFTRACE_STEP_SAMPLE_H
#define PROFTRACE_STEP_SAMPLE_H

#include "analysis/analysis.h"

#define SAMPLE_EVEN 256 /* at most; a longer recording keeps more than half as many */
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
	uint64_t seen, stride; /* stride - 1 steps are left out between two of `even` */
};
/* off_ns: time by name that is not its own and is left out. 0 or -ENOMEM */
int step_sample__add(struct step_sample *s, const struct batch *b, uint64_t off_ns);
/*
 * Which name has the largest surplus of own time in the slow steps over the others? Slow steps took
 * more than limit_ns. *share: its part (0..1) of the whole surplus of the slow steps over the
 * others' mean. *name is 0 if no name has a surplus. 0 or -ENOMEM.
 */
int step_sample__differs(const struct step_sample *s, uint64_t limit_ns, uint32_t *name,
			 double *share);
void step_sample__free(struct step_sample *s);

#endif
