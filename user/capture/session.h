/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of one capture session, shared by the files that make it up. */
#ifndef PROFTRACE_SESSION_H
#define PROFTRACE_SESSION_H

#include "capture/arming/arming.h"
#include "capture/component.h"
#include "capture/control/control_socket.h"
#include "capture/device/device_state.h"
#include "capture/probes.h"
#include "capture/processes/processes.h"
#include "capture/records.h"
#include "capture/sched/sched_source.h"
#include "capture/sched/task_source.h"
#include "capture/steps/step_state.h"
#include "capture/window_counts.h"

/* When things were done last. */
struct turn {
	uint64_t polled_ns[COMPONENTS_MAX]; /* in the order of components */
	uint64_t progress_ns;
};

struct session {
	const struct capture_opts *opts;
	struct capture_result *res;
	struct target *target;
	struct framework_match match;
	struct probe_plan plan;
	struct window_facts facts;
	struct start start;
	struct attaching attaching;
	struct control_listener control; /* where proftrace ctl asks */
	struct children children;

	struct probes probes;
	struct records records;
	struct sched_source *sched;
	struct task_source *tasks;
	bool target_gone, target_execed;
	struct alive alive;
	struct turn turn;
	const struct component *const *components;

	/* steps */
	struct learning learning;
	struct step_rule rule;
	struct optimizer_step optimizer_step;
	struct boundary boundary;
	struct step_length step_length;

	/* which probes are in */
	enum residency residency; /* arm.c's to change */
	struct bursts bursts;
	struct pruned pruned;
	struct steps_only steps_only;
	struct probeless probeless;

	/* the device */
	struct cupti cupti;
	struct device_source *device; /* NULL: no device times by CUPTI */
	bool calls_on; /* calls of the device's interface are seen by probes */
	struct held_steps held_steps;
	struct pointer_hooks pointer_hooks;

	/* windows */
	struct window window; /* window.writer NULL: none is open */
	struct windows windows;
	struct counts_before before;
	struct fault_count faults; /* of the training thread, at the window's end */
	struct step_cost step_cost; /* of this window */
};

/* The programs, and what reads their records. 0 or a negative errno with err__set. */
int session__load(struct session *s);
/* All of it, in the order in which parts need each other: the library in the target goes before the probes. */
void session__free(struct session *s);
/* What is to be seen in the process: s->plan. 0, or a negative errno with err__set. */
int session__plan(struct session *s);
/* All windows. 0 or a negative errno with err__set. */
int session__record(struct session *s);
/* Freezes a program that `run` started and that is seen from its first operator, while its probes go in. 0. */
int session__freeze(struct session *s);
/* It goes on. */
void session__thaw(struct session *s);
/* Gives back memory that only planning and attaching need. Call before a long wait. */
void session__release_memory(struct session *s);
/* What the programs count from the attach on counts for a window from here on. */
void session__count_anew(struct session *s);
/* One record. */
int session__on_record(void *ctx, void *data, size_t size);
/* Reads what is in the ring now. */
int session__drain(struct session *s);

/* Finds the step rule; 0 with rule.boundary PT_CLASS_NONE if there are no steps to be seen. */
int session__learn(struct session *s);
/* Keeps statistics of some whole steps; their number goes to *steps, the length of one to s->step_ns.
 * -EAGAIN: they turned out to be none, learn again. */
int session__measure_steps(struct session *s, uint64_t *steps);
/* Leaves out functions that are not worth their probe, from what was seen since learning began.
 * -EAGAIN: the steps turned out to be none, learn again. */
int session__prune(struct session *s);
/* The same for a window without steps, from what some tenths of a second show; attaches what stays. */
int session__prune_by_time(struct session *s);

/* A progress line: kept live on a tty, one line each otherwise. */
void session__progress(struct session *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void session__progress_end(struct session *s);
/* The target is stopped: nothing comes before somebody lets it go on. */
void session__warn_stopped(struct session *s);

struct losses session__losses(const struct session *s);

/* Window life. */
int session__window_open(struct session *s, uint64_t first_step, uint64_t open_ns);
/* Its last records are on their way; session__window_finish when they have come. */
void session__window_close(struct session *s, uint64_t close_ns);
/* The programs have closed it, and the record of that was lost. Does nothing without an open window. */
void session__window_close_unseen(struct session *s);
/* Writes what is still open and the summary, and closes the file. */
int session__window_finish(struct session *s);
/* The same in two halves. Nothing is written to the window after the first, and its summary waits in s->windows.
 * err: of the first. */
int session__window_complete(struct session *s);
int session__window_write(struct session *s, int err);
#endif
