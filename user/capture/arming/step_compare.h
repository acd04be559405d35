/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs some steps after the last window without the probes of operators. */
#ifndef PROFTRACE_STEP_COMPARE_H
#define PROFTRACE_STEP_COMPARE_H

struct session;

/* Detaches these probes and waits for some steps, for at most a second. Fills s->step_cost.without. Call when the
 * window is complete and not yet written. */
void step_compare__watch(struct session *s);

#endif
