/* SPDX-License-Identifier: BSD-2-Clause */
/* How much of the steps' time a device is idle. */
#ifndef PROFTRACE_DEVICE_IDLE_H
#define PROFTRACE_DEVICE_IDLE_H

#include "analysis/analysis.h"

/* A device that is idle for so many percent of the step does not limit it. */
#define DEVICE_IDLE_PERCENT 20.0
/* The steps' time in which the busiest device is idle. All of it if no device was seen. */
uint64_t device_idle__ns(const struct analysis *a);

#endif
