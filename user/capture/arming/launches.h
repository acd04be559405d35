/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shows which functions launch work on the device, while proftrace measures which functions are worth a probe. If
 * probes see the calls of CUDA, they show it already. If CUPTI sees them, nothing shows it before the window. Then
 * launches, copies and sets get probes that only count.
 */
#ifndef PROFTRACE_LAUNCHES_H
#define PROFTRACE_LAUNCHES_H

#include "capture/session.h"

int launches__watch(struct session *s);
void launches__unwatch(struct session *s);

#endif
