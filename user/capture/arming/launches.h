/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which functions give the device work, while it is observed which are worth a probe. If probes see
 * the calls of CUDA, these show it. If CUPTI does, nothing shows it before the window. Then
 * launches, copies and sets have probes for these steps that only count.
 */
#ifndef PROFTRACE_LAUNCHES_H
#define PROFTRACE_LAUNCHES_H

#include "capture/session.h"

int launches__watch(struct session *s);
void launches__unwatch(struct session *s);

#endif
