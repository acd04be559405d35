/* SPDX-License-Identifier: BSD-2-Clause */
/* The rank for which the other ranks of a job wait, and the phase in which it takes longer. */
#ifndef PROFTRACE_STRAGGLER_H
#define PROFTRACE_STRAGGLER_H

#include "analysis/job/job_ranks.h"

struct straggler {
	const struct member *member; /* NULL: none */
	char why_none[640];
	bool is_judged;		   /* the recordings have what is needed to name a straggler */
	uint64_t wait_ns, step_ns; /* means per step, of the other ranks */
	enum span_kind phase;	   /* KIND_STEP: no phase explains the wait; KIND_KERNEL: the
				      device does */
	uint64_t own_ns, others_ns;
};

/* 0 or -ENOMEM */
int straggler__find(const struct job *j, struct straggler *s);
int straggler__fill(const struct straggler *s, struct table *t);
/* "Forward", "GPU computation" */
const char *straggler__phase(const struct straggler *s);
/* Is own_ns so much longer than others_ns that it explains the wait? */
bool straggler__explains(const struct straggler *s, uint64_t own_ns, uint64_t others_ns);
/* The part of a step that the others wait. */
double straggler__percent(const struct straggler *s);

#endif
