/* SPDX-License-Identifier: BSD-2-Clause */
/* The ranks of one job side by side: where each spends its steps, and for which the others wait. */
#ifndef PROFTRACE_ANALYSIS_JOB_H
#define PROFTRACE_ANALYSIS_JOB_H

#include "analysis/report.h"

/*
 * One report of several recordings, one per rank: the tables "ranks" and "straggler", then those of
 * opts->tables for each rank. In JSON it is one object, the latter under "recordings": [{"rank",
 * "path", "tables"}]. 0 or a negative errno.
 */
int job__print(const char *const *paths, size_t cnt, const struct report_opts *opts, FILE *out);

#endif
