/* SPDX-License-Identifier: BSD-2-Clause */
/* The thread of the steps is ready to run, but has no processor. */
#ifndef PROFTRACE_FINDING_CPU_WAIT_H
#define PROFTRACE_FINDING_CPU_WAIT_H

#include "analysis/analysis.h"

/* That without a processor is so much of the steps that finding_cpu_wait speaks. */
bool cpu_wait__is_said(const struct analysis *a);

#endif
