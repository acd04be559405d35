/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Probe residency: which probes are in a process, outside of windows and in them. This is the whole machine, its edges in
 * one table; it decides, and knows nothing of probes. arm.c takes the edges, and reaches no state but by one.
 */
#ifndef PROFTRACE_RESIDENCY_H
#define PROFTRACE_RESIDENCY_H

#include <stdbool.h>
#include <stdint.h>

enum residency {
	RESIDENCY_STEPS_ONLY,	 /* what tells of a step; while steps are looked for, too */
	RESIDENCY_BACKWARD_ONLY, /* of that, no updates of parameters: backward passes stand for them */
	RESIDENCY_NONE,		 /* nothing: steps are counted from outside (probeless.h) */
	RESIDENCY_FULL,		 /* all that a window needs: one is near, or open */
	RESIDENCY_CNT
};

/* What asks for another state. */
enum residency_event {
	RESIDENCY_DISTANCE, /* a turn of the loop: how far the window is */
	RESIDENCY_LEARN,    /* steps are looked for, perhaps again: without what slows the job most */
	RESIDENCY_MEASURE,  /* the step rule is found, or there are no steps: operators are measured, then recorded */
	RESIDENCY_OPENED,   /* a window has opened that seemed far: proftrace can be kept waiting for long */
};

/* What the next state depends on. */
struct residency_view {
	enum residency_event event;
	/* The rest is for RESIDENCY_DISTANCE. */
	/* Both in steps; before a window that begins at a time both in ns. */
	uint64_t left;	       /* until probes are wanted, 0: now; UINT64_MAX: never */
	uint64_t lead;	       /* what goes by while probes are attached */
	bool passes_suffice;   /* each step has one backward pass, and one update behind it */
	bool counters_suffice; /* variables of the process count its steps */
	bool pause_is_over;    /* it is time to look whether they still do; in RESIDENCY_NONE alone */
};

/* The state to go to; `now`: to stay. One edge at a time. */
enum residency residency__next(enum residency now, const struct residency_view *v);
const char *residency__name(enum residency r);

#endif
