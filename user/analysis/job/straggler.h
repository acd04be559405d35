/* SPDX-License-Identifier: BSD-2-Clause */
/* The rank of a job for which the others wait, and in which phase it takes longer. */
#ifndef PROFTRACE_STRAGGLER_H
#define PROFTRACE_STRAGGLER_H

#include "analysis/job/job_ranks.h"

struct straggler {
	const struct member *member; /* NULL: none */
	char why_none[640];
	bool is_judged;		   /* what is needed to name one was recorded */
	uint64_t wait_ns, step_ns; /* means of the others, per step */
	enum span_kind phase;	   /* KIND_STEP: no phase explains it; KIND_KERNEL: the device */
	uint64_t own_ns, others_ns;
};

/* 0 or -ENOMEM */
int straggler__find(const struct job *j, struct straggler *s);
int straggler__fill(const struct straggler *s, struct table *t);
/* "Forward", "GPU computation" */
const char *straggler__phase(const struct straggler *s);
/* Is so much more than the others take a reason for their wait? */
bool straggler__explains(const struct straggler *s, uint64_t own_ns, uint64_t others_ns);
/* How much of a step the others wait. */
double straggler__percent(const struct straggler *s);

#endif
