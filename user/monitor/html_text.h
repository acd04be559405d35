/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of the monitor's pages. Text is escaped, so a job's name cannot be markup. */
#ifndef PROFTRACE_HTML_TEXT_H
#define PROFTRACE_HTML_TEXT_H

#include <stdio.h>
#include "monitor/job_series.h"

void html_text__put(FILE *out, const char *text);
/* "1.234 ms"; for 0: "-" */
void html_text__put_step(FILE *out, double seconds);
/* Draws the step times of the latest windows as a line from 0. "-" for fewer than two. */
void html_text__put_sparkline(FILE *out, const struct rank_series *r);
/* Draws the phases' shares of the recorded steps as a bar. */
void html_text__put_phases(FILE *out, const struct rank_series *r);

#endif
