/* SPDX-License-Identifier: BSD-2-Clause */
/* Figures of all watched ranks, and of ranks that ended a few minutes ago. */
#ifndef PROFTRACE_JOB_SERIES_H
#define PROFTRACE_JOB_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "monitor/cusum.h"
#include "monitor/figures.h"
#include "monitor/job_figures.h"
#include "monitor/messages.h"

#define SERIES_BUCKETS	 24 /* buckets of step times, log-spaced from 1 ms to 100 s; one more is
			       above */
/* Buckets for OTLP: bucket i is above 2^((SERIES_FINE_FIRST + i) / 2^SERIES_FINE_SCALE) seconds, up
 * to the next one's limit. They reach from 1 us to 4 hours, each 9 % wide. The first and last
 * contain everything beyond. */
#define SERIES_FINE_SCALE 3
#define SERIES_FINE_FIRST (-160)
#define SERIES_FINE	  272
#define SERIES_PHASES	 12
#define SERIES_OPERATORS 20 /* operators with a series of their own */
#define SERIES_OTHER	 "other"
#define SERIES_FINDINGS	 16
#define SERIES_PAST	 32 /* latest windows whose recording and step time are shown */
#define SERIES_KEEP_NS	 (300 * 1000000000ull) /* for so long after its end a rank is exported */

struct past_window {
	char file[RECORDING_NAME];
	double median_s, at_s; /* median_s: of a step; at_s: when it was read, since 1970 */
};

/* Of the latest window of all ranks of the job. */
struct joint_figures {
	uint32_t id; /* of the latest that it took part in, 0: none */
	char file[RECORDING_NAME], read_file[RECORDING_NAME]; /* its recording of that; of the latest that was read */
	bool is_judged;
	double wait_ratio; /* share of a step that the other ranks wait for this one, 0: it is not named */
	char phase[32];
};

struct rank_series {
	struct rank_info info; /* of the latest session */
	char rank[16];	       /* the label: its number, or u0, u1, ... */
	enum watch_state state;
	uint64_t ended_ns; /* 0: it is watched */
	bool lives;	   /* only the session has ended, so the series is kept */
	char framework[32], version[32], detail[16], step_rule[64], file[RECORDING_NAME];
	uint64_t steps, steps_before; /* of this session; of earlier sessions */
	double watched_s, watched_before_s, duty;
	double cpus; /* negative: unknown */
	double learn_s, learn_before_s, unread_s, unread_before_s;
	double open_s;	/* time of windows with unknown cost */
	double spent_s; /* estimated cost of the other windows */
	uint64_t buckets[SERIES_BUCKETS + 1], fine_buckets[SERIES_FINE];
	uint64_t begun_ns; /* since 1970: when its counters were 0 */
	double sampled_s;
	uint64_t sampled_cnt, window_cnt;
	double median_s; /* of the latest window */
	double overhead; /* of the latest window with a known cost, at most 1; 0: none */
	struct named_figure phases[SERIES_PHASES], operators[SERIES_OPERATORS],
		findings[SERIES_FINDINGS];
	size_t phase_cnt, operator_cnt, finding_cnt;
	double other_s; /* operators without a series of their own */
	struct past_window past[SERIES_PAST]; /* sorted, the oldest first */
	size_t past_cnt;
	struct joint_figures joint;
	struct cusum cusum;
	uint64_t cusum_resets; /* because of another rule of steps, or another process */
};

struct job_series {
	struct rank_series **items;
	size_t cnt, cap;
	size_t series_cnt, series_max;
	uint64_t dropped; /* number of series that were not made */
	struct monitor_counts counts;
	uint64_t heard_ns; /* when the parent was last heard */
};

/* The upper limit of a bucket in seconds. */
double job_series__bucket(size_t index);

/* Continues the series of an ended rank of the same job, user, container and number. For another
 * process the baseline begins anew. NULL: out of memory, or no series is free. */
struct rank_series *job_series__begin(struct job_series *s, const struct rank_info *info);
struct rank_series *job_series__find(struct job_series *s, uint32_t id);
/* The process's watched series, else its latest one. NULL: there is none. */
const struct rank_series *job_series__of_pid(const struct job_series *s, int pid);
void job_series__set_state(struct job_series *s, const struct rank_state *state);
/* Adds a window's cost. overhead 0: unknown. */
void job_series__spend(struct rank_series *r, double overhead, double seconds);
/* Estimated share of the watched time that probes took. Windows without a cost, and the time until
 * the session was ready, count like the latest window with a cost. False: no window has one. */
bool job_series__overhead(const struct rank_series *r, double *ratio);
/* True: an alarm about the step time was raised or cleared. */
bool job_series__add_window(struct job_series *s, struct rank_series *r, const struct figures *f,
			    const struct window_ready *window);
/* Of the report of a window of all ranks. `change` is told of a rank that is the straggler now, or no longer. */
void job_series__add_job_window(struct job_series *s, uint32_t id, const struct job_figures *f,
				void (*change)(const struct rank_series *r));
/* Its session has ended. lives: the process has not, and will be watched again. */
void job_series__end(struct job_series *s, uint32_t id, bool lives, uint64_t now_ns);
/* Steps since the job is watched. */
uint64_t job_series__steps(const struct rank_series *r);
/* Are the rank's counters current? They are not before it is watched, or watched again. */
bool job_series__counts(const struct rank_series *r);
/* Forgets ranks whose process ended SERIES_KEEP_NS ago. */
void job_series__expire(struct job_series *s, uint64_t now_ns);
void job_series__free(struct job_series *s);

#endif
