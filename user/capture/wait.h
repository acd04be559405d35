/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a session waits. session__wait() is the only loop. Each turn it calls `look`, which says whether the wait is
 * over. Then it sleeps until the earliest time that a component or the wait has named, or until something wakes it.
 * Then it reads the new records and lets each component do its due work.
 */
#ifndef PROFTRACE_WAIT_H
#define PROFTRACE_WAIT_H

#include <stdint.h>

struct session;

enum { WAIT_GOES_ON = 0, WAIT_IS_OVER = 1 };

/* The phase of the session. It decides what a turn does (component.h). */
enum wait_stage {
	STAGE_PREPARE, /* no window opens yet */
	STAGE_EARLY,   /* no program is loaded yet, so there are no records; the target may not be open yet */
	STAGE_WINDOWS, /* windows open and close */
	STAGE_END,     /* the last window is over: a stop request or the target's end does not end the wait */
};

struct wait {
	/* Called before each turn. Returns WAIT_GOES_ON, WAIT_IS_OVER, or a negative errno with err__set that ends the
	 * wait. It may show progress and change end_ns and turn_us. It must not wait. */
	int (*look)(struct session *s, struct wait *w);
	void *ctx;	      /* context for look */
	unsigned int turn_us; /* longest time between two calls of look; look may change it */
	uint64_t end_ns;      /* the wait ends at this CLOCK_MONOTONIC time at the latest; 0: no such time */
	enum wait_stage stage;
};

/*
 * Returns 0 when the wait is over or end_ns has come. Returns -EINTR after a stop request (at STAGE_END: after two),
 * and -ESRCH if the target is gone. Otherwise returns the first error of look, of a component, or of reading and
 * writing records. Do not call it from look or from a component's poll.
 */
int session__wait(struct session *s, struct wait *w);

#endif
