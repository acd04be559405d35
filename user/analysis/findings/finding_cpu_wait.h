/* SPDX-License-Identifier: BSD-2-Clause */
/* The thread of the steps is ready to run, but has no processor. */
#ifndef PROFTRACE_FINDING_CPU_WAIT_H
#define PROFTRACE_FINDING_CPU_WAIT_H

#include "analysis/analysis.h"

/* Does finding_cpu_wait report? That is: is the share of time without a processor large enough? */
bool cpu_wait__is_said(const struct analysis *a);

#endif
