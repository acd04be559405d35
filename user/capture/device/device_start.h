/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a session waits for our library in the target: before the first window, and behind the last. */
#ifndef PROFTRACE_DEVICE_START_H
#define PROFTRACE_DEVICE_START_H

struct session;

/* Waits for the last activities of a window that has closed. 0 or a negative errno. */
int device_start__await_end(struct session *s);

#endif
