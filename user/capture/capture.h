/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Capture: from probes to recordings. Knows kernels, rings and windows, and nothing of tables.
 *
 * capture__run() is the whole life of a session. It opens the target, plans, loads, attaches the
 * step probes, learns what a step is, attaches the rest, records the windows, detaches and closes
 * the files.
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

/* What an option that may be repeated was given. */
struct text_list {
	const char **items;
	size_t cnt, cap;
};

/* What a signal handler and a session tell each other. */
struct capture_stop {
	volatile sig_atomic_t asked; /* how often: the first ends the window, the second aborts */
	/* The target is as it was, and nothing would be left behind: the handler may end the process. (The
	 * kernel's check of the programs takes long, and cannot be broken off otherwise.) */
	volatile sig_atomic_t harmless;
};

struct capture_opts {
	struct capture_stop *stop;
	pid_t pid;
	const struct framework *framework; /* the one to show; NULL: the first that the process has */
	enum detail detail;
	bool record_shapes, profile_memory, with_stack;
	bool syscalls, page_faults; /* time in the kernel, by thread and step */
	bool timer_only;   /* with DETAIL_PHASE: steps and the wait for data, nothing else */
	bool has_schedule; /* else the window is `duration_ns` long, or until stopped */
	struct pt_schedule schedule;
	uint64_t duration_ns;	  /* 0: none */
	uint64_t start_after_ns;  /* attach only after this long, */
	uint64_t start_at_ns;	  /* or at this time of the wall clock; 0: at once */
	uint64_t step_timeout_ns; /* how long to wait for the first step */
	bool step_timeout_chosen; /* by the user, also for a window that needs no steps */
	bool no_steps; /* none are looked for: the window is a time, from the first moment */
	uint64_t dump_every_ns;	  /* a window's file is completed, and a new one begun; 0: never */
	bool paused;		  /* no window opens before `proftrace ctl PID start` */
	const char *step_probe;	  /* LIB:FUNCTION or FUNCTION, NULL: none */
	const char *step_range;	  /* name of a range, NULL: none */
	enum step_unit step_unit; /* where a period of operators tells of steps */
	struct text_list ops;	  /* LIB:GLOB of functions to show as operators */
	struct text_list ops_returning; /* the same, and no exception leaves them */
	struct text_list usdt;		/* PROVIDER:NAME globs of probes to show as marks */
	const char *return_probes;		/* comma-separated symbols for return probes, NULL: none */
	uint64_t ring_bytes;
	enum attach_method method;
	bool no_prune;		/* keep the probes of hot and short functions */
	double max_overhead;	/* they are dropped until probes add at most this share of a step */
	bool count_each;	/* between windows too a probe sees each step */
	bool no_follow;		/* leave forked children alone */
	bool await_framework;	/* the program has just been started: it will load one */
	struct freeze **frozen;	/* is frozen already (no_steps), taken over; NULL: it runs */
	bool no_inject;		/* leave the process without our library */
	bool inject;		/* load it where there is no CUDA, too */
	bool no_pointers;	/* functions are seen by probes alone */
	bool sync_events;	/* what streams and threads wait for on the device, too */
	const char *cupti;	/* a libcupti for it, as the process sees it; NULL: its own */
	struct shim_link *shim; /* of a program started with the library, taken over; else NULL */
	const char *output;	/* path of the recording, or a directory; NULL: HOST_PID.ptrec */
	bool in_memory;		/* the recordings are no files: they go with the result */
	const char *const *command;    /* our own argv, for the metadata */
	bool progress;		       /* a live line on stderr */
	struct rendezvous *rendezvous; /* where the other ranks' captures wait; NULL: alone */
	size_t rendezvous_index;       /* our place there */
};

struct capture_result {
	char **paths; /* recordings written, in order; of those in memory, in /proc/self/fd */
	size_t path_cnt, path_cap;
	int *memory; /* descriptors of those in memory */
	size_t memory_cnt, memory_cap;
	bool target_gone; /* exited or exec'ed before the windows were complete */
	bool target_execed;
	char seen[160]; /* "31 steps were seen, 12 of them before step 0" */
	bool aborted;
};
void capture_result__free(struct capture_result *res);

/* 0, or a negative errno with err__set. Recordings made before an error are in *res. */
int capture__run(const struct capture_opts *opts, struct capture_result *res);

#endif
