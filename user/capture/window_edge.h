/* SPDX-License-Identifier: BSD-2-Clause */
/* The step at which a window opens or closes. */
#ifndef PROFTRACE_WINDOW_EDGE_H
#define PROFTRACE_WINDOW_EDGE_H

#include "capture/session.h"

/* The one that s->records.edge tells of: closes the window, or finishes the file of one that has closed and opens the
 * next. May wait for the disk and for other processes: not from a callback. 0 or a negative errno, which is in
 * s->records.err too. */
int window_edge__take(struct session *s);

#endif
