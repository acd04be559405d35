/* SPDX-License-Identifier: BSD-2-Clause */
/* How much of the steps a device has nothing to do. */
#ifndef PROFTRACE_DEVICE_IDLE_H
#define PROFTRACE_DEVICE_IDLE_H

#include "analysis/analysis.h"

/* A device that is idle for so much of the step, percent, is no limit of it. */
#define DEVICE_IDLE_PERCENT 20.0
/* What the busiest device leaves of the steps; all of them if none was seen. */
uint64_t device_idle__ns(const struct analysis *a);

#endif
