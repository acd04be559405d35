/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording as one HTML file, which needs no other file and no network. It has findings, tables,
 * charts over time, a flame graph and the timeline of a few steps. Its contents are sums. So the
 * file's size depends on the kinds of events, not on their number.
 */
#ifndef PROFTRACE_PAGE_H
#define PROFTRACE_PAGE_H

#include "analysis/report.h"

/* "-": standard output. opts: as for the tables in text; all tables if opts->tables is NULL.
 * 0 or a negative errno with err__set. *bytes: the file's size. */
int page__write(const struct recording *r, const struct report_opts *opts, const char *path,
		uint64_t *bytes);

#endif
