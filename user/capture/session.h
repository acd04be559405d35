/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of one capture session. All files of capture share it. */
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

/* When the loop last did each of its tasks. */
struct turn {
	uint64_t polled_ns[COMPONENTS_MAX]; /* in the order of session_components */
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
	struct control_listener control; /* takes the requests of `proftrace ctl` */
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

	/* which probes are attached */
	enum residency residency; /* only arm.c changes it */
	struct bursts bursts;
	struct pruned pruned;
	struct steps_only steps_only;
	struct probeless probeless;

	/* the device */
	struct cupti cupti;
	struct device_source *device; /* NULL: no device times by CUPTI */
	bool calls_on; /* probes see the calls of CUDA, not CUPTI */
	struct held_steps held_steps;
	struct pointer_hooks pointer_hooks;

	/* windows */
	struct window window; /* window.writer NULL: no window is open */
	struct windows windows;
	struct counts_before before;
	struct fault_count faults; /* of the training thread, at the window's end */
	struct step_cost step_cost; /* of this window */
};

/* Loads the programs and makes the readers of their records. Returns 0 or a negative errno with err__set. */
int session__load(struct session *s);
/* Frees the parts in the order of their dependencies: the library in the target goes before the probes. */
void session__free(struct session *s);
/* Plans the probes of the process into s->plan. Returns 0, or a negative errno with err__set. */
int session__plan(struct session *s);
/* Records all windows. Returns 0 or a negative errno with err__set. */
int session__record(struct session *s);
/* Freezes a program that `run` started, if it is recorded from its first operator on. It stays frozen while its probes
 * are attached. Returns 0. */
int session__freeze(struct session *s);
/* The frozen program continues. */
void session__thaw(struct session *s);
/* Frees memory that only planning and attaching need. Call it before a long wait. */
void session__release_memory(struct session *s);
/* The programs count from the attach on. The next window subtracts the counts of this moment. */
void session__count_anew(struct session *s);
/* Takes one record of the ring. */
int session__on_record(void *ctx, void *data, size_t size);
/* Reads the records that are in the ring now. */
int session__drain(struct session *s);

/* Finds the step rule. Returns 0; rule.boundary is PT_CLASS_NONE if no steps are visible. */
int session__learn(struct session *s);
/* Collects statistics of some whole steps. *steps is their number; s->step_length has the length of one. Returns
 * -EAGAIN if they were no steps: learn again. */
int session__measure_steps(struct session *s, uint64_t *steps);
/* Prunes functions that are not worth their probe, by the statistics since learning began. Returns -EAGAIN if the steps
 * were no steps: learn again. */
int session__prune(struct session *s);
/* Prunes for a window without steps, by the statistics of some tenths of a second. Attaches the remaining probes. */
int session__prune_by_time(struct session *s);

/* A progress line. On a terminal it is overwritten in place; otherwise each call prints a line. */
void session__progress(struct session *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void session__progress_end(struct session *s);
/* Warns that the target is stopped: no records come until somebody continues it. */
void session__warn_stopped(struct session *s);

struct losses session__losses(const struct session *s);

/* Window life. */
int session__window_open(struct session *s, uint64_t first_step, uint64_t open_ns);
/* Closes the window. Its last records are still on their way; call session__window_finish() when they have come. */
void session__window_close(struct session *s, uint64_t close_ns);
/* Closes a window that the programs have closed, if the record of its end was lost. Does nothing without an open
 * window. */
void session__window_close_unseen(struct session *s);
/* Writes the open spans and the summary, and closes the file. */
int session__window_finish(struct session *s);
/* The two halves of session__window_finish(). After session__window_complete() nothing more is written to the window,
 * and its summary is in s->windows. `err` is the result of session__window_complete(). */
int session__window_complete(struct session *s);
int session__window_write(struct session *s, int err);
#endif
