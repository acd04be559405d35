/* SPDX-License-Identifier: BSD-2-Clause */
/* Some steps behind the last window, without the probes that steps do not need. */
#ifndef PROFTRACE_STEP_COMPARE_H
#define PROFTRACE_STEP_COMPARE_H

struct session;

/* Takes these probes out and waits for some steps, a second at most: s->step_cost.without. The window is settled and
 * not yet written. */
void step_compare__watch(struct session *s);

#endif
