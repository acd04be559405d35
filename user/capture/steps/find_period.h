/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds steps of a job that shows no other sign of steps: the operator that opens each repetition of its calls. */
#ifndef PROFTRACE_FIND_PERIOD_H
#define PROFTRACE_FIND_PERIOD_H

struct session;

/* Looks at the operator calls of a burst, together with earlier bursts. s->rule has a boundary if the calls suffice. */
int find_period__look(struct session *s);
/* Prunes the probes that serve only to find a period. Takes effect at the next attach of their group. */
void find_period__hide_probes(struct session *s);

#endif
