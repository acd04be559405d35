/* SPDX-License-Identifier: BSD-2-Clause */
/* Where an export goes, by one rule for all formats. */
#ifndef PROFTRACE_OUTPUT_H
#define PROFTRACE_OUTPUT_H

#include "exporters/exporter.h"

/*
 * Chooses result->path and the level of compression. `-o DIR` or nothing: HOST_PID[.WINDOW] and the
 * format's extension (".folded"), with ".gz" if it is compressed. `-o -`: standard output. `-o
 * FILE`: as given, compressed if it ends in .gz. gzip_default: of the default name.
 */
int output__choose(const struct recording *r, const struct export_opts *opts, const char *extension,
		   int gzip_default, int *gzip_level, struct export_result *result);

/* 0 if opts asks for no dialect, or -EINVAL with err__set, for formats that have only one. */
int output__no_dialect(const struct export_opts *opts, const char *format);

#endif
