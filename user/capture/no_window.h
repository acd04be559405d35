/* SPDX-License-Identifier: BSD-2-Clause */
/* Where no window comes: why, what was seen until then, and what to try next. */
#ifndef PROFTRACE_NO_WINDOW_H
#define PROFTRACE_NO_WINDOW_H

#include "capture/session.h"

/* "31 steps were seen, 12 of them before step 0"; kept in the session's result. */
const char *no_window__seen(const struct session *s);

/* No step was found. 0: the window can do without; or a negative errno with err__set. */
int no_window__steps(struct session *s);

/* The session ended with `err` (0: its time was up) before a window opened: a negative errno with
 * err__set. */
int no_window__recorded(const struct session *s, int err);

#endif
