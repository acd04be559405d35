/* SPDX-License-Identifier: BSD-2-Clause */
/* --html: the page of a recording, by `report` and beside a capture. */
#ifndef PROFTRACE_HTML_PAGE_H
#define PROFTRACE_HTML_PAGE_H

#include "cli/record_options.h"
#include "recording/recording.h"

/* Writes it and says so. path "-": standard output. 0 or a negative errno with err__set. */
int html_page__write(const struct recording *r, const struct report_opts *opts, const char *path);

/* Before a capture: can the page be written where --html says, and is there one file for each
 * recording? 0 or a negative errno with err__set. */
int html_page__check(const struct record_options *o);
/* Of the recording at recording_path; nothing without --html. */
int html_page__write_live(const struct record_options *o, const struct recording *r,
			  const char *recording_path);

#endif
