/* SPDX-License-Identifier: BSD-2-Clause */
/* The windows of a session, and the counts from before the current window. */
#ifndef PROFTRACE_WINDOW_COUNTS_H
#define PROFTRACE_WINDOW_COUNTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include "capture/sched/fault_count.h"
#include "capture/window.h"

struct windows {
	uint64_t written;
	uint64_t opened;	  /* also those that were discarded */
	uint32_t closes_seen;	  /* ctl.closes when the latest window was closed, ... */
	uint64_t unseen_since_ns; /* ... and since when ctl.closes differs from it; 0: no difference */
	bool timed;		  /* windows open and close by time, not at steps */
	bool ending;		  /* this window has closed, and its last records are on their way */
	bool discard;		  /* this window's recording is to be removed */
	json_t *summary;	  /* of a complete window that is not written yet */
	uint64_t shifted_before, shift; /* steps by which windows opened late: all windows before, this window */
	const char *late_for; /* why this window opened late, as a clause */
};

/* Losses between the target and the recording since the attach. */
struct losses {
	uint64_t ring, depth, storage, decode;
	uint64_t ends; /* calls whose end had no probe yet */
	uint64_t sched;
};

/* Stacks of Python since attach. */
struct stack_counts {
	uint64_t read, ns;	    /* and the time of the target that reading took */
	uint64_t cut;		    /* different stacks of which only the inner frames were read */
	uint64_t unread, full;	    /* spans that lack the stack that the user asked for */
	uint64_t unknown_functions; /* frames whose function could not be read */
};

/* The counts when the window opened, or when the window before it had ended. */
struct counts_before {
	uint64_t cpu_ns;	       /* our own CPU time */
	struct fault_count faults;     /* of the training thread */
	struct stack_counts stacks;
	uint64_t enclosing_hits;       /* of ctl */
	uint64_t callee_ends, beside;  /* counts of ctl; `beside`: steps of other threads */
	uint32_t endless;	       /* optimizer steps */
	uint64_t cut_names;
	uint64_t not_ended;	       /* spans that the program did not end */
	uint64_t sched_ns;	       /* see sched_source__own_ns() */
	struct losses lost;	       /* losses that belong to no recording or to an earlier one */
};

#endif
