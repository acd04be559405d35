/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Probe residency: which probes are attached to a process, inside and outside of windows. All edges of this state
 * machine are in one table. The machine only decides and knows no probes. arm.c takes the edges; no other code changes
 * the state.
 */
#ifndef PROFTRACE_RESIDENCY_H
#define PROFTRACE_RESIDENCY_H

#include <stdbool.h>
#include <stdint.h>

enum residency {
	RESIDENCY_STEPS_ONLY,	 /* the probes that show steps; also while proftrace looks for steps */
	RESIDENCY_BACKWARD_ONLY, /* of these, without updates of parameters: backward passes stand for the updates */
	RESIDENCY_NONE,		 /* no probes: steps are counted from outside (probeless.h) */
	RESIDENCY_FULL,		 /* all probes of a window: a window is near or open */
	RESIDENCY_CNT
};

/* What may cause a change of state. */
enum residency_event {
	RESIDENCY_DISTANCE, /* a turn of the loop: the distance of the window decides */
	RESIDENCY_LEARN,    /* proftrace looks for steps, perhaps again: without the most expensive probes */
	RESIDENCY_MEASURE,  /* the step rule is found, or there are no steps: operators are measured, then recorded */
	/* a window has opened that seemed far away: proftrace may have waited long for a processor */
	RESIDENCY_OPENED,
};

/* What the next state depends on. */
struct residency_view {
	enum residency_event event;
	/* The next members are for RESIDENCY_DISTANCE. */
	/* `left` and `lead` are in steps; both are in ns if the window begins at a time. */
	uint64_t left;	       /* until all probes must be attached; 0: now; UINT64_MAX: never */
	uint64_t lead;	       /* time or steps that pass while probes are attached */
	bool passes_suffice;   /* each step has one backward pass with one update after it */
	bool counters_suffice; /* variables of the process count its steps */
	bool pause_is_over;    /* in RESIDENCY_NONE: it is time to check whether the variables still count steps */
};

/* Returns the next state, one edge away, or `now`. */
enum residency residency__next(enum residency now, const struct residency_view *v);
const char *residency__name(enum residency r);

#endif
