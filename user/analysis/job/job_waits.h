/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long each rank is in collectives. All ranks end a collective together. So the last rank to
 * begin it spends the least time in it. The difference is how long the others wait for that rank.
 */
#ifndef PROFTRACE_JOB_WAITS_H
#define PROFTRACE_JOB_WAITS_H

#include "analysis/job/job_ranks.h"

/* Sets j->waits_by, and the waits of each member. */
void job_waits__measure(struct job *j);

#endif
