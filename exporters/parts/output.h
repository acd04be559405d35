/* SPDX-License-Identifier: BSD-2-Clause */
/* Where an export goes, by the same rule for all formats. */
#ifndef PROFTRACE_OUTPUT_H
#define PROFTRACE_OUTPUT_H

#include "exporters/exporter.h"

/*
 * Chooses result->path and the compression level. `-o DIR` or nothing: HOST_PID[.WINDOW] with the
 * format's extension (".folded"), and ".gz" if compressed. `-o -`: standard output. `-o FILE`: as
 * given, compressed if it ends in .gz. gzip_default: for the default name.
 */
int output__choose(const struct recording *r, const struct export_opts *opts, const char *extension,
		   int gzip_default, int *gzip_level, struct export_result *result);

/* For formats with one dialect: 0 if opts has no dialect, else -EINVAL with err__set. */
int output__no_dialect(const struct export_opts *opts, const char *format);

#endif
