/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Answers of `proftrace ctl` before a window can be open. The session then waits for its time (--start-after,
 * --start-at) or for a framework, or it attaches.
 */
#ifndef PROFTRACE_CONTROL_EARLY_H
#define PROFTRACE_CONTROL_EARLY_H

#include <stdbool.h>
#include <stddef.h>
#include "capture/control/control_socket.h"

struct session;

/* Is the session still in this phase? */
bool control_early__is(const struct session *s);
/* "waiting to start, in 12 s" */
void control_early__state(const struct session *s, char *out, size_t size);
/* Handles start, resume, pause, dump or reset. Returns false if it refuses; out has the reason. */
bool control_early__obey(struct session *s, enum control_verb verb, char *out, size_t size);

#endif
