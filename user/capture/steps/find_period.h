/* SPDX-License-Identifier: BSD-2-Clause */
/* Of a job that shows no other sign of steps: the operator that opens each repetition of its calls. */
#ifndef PROFTRACE_FIND_PERIOD_H
#define PROFTRACE_FIND_PERIOD_H

struct session;

/* Looks at the calls of a burst, and of those before; s->rule has a boundary if that was enough. */
int find_period__look(struct session *s);
/* Leaves out the probes that only find a period, from the next attach of their group on. */
void find_period__hide_probes(struct session *s);

#endif
