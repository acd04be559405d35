/* SPDX-License-Identifier: BSD-2-Clause */
/* Handles the end of a step, and of earlier steps whose records were lost. */
#ifndef PROFTRACE_STEP_END_H
#define PROFTRACE_STEP_END_H

#include "bpf/events.h"
#include "capture/session.h"

/* Writes the step into the window, if one is open. Does not wait. Returns 0 or a negative errno. */
int step_end__of(struct session *s, const struct pt_rec_step *r);

#endif
