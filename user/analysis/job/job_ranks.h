/* SPDX-License-Identifier: BSD-2-Clause */
/* The ranks of a job, and the table of where each spends its steps. */
#ifndef PROFTRACE_JOB_RANKS_H
#define PROFTRACE_JOB_RANKS_H

#include "analysis/analysis.h"
#include "analysis/job/rank_times.h"
#include "common/counted.h"

/* How long a rank is in collectives, see job_waits.h. */
struct collective_waits {
	uint64_t steps; /* that the sums are of */
	uint64_t ns;
	double sq;	  /* of the steps' times the sum of squares, ns^2 */
	uint64_t step_ns; /* mean time of a step: of the host, or of the device if that is longer */
};

struct job {
	const struct report_opts *opts;
	size_t cnt;
	struct member {
		const char *path;
		struct recording *recording;
		uint64_t wall_offset_ns; /* from the host's own monotonic clock to the wall clock */
		struct rank_times times;
		struct collective_waits waits;
	} *members; /* by rank */
	/* How waits in collectives are measured. */
	enum waits_by {
		/* by the host's time in steps: the host waits for them */
		WAITS_IN_STEPS,
		/* the device is behind its host: those that end in a span that all ranks have */
		WAITS_SAME_ENDS,
		/* the same, but the ranks have no such span: those of all steps */
		WAITS_MEANS,
	} waits_by;
};

/* Mean time in collectives of a step. */
uint64_t member__collective_ns(const struct member *m);
/* Mean time of a part of a step; KIND_KERNEL: of the device's other work. */
uint64_t member__part_ns(const struct job *j, const struct member *m, enum span_kind part);

/* Its rank, or why it is not known. */
struct cell member__cell(const struct member *m);
struct cell member__process(const struct member *m);
struct counted member__name(const struct member *m); /* "rank 1" */
/* Do the ranks show the same time, if only in part? Those without a step are not asked. */
bool job__windows_meet(const struct job *j);
/* Of some rank device times end within the window. */
bool job__has_gap(const struct job *j);

/* 0 or -ENOMEM */
int job_ranks__fill(const struct job *j, struct table *t);

#endif
