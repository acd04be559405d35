/* SPDX-License-Identifier: BSD-2-Clause */
/* The ranks of a job, and the table of where each spends its steps. */
#ifndef PROFTRACE_JOB_RANKS_H
#define PROFTRACE_JOB_RANKS_H

#include "analysis/analysis.h"
#include "analysis/job/rank_times.h"
#include "common/counted.h"

/* How long a rank is in collectives; see job_waits.h. */
struct collective_waits {
	uint64_t steps; /* number of steps that the sums cover */
	uint64_t ns;
	double sq;	  /* sum of the squares of each step's time, ns^2 */
	uint64_t step_ns; /* mean time of a step, on the host or on the device: the longer one */
};

struct job {
	const struct report_opts *opts;
	size_t cnt;
	struct member {
		const char *path;
		struct recording *recording;
		uint64_t recorded_offset_ns; /* add it to the host's monotonic clock for the wall
						clock */
		uint64_t wall_offset_ns;     /* the same, for the first member's wall clock */
		/* Of the first member of another host: its clock against the first member's. */
		struct clock_offset clock;
		struct rank_times times;
		struct collective_waits waits;
	} *members; /* sorted by rank */
	/* How the waits in collectives are measured. */
	enum waits_by {
		/* by the host's time in steps, because the host waits for collectives */
		WAITS_IN_STEPS,
		/* the device is behind its host: counts collectives that end within a span that all
		 * ranks recorded */
		WAITS_SAME_ENDS,
		/* the device is behind, but no span is common: means of all steps */
		WAITS_MEANS,
	} waits_by;
};

/* Mean time per step in collectives. */
uint64_t member__collective_ns(const struct member *m);
/* Mean time per step of a part; KIND_KERNEL: of the device's other work. */
uint64_t member__part_ns(const struct job *j, const struct member *m, enum span_kind part);

/* A cell with its rank, or with the reason why the rank is unknown. */
struct cell member__cell(const struct member *m);
struct cell member__process(const struct member *m);
struct counted member__name(const struct member *m); /* "rank 1" */
/* Did the ranks record a common span of time? Ranks without steps do not count. */
bool job__windows_meet(const struct job *j);
/* Do some rank's device times end within the window? */
bool job__has_gap(const struct job *j);

/* 0 or -ENOMEM */
int job_ranks__fill(const struct job *j, struct table *t);

#endif
