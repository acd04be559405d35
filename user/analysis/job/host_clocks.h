/* SPDX-License-Identifier: BSD-2-Clause */
/* The clocks of a job's hosts, which may differ. Collectives say by how much. */
#ifndef PROFTRACE_HOST_CLOCKS_H
#define PROFTRACE_HOST_CLOCKS_H

#include "analysis/job/job_ranks.h"

/* What to add to a recording's times for its host's wall clock. */
uint64_t host_clocks__recorded_ns(const struct recording *r);
/* How far the wall clock of r is ahead of that of the other recording. Recordings of one host have
 * one clock: 0 by no collectives. 0 or a negative errno. */
int host_clocks__compare(struct recording *other, struct recording *r,
			 struct clock_offset *out);
/* Corrects the clocks of all hosts to that of the first member's. Hosts are told apart by name and
 * by clock. 0 or -ENOMEM. */
int host_clocks__correct(struct job *j);
/* Adds a note for each host that has another clock. 0 or -ENOMEM. */
int host_clocks__describe(const struct job *j, struct table *t);

#endif
