/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums over the pass, which the tables share. A table is one file and one row. */
#ifndef PROFTRACE_ANALYSIS_H
#define PROFTRACE_ANALYSIS_H

#include "analysis/cells.h"
#include "analysis/coverage.h"
#include "analysis/device_feed.h"
#include "analysis/gpu_wait.h"
#include "analysis/names.h"
#include "analysis/ratio_base.h"
#include "analysis/ready_time.h"
#include "analysis/report.h"
#include "analysis/whole_time.h"
#include "model/device_info.h"
#include "model/model.h"

#define TIMER_ONLY_HAS                                                                             \
	"--timer-only records the times of steps and of their data loader alone; record without "  \
	"it for more."
#define STEP_SLOW 1.5 /* a step that takes more than so many times the median stands out */

/* Total, greatest and least of one quantity. Only a part of a cut call lies in the window. So the
 * least and the average are those of whole calls, if there are any. */
struct range {
	uint64_t total, max, min;
	uint64_t cut, cut_total; /* calls that the window's edge cuts, and their part of the
				    total */
};
/* Mean of so many calls. calls is not 0. */
uint64_t range__avg(const struct range *r, uint64_t calls);

struct stat {
	uint64_t calls;
	struct range cpu, gpu; /* ns */
	uint64_t executions; /* gpu is the sum of so many executions, on any thread; 0: of the
				calls */
};
static inline uint64_t stat__gpu_cnt(const struct stat *s)
{
	return s->executions ? s->executions : s->calls;
}
void stat__add(struct stat *s, uint64_t cpu_ns, uint64_t gpu_ns);
/* A cut call counts with the part that lies in the window. So does, on the device, a call whose
 * work there is not fully known. */
void stat__add_partly(struct stat *s, bool cut, bool gpu_known, uint64_t cpu_ns, uint64_t gpu_ns);

/* Stats by up to four ids; rows in order of first use. */
struct stat_key {
	uint32_t group, id, child, device;
};
struct stat_row {
	struct stat_key key;
	struct stat stat;
};
struct stat_map {
	struct stat_row *rows;
	size_t cnt, cap;
	uint32_t *slots;
	size_t slot_cnt;
};
/* The row's stat, new or found; NULL: out of memory. Valid until the next call. */
struct stat *stat_map__at(struct stat_map *m, const struct stat_key *key);
/* The row's place in the map: tables keep more than a struct stat under it. */
size_t stat_map__index(const struct stat_map *m, const struct stat *stat);
void stat_map__free(struct stat_map *m);

/* Length of a union of intervals, exact as long as one does not reach back over UNION_MAX others.
 */
#define UNION_MAX (1u << 16)
struct interval_union {
	struct stretch *items;
	size_t cnt, cap;
	uint64_t done_ns, horizon_ns; /* length of the intervals that were folded, and where
					 these end */
};
int interval_union__add(struct interval_union *u, uint64_t begin, uint64_t end);
void interval_union__merge(struct interval_union *u); /* Sorts items by begin and joins those
							 that touch. */
uint64_t interval_union__length(struct interval_union *u);
void interval_union__clear(struct interval_union *u); /* empties it, and keeps its memory */
void interval_union__free(struct interval_union *u);

/* Sums that more than one table prints. */
struct analysis {
	const struct recording *r;
	const struct report_opts *opts;
	struct model_stats model;
	uint32_t main_pid; /* 0: not known, every process counts */
	bool has_device;
	/* An engine's threads launch the kernels of the framework's operators later. */
	bool engine_launches;
	bool has_executions;	  /* the recording has the engine's executions */
	uint64_t executed_ns;	  /* kernels in steps that an execution launched */
	uint64_t of_no_call_ns;	  /* those of executed_ns whose calling operator is not known */
	uint64_t not_executed_ns; /* kernels in steps that no execution launched */
	bool timer_only;	  /* recording__is_timer_only */
	struct device_infos devices;
	struct coverage coverage; /* how far the device's work is known */
	struct device_feed feed;
	struct gpu_wait gpu_wait;
	struct ready_times ready;
	struct stat_map gpu_waits; /* of all steps, by name and stack of the waiting call */
	struct whole_time whole;
	struct stretch window;	  /* as recorded; empty: not known */
	struct stat steps;	  /* gpu: kernels launched in the step */
	uint64_t step_general_ns; /* kernels, copies and sets in steps */
	uint64_t any_general_ns;  /* the same, also outside of steps */
	uint64_t first_step, last_step;
	uint32_t step_track;	      /* of the thread that counts steps; 0: none does */
	struct stat phases[KIND_CNT]; /* DATALOADER, FORWARD, BACKWARD, OPTIMIZATION */
	uint64_t others_gpu_ns;	      /* kernels in steps, outside of their phases */
	uint64_t first_ns, last_ns;   /* of all spans and steps */
	uint64_t memory_cnt;
	bool outside_steps; /* something lies in no whole step */
	uint64_t work_cnt, stepless_work_cnt; /* kernels, copies and sets: all, and those outside
						 of whole steps */
	struct phase_call {
		enum span_kind kind;
		uint64_t begin_ns, cpu_ns, gpu_ns;
		bool gpu_known;
	} *calls; /* of the current batch, by begin */
	size_t call_cnt, call_cap;
};
/* Before the pass. 0 or a negative errno; call analysis__end after either. */
int analysis__begin(struct analysis *a, const struct recording *r, const struct report_opts *opts);
void analysis__end(struct analysis *a);
int analysis__visit(struct analysis *a, const struct batch *b);
/* Adds a call to its sums. A call counts in part if the window's edge cuts it, or if its device
 * work is not fully known. */
void analysis__count(const struct analysis *a, struct stat *s, const struct event *e,
		     uint64_t cpu_ns, uint64_t gpu_ns);
/* Is it a whole step of the window? False outside of steps (EVENT_NO_ID), for the step that the
 * window's end cuts, and if there are no steps. */
static inline bool analysis__has_step(const struct analysis *a, uint64_t step)
{
	return a->steps.calls && step >= a->first_step && step <= a->last_step;
}
/* An engine's threads launched kernels, and for many of these the caller is not known. */
bool analysis__callers_unknown(const struct analysis *a);
uint32_t analysis__main_pid(const struct recording *r); /* 0: not known */
bool analysis__is_main(const struct analysis *a, const struct track *t);
/* An asynchronous event that is a collective of the host. */
bool analysis__is_collective(const struct recording *r, const struct event *e);
/* Is it a range of the framework around a copy of memory? Its name tells. */
bool range__is_manipulation(const char *name);

/* One table: its def, its functions for the pass, and how it is filled. The state may be NULL. */
struct table_impl {
	struct table_def def;
	size_t state_size;
	int (*visit)(const struct analysis *a, void *state, const struct batch *b);
	/* Gets the devices' work in the step that is visited next (analysis.feed.batch). Without
	 * steps it gets the whole window's work, after the pass. May be NULL. */
	int (*visit_work)(const struct analysis *a, void *state, const struct device_work *w);
	int (*fill)(const struct analysis *a, void *state, struct table *t);
	int (*fill_short)(const struct analysis *a, void *state, struct table *t); /* or NULL */
	void (*clean)(void *state);
	const char *title;
	bool rests_on_device; /* shows times of devices: gets a note if these end early */
	bool counts_stepless; /* counts work outside of whole steps: gets a note how much that is */
	bool timer;	      /* shows data that --timer-only records */
	bool always;	      /* its notes are printed even if it has no rows */
	/* The note of a table without rows. NULL: fill adds it. */
	const char *(*why_empty)(const struct analysis *a);
};
extern const struct table_impl table_summary, table_findings, table_device, table_overview,
	table_model, table_distributed, table_collectives, table_operator, table_kernel,
	table_manipulation, table_calls, table_userdefined, table_pipeline, table_counters,
	table_perf, table_memory, table_storage, table_sched, table_sched_steps, table_syscalls, table_steps,
	table_key_averages, table_classic, table_aggregate, table_step_trace, table_op_type,
	table_op_detail, table_activity, table_timeline, table_cost;

#endif
