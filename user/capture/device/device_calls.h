/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls of a device's interface by probes, in the life of a session: what there is where CUPTI cannot
 * or may not be used. Does nothing where it is. */
#ifndef PROFTRACE_DEVICE_CALLS_H
#define PROFTRACE_DEVICE_CALLS_H

#include "capture/session.h"

/* Plans the libraries that are loaded, before the programs are. */
int device_calls__plan(struct session *s);

#endif
