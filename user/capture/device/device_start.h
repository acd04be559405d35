/* SPDX-License-Identifier: BSD-2-Clause */
/* Waits for our library in the target: before the first window, and after the last one. */
#ifndef PROFTRACE_DEVICE_START_H
#define PROFTRACE_DEVICE_START_H

struct session;

/* Waits for the activities of the last window, which has closed. Returns 0, -EINTR after a second stop request, or
 * another negative errno. */
int device_start__await_end(struct session *s);

#endif
