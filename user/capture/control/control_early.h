/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `proftrace ctl` is told while a session waits for its time (--start-after, --start-at), for a
 * framework, or attaches: no window can be open yet.
 */
#ifndef PROFTRACE_CONTROL_EARLY_H
#define PROFTRACE_CONTROL_EARLY_H

#include <stdbool.h>
#include <stddef.h>
#include "capture/control/control_socket.h"

struct session;

/* Is the session that far yet? */
bool control_early__is(const struct session *s);
/* "waiting to start, in 12 s" */
void control_early__state(const struct session *s, char *out, size_t size);
/* start, resume, pause, dump or reset: obeyed, or why not. */
bool control_early__obey(struct session *s, enum control_verb verb, char *out, size_t size);

#endif
