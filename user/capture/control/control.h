/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A session under command: `proftrace ctl` starts, pauses, dumps and ends its windows. Windows open and close at steps,
 * like those of a schedule. Without steps they open and close at once (timed.h). `start` and `pause` override the
 * schedule. The session answers from its first moment on (control_early.h: before the probes are attached).
 */
#ifndef PROFTRACE_CONTROL_H
#define PROFTRACE_CONTROL_H

struct session;

/* Begins to listen. If another session of the same process listens, prints a warning and returns 0. With --paused no
 * window opens before `start`, so this is an error: returns a negative errno with err__set. */
int control__open(struct session *s);
/* Call when the programs are loaded: passes earlier requests to them. */
void control__loaded(struct session *s);
void control__close(struct session *s);
/* Handles the requests that have come, and --dump-every. */
void control__pump(struct session *s);

#endif
