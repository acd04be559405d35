/* SPDX-License-Identifier: BSD-2-Clause */
/* --html: writes the page of a recording, for `report` and after a capture. */
#ifndef PROFTRACE_HTML_PAGE_H
#define PROFTRACE_HTML_PAGE_H

#include "cli/record_options.h"
#include "recording/recording.h"

/* Writes the page and reports it. path "-": standard output. 0 or a negative errno with
 * err__set. */
int html_page__write(const struct recording *r, const struct report_opts *opts, const char *path);

/* Before a capture: can the page be written to the place of --html, and does each recording get its
 * own file? 0 or a negative errno with err__set. */
int html_page__check(const struct record_options *o);
/* Writes the page of the recording at recording_path. Does nothing without --html. */
int html_page__write_live(const struct record_options *o, const struct recording *r,
			  const char *recording_path);

#endif
