/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a session waits for. There is one loop, session__wait(): it reads the records that came, lets each component
 * do what is due, and looks whether the wait is over. Then it sleeps until the earliest time that a component or the
 * wait has named, or until one of them is woken. What waits says how to tell that it is over, and until when.
 */
#ifndef PROFTRACE_WAIT_H
#define PROFTRACE_WAIT_H

#include <stdint.h>

struct session;

enum { WAIT_GOES_ON = 0, WAIT_IS_OVER = 1 };

/* How far the session is, which decides what a turn does (component.h). */
enum wait_stage {
	STAGE_PREPARE, /* no window opens yet */
	STAGE_EARLY,   /* no program is loaded yet, perhaps no target opened: there are no records */
	STAGE_WINDOWS, /* windows open and close */
	STAGE_END,     /* the last window is over: a stop request, and the target's end, end no wait by themselves */
};

struct wait {
	/* Looks before each turn: WAIT_GOES_ON, WAIT_IS_OVER or a negative errno with err__set, which ends it, too.
	 * It may show progress, and change end_ns and turn_us; it does not wait itself. */
	int (*look)(struct session *s, struct wait *w);
	void *ctx;	      /* of look */
	unsigned int turn_us; /* it looks again after so long at most; look may change it */
	uint64_t end_ns;      /* CLOCK_MONOTONIC; it is over by then in any case; 0: no such time */
	enum wait_stage stage;
};

/*
 * 0: it is over, or it is end_ns; -EINTR when asked to stop (at the end: asked twice), -ESRCH when the target is gone,
 * or the first error of look, of a component or of the records' way to the file. Not to be called from a look or a
 * component's poll.
 */
int session__wait(struct session *s, struct wait *w);

#endif
