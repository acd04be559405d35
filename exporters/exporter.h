/* SPDX-License-Identifier: BSD-2-Clause */
/* One output format is one file here and one row in exporters/registry.c. */
#ifndef PROFTRACE_EXPORTER_H
#define PROFTRACE_EXPORTER_H

#include <stdbool.h>
#include <stdint.h>

struct recording;

struct export_opts {
	/* file or directory; "-": standard output; NULL: the default name in the current directory
	 */
	const char *output;
	const char *dialect; /* format-specific variant, NULL: default */
	int gzip_level;	     /* 0 (plain) to 9, -1: the format's default */
	/* The format's own options, if exporter.config is set. NULL: its default. */
	const char *config;
	/* Size limit of the uncompressed text, if exporter.limits is set. 0: none. */
	uint64_t limit_bytes;
	bool raw_csv; /* CSV texts stay as they are, even those that a spreadsheet would run */
};

struct export_result {
	char path[4096]; /* where the export was written */
	uint64_t events;
	uint64_t bytes;
	/* chrome: device work in the trace, and the part of it that HTA rounds to -1 us */
	uint64_t device_events, negative_in_hta;
};

struct exporter {
	const char *name;     /* as in --format */
	const char *summary;  /* one line of help */
	const char *dialects; /* one line of help, NULL: there is only one dialect */
	const char *config;   /* one line of help, NULL: no options of its own */
	bool binary;	      /* binary: not to be printed on a terminal */
	bool limits;	      /* it supports limit_bytes */
	/* 0 or a negative errno. It streams, so memory does not grow with the number of events. */
	int (*run)(const struct recording *r, const struct export_opts *opts,
		   struct export_result *result);
};

/* All exporters, NULL-terminated. find returns NULL for an unknown name. */
const struct exporter *const *exporters__all(void);
const struct exporter *exporter__find(const char *name);

#endif
