/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Capture: from probes to recordings. It knows kernels, rings and windows. It does not know tables.
 *
 * capture__run() runs a whole session. It opens the target, plans and loads the probes, and attaches the step probes.
 * It learns what a step is and attaches the other probes. It records the windows, detaches, and closes the files.
 */
#ifndef PROFTRACE_CAPTURE_H
#define PROFTRACE_CAPTURE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "attach/attach.h"
#include "capture/steps/period.h"
#include "frameworks/framework.h"

struct rendezvous;
struct shim_link;

/* The values of an option that may be repeated. */
struct text_list {
	const char **items;
	size_t cnt, cap;
};

/* Shared between a signal handler and a session. */
struct capture_stop {
	volatile sig_atomic_t asked; /* number of stop requests: the first ends the window, the second aborts */
	/* The target is unchanged, so the handler may end our process at once. Otherwise the user would have to wait
	 * for the kernel's check of the programs, which takes long. */
	volatile sig_atomic_t harmless;
};

struct capture_opts {
	struct capture_stop *stop;
	pid_t pid;
	const struct framework *framework; /* the framework to show; NULL: the first that the process has */
	enum detail detail;
	bool record_shapes, profile_memory, with_stack;
	bool syscalls, page_faults; /* record the time in the kernel, by thread and step */
	bool timer_only;   /* with DETAIL_PHASE: record only steps and the wait for data */
	bool has_schedule; /* else the window lasts `duration_ns`, or until proftrace is stopped */
	struct pt_schedule schedule;
	uint64_t duration_ns;	  /* 0: none */
	uint64_t start_after_ns;  /* attach after this delay, */
	uint64_t start_at_ns;	  /* or at this time of the wall clock; 0: at once */
	uint64_t step_timeout_ns; /* how long to wait for the first step */
	bool step_timeout_chosen; /* by the user; then it also holds for a window that needs no steps */
	bool no_steps; /* look for no steps: the window is a time and begins at once */
	uint64_t dump_every_ns;	  /* begin a new window's file at this interval; 0: never */
	bool paused;		  /* no window opens before `proftrace ctl PID start` */
	const char *step_probe;	  /* LIB:FUNCTION or FUNCTION, NULL: none */
	const char *step_range;	  /* name of a range, NULL: none */
	enum step_unit step_unit; /* what a step is, if steps are found by a period of operators */
	struct text_list ops;	  /* LIB:GLOB of functions to show as operators */
	struct text_list ops_returning; /* the same for functions that no C++ exception leaves */
	struct text_list usdt;		/* PROVIDER:NAME globs of probes to show as marks */
	const char *return_probes;		/* comma-separated symbols for return probes, NULL: none */
	uint64_t ring_bytes;
	enum attach_method method;
	bool no_prune;		/* keep the probes of hot and short functions */
	double max_overhead;	/* prune probes until they add at most this share to a step */
	bool count_each;	/* count each step by a probe between windows, too */
	bool no_follow;		/* leave forked children alone */
	bool await_framework;	/* `run` has just started the program: wait until it loads a framework */
	struct freeze **frozen;	/* the process if it is frozen already (no_steps), taken over; NULL: it runs */
	bool no_inject;		/* do not load our library into the process */
	bool inject;		/* load our library even without CUDA */
	bool no_pointers;	/* do not use pointer hooks: only probes see functions */
	bool sync_events;	/* record what streams and threads wait for on the device, too */
	/* path of a libcupti for our library, as the process sees it; NULL: the process's own */
	const char *cupti;
	struct shim_link *shim; /* link to a program that was started with our library, taken over; else NULL */
	const char *output;	/* path of the recording, or a directory; NULL: HOST_PID.ptrec */
	bool in_memory;		/* the recordings are in memory, and the result holds their descriptors */
	const char *const *command;    /* our own argv, for the metadata */
	bool progress;		       /* a live line on stderr */
	struct rendezvous *rendezvous; /* where the other ranks' captures wait; NULL: alone */
	size_t rendezvous_index;       /* our index there */
};

struct capture_result {
	char **paths; /* recordings written, in order; a recording in memory has a path in /proc/self/fd */
	size_t path_cnt, path_cap;
	int *memory; /* descriptors of the recordings in memory */
	size_t memory_cnt, memory_cap;
	bool target_gone; /* exited or exec'ed before the windows were complete */
	bool target_execed;
	char seen[160]; /* "31 steps were seen, 12 of them before step 0" */
	bool aborted;
};
void capture_result__free(struct capture_result *res);

/* Returns 0, or a negative errno with err__set. *res has the recordings made before an error, too. */
int capture__run(const struct capture_opts *opts, struct capture_result *res);

#endif
