/* SPDX-License-Identifier: BSD-2-Clause */
/* The end of a step, and those before it whose records were lost. */
#ifndef PROFTRACE_STEP_END_H
#define PROFTRACE_STEP_END_H

#include "bpf/events.h"
#include "capture/session.h"

/* Into the window, if one is open. Does not wait. 0 or a negative errno. */
int step_end__of(struct session *s, const struct pt_rec_step *r);

#endif
