/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which functions give the device work, while it is observed which are worth a probe. Where probes
 * see the calls of CUDA, theirs tell; where CUPTI does, nothing tells before the window, and the
 * launches, copies and sets have probes for these steps that only count.
 */
#ifndef PROFTRACE_LAUNCHES_H
#define PROFTRACE_LAUNCHES_H

#include "capture/session.h"

int launches__watch(struct session *s);
void launches__unwatch(struct session *s);

#endif
