/* SPDX-License-Identifier: BSD-2-Clause */
/* Figures of all watched ranks, and of ranks that ended a few minutes ago. */
#ifndef PROFTRACE_JOB_SERIES_H
#define PROFTRACE_JOB_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "monitor/alarm_figures.h"
#include "monitor/cusum.h"
#include "monitor/figures.h"
#include "monitor/job_figures.h"
#include "monitor/messages.h"

#define SERIES_BUCKETS	 24 /* buckets of step times, log-spaced from 1 ms to 100 s; one more holds longer steps */
/* Buckets for OTLP. Bucket i begins above 2^((SERIES_FINE_FIRST + i) / 2^SERIES_FINE_SCALE) seconds and ends at the
 * next bucket's limit. The buckets reach from 1 us to 4 hours, each 9 % wide. The first and the last bucket also hold
 * all times beyond. */
#define SERIES_FINE_SCALE 3
#define SERIES_FINE_FIRST (-160)
#define SERIES_FINE	  272
#define SERIES_PHASES	 12
#define SERIES_OPERATORS 20 /* operators with a series of their own */
#define SERIES_OTHER	 "other"
#define SERIES_FINDINGS	 16
#define SERIES_DEVICES	 16
#define SERIES_PAST	 32 /* latest windows whose recording and step time are shown */
#define SERIES_KEEP_NS	 (300 * 1000000000ull) /* a rank is exported this long after its end */

struct past_window {
	char file[RECORDING_NAME];
	double median_s, at_s; /* median_s: median step; at_s: time of reading the window, since 1970 */
};

/* A rank's part in the latest window of all ranks of its job. */
struct joint_figures {
	uint32_t id; /* id of the latest such window with this rank; 0: none */
	/* the rank's recording of that window; its recording of the latest such window that was read */
	char file[RECORDING_NAME], read_file[RECORDING_NAME];
	bool is_judged;
	double wait_ratio; /* share of a step that other ranks wait for this rank; 0: it is no straggler */
	char phase[32];
};

/* Steps take longer for good. */
struct rank_alarm {
	double since_s; /* about when they began to, since 1970; 0: unknown */
	bool is_compared;
	struct alarm_figures figures;
	char baseline[RECORDING_NAME], recording[RECORDING_NAME]; /* that were compared */
};

struct rank_series {
	struct rank_info info; /* of the latest session */
	char rank[16];	       /* label: the rank's number, or u0, u1, ... */
	enum watch_state state;
	uint64_t ended_ns; /* 0: the rank is watched */
	bool lives;	   /* the session has ended but not the process, so the series is kept */
	char framework[32], version[32], detail[16], step_rule[64], file[RECORDING_NAME];
	uint64_t steps, steps_before; /* steps of this session, steps of earlier sessions */
	double watched_s, watched_before_s, duty;
	double cpus; /* negative: unknown */
	double lead_s;	/* as in struct rank_state */
	bool is_asked;
	double learn_s, learn_before_s, unread_s, unread_before_s;
	double open_s;	/* time of windows without a known cost */
	double spent_s; /* estimated cost of the windows with a known cost */
	uint64_t buckets[SERIES_BUCKETS + 1], fine_buckets[SERIES_FINE];
	uint64_t begun_ns; /* time since 1970 at which the counters were 0 */
	double sampled_s;
	uint64_t sampled_cnt, window_cnt;
	double median_s; /* median step of the latest window */
	double growth; /* steps of windows took so much longer than others; 0: unknown, or no longer */
	double overhead; /* of the latest window with a known cost, at most 1; 0: no such window */
	struct named_figure phases[SERIES_PHASES], operators[SERIES_OPERATORS],
		findings[SERIES_FINDINGS];
	size_t phase_cnt, operator_cnt, finding_cnt;
	enum device_times device_times;
	char device_why[DEVICE_WHY]; /* of DEVICE_TIMES_REFUSED */
	/* By GPU, in seconds: in which a kernel ran, and of the steps that were looked at for it. */
	struct named_figure device_busy[SERIES_DEVICES], device_sampled[SERIES_DEVICES];
	struct named_figure devices[FIGURES_DEVICES]; /* of the latest window, a share */
	struct named_figure device_windows[2]; /* number of windows of a process with CUDA: "ok", "missing" */
	size_t device_busy_cnt, device_sampled_cnt, device_cnt, device_windows_cnt;
	double other_s; /* sum of the operators without a series of their own */
	struct thread_figures threads; /* of the latest window; they are no series */
	struct past_window past[SERIES_PAST]; /* in order of time */
	size_t past_cnt;
	struct joint_figures joint;
	struct cusum cusum;
	char baseline[RECORDING_NAME]; /* the recording of a usual window of the warm-up; "": none yet */
	struct rank_alarm alarm;       /* while cusum.alarm is set */
	struct named_figure regression; /* by the phase that takes longer: how much longer steps are; 0.05: 5 % */
	uint64_t cusum_resets; /* number of new baselines, after another step rule or another process */
};

struct job_series {
	struct rank_series **items;
	size_t cnt, cap;
	size_t series_cnt, series_max;
	uint64_t dropped; /* number of series that were not made */
	struct monitor_counts counts;
	uint64_t heard_ns; /* time of the latest message from the parent */
};

/* The upper limit of a bucket in seconds. */
double job_series__bucket(size_t index);

/* Continues the series of an ended rank with the same job, user, container and number. If the process is another one,
 * the baseline begins anew. NULL: out of memory, or no series is free. */
struct rank_series *job_series__begin(struct job_series *s, const struct rank_info *info);
struct rank_series *job_series__find(struct job_series *s, uint32_t id);
/* The watched series of the process, otherwise its latest series. NULL: there is none. */
const struct rank_series *job_series__of_pid(const struct job_series *s, int pid);
void job_series__set_state(struct job_series *s, const struct rank_state *state);
/* Adds the cost of a window: `overhead`, or the growth of the steps where that is more. overhead 0: unknown. */
void job_series__spend(struct rank_series *r, double overhead, double seconds);
/* Estimated share of the watched time that probes took. Windows without a cost count like the latest window with a
 * cost. So does the time until the session was ready. Returns false if no window has a cost. */
bool job_series__overhead(const struct rank_series *r, double *ratio);
/* Returns true if an alarm about the step time was raised or cleared. */
bool job_series__add_window(struct job_series *s, struct rank_series *r, const struct figures *f,
			    const struct window_ready *window);
/* Adds the figures of the report of a window of all ranks. Calls `change` for a rank that became the straggler, or
 * stopped being it. */
void job_series__add_job_window(struct job_series *s, uint32_t id, const struct job_figures *f,
				void (*change)(const struct rank_series *r));
/* Notes the comparison of a window with the baseline. False: there is no alarm (any more). */
bool job_series__set_alarm(struct rank_series *r, const struct alarm_made *made,
			   const struct alarm_figures *f);
/* The rank's session has ended. lives: the process has not ended and will be watched again. */
void job_series__end(struct job_series *s, uint32_t id, bool lives, uint64_t now_ns);
/* Steps since the job has been watched. */
uint64_t job_series__steps(const struct rank_series *r);
/* Are the rank's counters current? They are not before the rank is watched, or watched again. */
bool job_series__counts(const struct rank_series *r);
/* Forgets ranks whose process ended SERIES_KEEP_NS ago. */
void job_series__expire(struct job_series *s, uint64_t now_ns);
void job_series__free(struct job_series *s);

#endif
