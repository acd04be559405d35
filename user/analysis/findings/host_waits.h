/* SPDX-License-Identifier: BSD-2-Clause */
/* The calls in which the host waits for the device. */
#ifndef PROFTRACE_HOST_WAITS_H
#define PROFTRACE_HOST_WAITS_H

#include "analysis/analysis.h"

/* Does the host wait for the device in this call? Many such calls in a step are more than reading a
 * loss. */
bool span__is_wait(const struct analysis *a, const struct span *s);
#define WAITS_OFTEN 3
/* Does the user's code make the waits on this thread? If a framework runs operators on its own
 * threads (MXNet's engine), these threads wait for the device themselves. step NULL: outside of
 * steps. */
bool host_waits__are_users(const struct analysis *a, const struct step *step,
			   const struct track *t);

#endif
