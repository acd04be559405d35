/* SPDX-License-Identifier: BSD-2-Clause */
/* The ranks of a job, and the table of where each spends its steps. */
#ifndef PROFTRACE_JOB_RANKS_H
#define PROFTRACE_JOB_RANKS_H

#include "analysis/analysis.h"
#include "analysis/job/rank_times.h"

struct job {
	const struct report_opts *opts;
	size_t cnt;
	struct member {
		const char *path;
		struct recording *recording;
		struct rank_times times;
	} *members; /* by rank */
};

/* Its rank, or why it is not known. */
struct cell member__cell(const struct member *m);
struct cell member__process(const struct member *m);
/* Do the ranks show the same time, if only in part? Those without a step are not asked. */
bool job__windows_meet(const struct job *j);
/* Of some rank device times end within the window. */
bool job__has_gap(const struct job *j);

/* 0 or -ENOMEM */
int job_ranks__fill(const struct job *j, struct table *t);

#endif
