/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a session waits for our library in the target: before the first window, and behind the last. */
#ifndef PROFTRACE_DEVICE_START_H
#define PROFTRACE_DEVICE_START_H

struct session;

/* Waits for the activities of the last window, which has closed. 0, -EINTR when asked to stop a second time, or
 * another negative errno. */
int device_start__await_end(struct session *s);

#endif
