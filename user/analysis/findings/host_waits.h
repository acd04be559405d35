/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the host waits for the device. */
#ifndef PROFTRACE_HOST_WAITS_H
#define PROFTRACE_HOST_WAITS_H

#include "analysis/analysis.h"

/* A call in which the host waits for the device; so often a step it is more than reading a loss. */
bool span__is_wait(const struct analysis *a, const struct span *s);
#define WAITS_OFTEN 3
/* Are waits on the thread made by the user's code? Where operators run on threads of the framework's own (MXNet's
 * engine), these wait for the device themselves. step NULL: of no step. */
bool host_waits__are_users(const struct analysis *a, const struct step *step,
			   const struct track *t);

#endif
