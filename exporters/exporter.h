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
	int gzip_level;	     /* 0 plain .. 9, -1: the format's default */
	/* Options of the format's own (NULL: its default), where exporter.config is set. */
	const char *config;
	/* Of the text, before it is compressed; 0: none; where exporter.limits is set. */
	uint64_t limit_bytes;
	bool raw_csv; /* texts of CSV as they are, those too that a spreadsheet would run */
};

struct export_result {
	char path[4096]; /* what was written */
	uint64_t events;
	uint64_t bytes;
	/* chrome: work of devices in the trace, and how much of it HTA rounds to -1 us */
	uint64_t device_events, negative_in_hta;
};

struct exporter {
	const char *name;     /* as in --format */
	const char *summary;  /* one line of help */
	const char *dialects; /* one line of help, NULL: it has only one */
	const char *config;   /* one line of help, NULL: it has no options of its own */
	bool binary;	      /* nothing to show on a terminal */
	bool limits;	      /* it knows limit_bytes */
	/* 0 or a negative errno. Streams: memory does not grow with the number of events. */
	int (*run)(const struct recording *r, const struct export_opts *opts,
		   struct export_result *result);
};

/* NULL-terminated list of all exporters; find returns NULL for an unknown name. */
const struct exporter *const *exporters__all(void);
const struct exporter *exporter__find(const char *name);

#endif
