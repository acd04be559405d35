/* SPDX-License-Identifier: BSD-2-Clause */
/* The step at which a window opens or closes. */
#ifndef PROFTRACE_WINDOW_EDGE_H
#define PROFTRACE_WINDOW_EDGE_H

#include "capture/session.h"

/* Handles the edge in s->records.edge. At a close it closes the window. At an open it finishes the file of the closed
 * window and opens the next one. May wait for the disk and for other processes: do not call it from a callback. Returns
 * 0 or a negative errno, which s->records.err has, too. */
int window_edge__take(struct session *s);

#endif
