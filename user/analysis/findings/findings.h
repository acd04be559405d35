/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What to look at first. A finding is one file with its rule and its thresholds, and one row of the
 * registry in findings.c. A rule that is not sure keeps silent: a healthy job has no findings.
 */
#ifndef PROFTRACE_FINDINGS_H
#define PROFTRACE_FINDINGS_H

#include "analysis/analysis.h"

/* What a device waits for, and no name stands for: launches that come too slowly. */
#define CAUSE_LAUNCHES UINT32_MAX

struct finding_rule;

struct finding {
	uint64_t cost_ns; /* of a step: what mending it saves at most; 0: memory, not time */
	uint32_t cause; /* name of the wait that it is of, or one of CAUSE_...; 0: none */
	/* What `next` sends the reader to: stands before it, if found. NULL: none. */
	const struct finding_rule *see_first;
	char what[200], evidence[640], next[480];
};

struct finding_rule {
	const char *key; /* in JSON and CSV */
	bool is_general; /* what others find may be its cause: it ranks by what they leave of its cost */
	bool of_host; /* what it saves is the host's: no more than the busiest device leaves */
	bool rests_on_device; /* on its work or calls: silent where these are not known to the end */
	bool timer; /* what it judges by is recorded by --timer-only, too */
	/* Of rules that find the same wait (finding.cause), that with the highest tells it. */
	int tells_wait;
	size_t state_size;
	int (*visit)(const struct analysis *a, void *state, const struct batch *b); /* or NULL */
	/* What devices did in the step that is visited next (analysis.feed.batch); or NULL. */
	int (*visit_work)(const struct analysis *a, void *state, const struct device_work *w);
	/* 1 with *f filled, 0: nothing found, or a negative errno. Only called if there are steps.
	 */
	int (*judge)(const struct analysis *a, void *state, struct finding *f);
	void (*clean)(void *state); /* or NULL */
};

extern const struct finding_rule finding_data_loader, finding_device_idle, finding_launch_bound, finding_gpu_bound,
	finding_sync,
	finding_slow_steps, finding_cpu_wait, finding_exposed_communication, finding_device_alloc,
	finding_small_copies, finding_copy_bandwidth, finding_exposed_copies, finding_outside_phases,
	finding_off_cpu, finding_page_faults, finding_memory_peak, finding_memory_unused;

/* The table's columns, and a row of it. 0 or -ENOMEM. */
int findings_table__begin(struct table *t);
int findings_table__add(struct table *t, const struct finding *f, const char *rule,
			uint64_t step_ns);
/* The finding that the report of this recording begins with, by a pass of its own. 1 with *f and
 * the rule that found it; 0: nothing was found; or a negative errno. */
int findings__first(const struct recording *r, const struct report_opts *opts, struct finding *f,
		    const struct finding_rule **rule);

/* Of several recordings: rule "straggler". 0 or a negative errno. */
struct job;
struct straggler;
int finding_straggler__fill(const struct job *j, const struct straggler *s, struct table *t);

/* Mean over the steps. */
uint64_t finding__per_step(const struct analysis *a, uint64_t total_ns);
/* Of a time that the clock told, what the steps' time has of it: less the probes' share. */
uint64_t finding__of_clock(const struct analysis *a, uint64_t clock_ns);
/* 0..100 of the steps' time. */
double finding__percent(const struct analysis *a, uint64_t total_ns);

/* What the threads of a track did in the recorded steps, by the scheduler, without the probes of the steps;
 * false: not recorded. */
struct thread_times {
	uint64_t run_ns, runnable_ns, blocked_ns;
};
bool thread_times__of(const struct analysis *a, uint32_t track, struct thread_times *out);

/* How a finding calls the thread that makes the steps: where neither a backward pass nor an optimizer
 * is seen, it may be a server's. */
const char *finding__thread(const struct analysis *a);

/* May a wait for this reason be for the next request, of a job that neither trains nor loads? There
 * is nothing to mend in it then. */
bool finding__may_be_idle(const struct analysis *a, const char *reason);

/* What the thread of a track is blocked for longest in the recorded steps, a name; 0: nothing known. */
uint32_t thread_wait__longest(const struct analysis *a, uint32_t track, uint64_t *ns);

/* A device that is idle for so much of the step, percent, is no limit of it. */
#define DEVICE_IDLE_PERCENT 20.0
/* What the busiest device leaves of the steps; all of them if none was seen. */
uint64_t device_idle__ns(const struct analysis *a);

/* That without a processor is so much of the steps that finding_cpu_wait speaks. */
bool cpu_wait__is_said(const struct analysis *a);

/* A call in which the host waits for the device; so often a step it is more than reading a loss. */
bool span__is_wait(const struct analysis *a, const struct span *s);
#define WAITS_OFTEN 3
/* Are waits on the thread made by the user's code? Where operators run on threads of the framework's own (MXNet's
 * engine), these wait for the device themselves. step NULL: of no step. */
bool finding__waits_are_users(const struct analysis *a, const struct step *step,
			      const struct track *t);

/* Sums by operator, and by the line that called it: the calls of something inside it, and which has
 * most. */
struct by_operator {
	struct stat_map map;
};
/* The outermost operator, or range, around a span; 0: none. */
uint32_t operator__enclosing(const struct span *s);
/* For the operator around a span, or for one by name and stack. 0 or -ENOMEM. */
int by_operator__add(const struct analysis *a, struct by_operator *m, const struct span *s,
		     uint64_t amount);
int by_operator__add_to(struct by_operator *m, uint32_t name, uint32_t stack, uint64_t amount);

struct top_operator {
	uint32_t name; /* 0: no operator */
	uint64_t total, calls;
	char text[280]; /* "aten::item at train.py:41", of its lines the one with most */
};
/* That with the largest total; false: nothing was added, or no memory. */
bool by_operator__top(const struct analysis *a, const struct by_operator *m,
		      struct top_operator *out);
/* The same of one operator. */
bool by_operator__of(const struct analysis *a, const struct by_operator *m, uint32_t name,
		     struct top_operator *out);

#endif
