/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of jobs once, for programs and pipes. */
#ifndef PROFTRACE_TOP_PRINT_H
#define PROFTRACE_TOP_PRINT_H

#include <stdbool.h>
#include <stdio.h>
#include "top/job_list.h"

enum top_format { TOP_TABLE, TOP_JSON, TOP_CSV };

struct top_print_opts {
	int format; /* enum top_format */
	int width;  /* of the table; 0: 80 */
	bool ascii, raw_csv;
};

/* 0, -ENOMEM, or -EIO with err__set. */
int top_print__jobs(const struct job_list *l, const struct top_print_opts *o, FILE *out);

#endif
