/* SPDX-License-Identifier: BSD-2-Clause */
/* The windows of a session, and what had been counted since attach before this one. */
#ifndef PROFTRACE_WINDOW_COUNTS_H
#define PROFTRACE_WINDOW_COUNTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include "capture/sched/fault_count.h"
#include "capture/window.h"

struct windows {
	uint64_t written;
	uint64_t opened;	  /* those that were thrown away too */
	uint32_t closes_seen;	  /* ctl.closes when the latest was told to close, */
	uint64_t unseen_since_ns; /* and since when they differ, 0: they do not */
	bool timed;		  /* they open and close by time, and not at steps */
	bool ending;		  /* this one has closed, its last records are on their way */
	bool discard;		  /* what it has recorded is not wanted */
	json_t *summary;	  /* of one that is settled and not yet written */
	uint64_t shifted_before, shift; /* steps by which windows were late: all, this one */
	const char *late_for; /* what this one waited for then, as a clause */
};

/* What was lost on the way from the target to the recording, since attach. */
struct losses {
	uint64_t ring, depth, storage, decode;
	uint64_t ends; /* calls whose end had no probe yet */
	uint64_t sched;
};

/* Stacks of Python since attach. */
struct stack_counts {
	uint64_t read, ns;	    /* and what that took of the target's time */
	uint64_t cut;		    /* different ones of which only the inner frames were read */
	uint64_t unread, full;	    /* spans without the one that was wanted */
	uint64_t unknown_functions; /* frames whose function could not be read */
};

/* As the window opened, or the windows before it had ended. */
struct counts_before {
	uint64_t cpu_ns;	       /* our own CPU time */
	struct fault_count faults;     /* of the training thread */
	struct stack_counts stacks;
	uint64_t enclosing_hits;       /* of ctl */
	uint64_t callee_ends, beside;  /* of ctl; steps of other threads */
	uint32_t endless;	       /* optimizer steps */
	uint64_t cut_names;
	uint64_t not_ended;	       /* spans that their program did not end */
	uint64_t sched_ns;	       /* see sched_source__own_ns() */
	struct losses lost;	       /* what belongs to no recording, or to an earlier one */
};

#endif
