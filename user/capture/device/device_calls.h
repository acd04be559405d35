/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls of a device's interface by probes, in the life of a session: what there is where CUPTI cannot
 * or may not be used. Does nothing where it is. */
#ifndef PROFTRACE_DEVICE_CALLS_H
#define PROFTRACE_DEVICE_CALLS_H

#include "capture/session.h"

/* Plans the libraries that are loaded, before the programs are. */
int device_calls__plan(struct session *s);
/* Libraries are loaded when the process first uses the device, which may be now: attaches to what
 * is new. */
int device_calls__look(struct session *s);
/* Before steps are counted. */
int device_calls__prepare(struct session *s);
/* The same now and then, as long as no window is open. */
int device_calls__poll(struct session *s);

/* Adds "device" to the summary, and what is not known to its notes. */
void device_calls__summary(struct session *s, json_t *summary);

#endif
