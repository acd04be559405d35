/* SPDX-License-Identifier: BSD-2-Clause */
/* The ranks of one job side by side: where each spends its steps, and for which rank the others
 * wait. */
#ifndef PROFTRACE_ANALYSIS_JOB_H
#define PROFTRACE_ANALYSIS_JOB_H

#include "analysis/report.h"

/*
 * Prints one report of several recordings, one per rank: the tables "ranks" and "straggler", then
 * the tables of opts->tables for each rank. As JSON it is one object, with these tables under
 * "recordings": [{"rank", "path", "tables"}]. 0 or a negative errno.
 */
int job__print(const char *const *paths, size_t cnt, const struct report_opts *opts, FILE *out);

#endif
