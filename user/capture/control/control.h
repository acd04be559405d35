/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A session under command: `proftrace ctl` starts, pauses, dumps and ends its windows. They open
 * and close at steps, like those of a schedule. If no steps are seen they do so at once (timed.h).
 * `start` and `pause` take over from the schedule. It answers from the session's first moment
 * (control_early.h: before the probes are attached).
 */
#ifndef PROFTRACE_CONTROL_H
#define PROFTRACE_CONTROL_H

struct session;

/* Begins to listen; a session that cannot, as another one of the same process listens, says so and
 * goes on. With --paused no window opens before `start`, so there it is an error: a negative errno
 * with err__set. */
int control__open(struct session *s);
/* The programs are loaded: what was asked for before is theirs. */
void control__loaded(struct session *s);
void control__close(struct session *s);
/* Obeys what has been asked since, and --dump-every. */
void control__pump(struct session *s);

#endif
