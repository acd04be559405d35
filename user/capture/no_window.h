/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages when no window opens: the cause, the steps seen until then, and the next command. */
#ifndef PROFTRACE_NO_WINDOW_H
#define PROFTRACE_NO_WINDOW_H

#include "capture/session.h"

/* Returns for example "31 steps were seen, 12 of them before step 0". The session's result keeps the text. */
const char *no_window__seen(const struct session *s);

/* Call if no step was found. Returns 0 if the window needs no steps, else a negative errno with err__set. */
int no_window__steps(struct session *s);

/* Call if the session ended with `err` (0: its time was up) before a window opened. Returns a negative errno with
 * err__set. */
int no_window__recorded(const struct session *s, int err);

#endif
