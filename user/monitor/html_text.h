/* SPDX-License-Identifier: BSD-2-Clause */
/* Pieces of the monitor's pages. Text is escaped, so that a job's name is nothing but text. */
#ifndef PROFTRACE_HTML_TEXT_H
#define PROFTRACE_HTML_TEXT_H

#include <stdio.h>
#include "monitor/job_series.h"

void html_text__put(FILE *out, const char *text);
/* "1.234 ms"; of 0: "-" */
void html_text__put_step(FILE *out, double seconds);
/* Step times of the latest windows as a line, drawn from 0; "-" of less than two. */
void html_text__put_sparkline(FILE *out, const struct rank_series *r);
/* Shares of the recorded steps as a bar. */
void html_text__put_phases(FILE *out, const struct rank_series *r);

#endif
