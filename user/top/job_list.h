/* SPDX-License-Identifier: BSD-2-Clause */
/* Jobs from the monitor's /jobs: groups ranks into jobs. */
#ifndef PROFTRACE_TOP_JOB_LIST_H
#define PROFTRACE_TOP_JOB_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JOB_RANKS     4096 /* ranks of all jobs together; more are only counted */
#define JOB_OPERATORS 32
#define JOB_FINDINGS  16
#define JOB_DEVICES   16
#define JOB_RECENT    64
#define JOB_THREADS   16

enum job_phase { PHASE_FORWARD, PHASE_BACKWARD, PHASE_OPTIMIZER, PHASE_LOADER, PHASE_OTHER, PHASE_CNT };
extern const char *const job_phase_names[PHASE_CNT];

struct job_figure {
	char name[128];
	double value;
	size_t rank_cnt; /* number of ranks that have it */
};

struct job_identity {
	char name[128], container[128], pod[64];
	int64_t uid;
};

struct job_rank {
	struct job_identity key;
	char rank[16], state[16], framework[32], version[32], step_rule[64], regression[64];
	char file[160]; /* latest recording; "": none */
	int64_t pid;
	uint64_t steps, sampled, windows;
	double step_s; /* of the latest window, the median; 0: unknown */
	double cpus;   /* processors in use; negative: unknown */
	double gpus;   /* GPUs that ran its kernels on average, in the latest window; negative: unknown */
	/* why gpus is unknown: device_times of the monitor's answer, and its reason; may be "" */
	char device_times[16], device_refused[160];
	struct job_figure devices[JOB_DEVICES]; /* share of the steps in which a kernel ran, by GPU */
	size_t device_cnt;
};

/* Shares of the steps of a rank's latest window. */
struct job_thread {
	char name[64], rank[16];
	double run;	 /* on a processor */
	double runnable; /* waiting for one */
};

/* The threads of all ranks that ran most, and the sum of all others. */
struct job_threads {
	struct job_thread list[JOB_THREADS], others;
	size_t cnt, other_cnt; /* cnt 0: unknown */
	bool has_more;	       /* the monitor does not have all others */
};

struct job {
	struct job_identity key;
	struct job_rank *ranks;
	size_t rank_cnt;
	double step_s; /* of the slowest rank; 0: unknown */
	double cpus, gpus; /* sum over its ranks; negative: unknown for one */
	double phases[PHASE_CNT]; /* seconds in all windows of all ranks */
	uint64_t sampled, windows;
	struct job_figure operators[JOB_OPERATORS]; /* in seconds, the largest first */
	struct job_figure findings[JOB_FINDINGS];   /* the largest share of any rank, the largest
						       first */
	size_t operator_cnt, finding_cnt;
	struct job_threads threads;
	double recent[JOB_RECENT]; /* step_s of each window since top began, the oldest first */
	size_t recent_cnt;
};

enum job_order { ORDER_NAME, ORDER_STEP, ORDER_FINDINGS, ORDER_CNT };
extern const char *const job_order_names[ORDER_CNT];

struct job_list {
	struct job *jobs;
	size_t cnt;
	struct job_rank *ranks;
	size_t rank_cnt, left_out; /* left_out: ranks beyond JOB_RANKS */
};

/* text: from another process, so each value is checked, and characters that could move a cursor
 * become '?'. 0, -EBADMSG: it is no list of jobs, or -ENOMEM. */
int job_list__parse(const char *text, size_t len, struct job_list **out);
void job_list__sort(struct job_list *l, enum job_order order);
bool job_identity__is(const struct job_identity *a, const struct job_identity *b);
double job__phase_sum(const struct job *j);
/* Are all of its ranks in this state? */
bool job__is(const struct job *j, const char *state);
/* Is one of its ranks in this state? */
bool job__has(const struct job *j, const char *state);
void job_list__free(struct job_list *l);

/* Step times of each job's latest windows. */
struct job_history {
	struct job_past *items;
	size_t cnt;
};
/* Adds the jobs' step times, forgets jobs that are gone, and fills `recent`. 0 or -ENOMEM. */
int job_history__note(struct job_history *h, struct job_list *l);
void job_history__free(struct job_history *h);

#endif
