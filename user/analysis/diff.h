/* SPDX-License-Identifier: BSD-2-Clause */
/* Two recordings of one job: what became slower or faster, and whether that is more than chance. */
#ifndef PROFTRACE_DIFF_H
#define PROFTRACE_DIFF_H

#include "analysis/render/table.h"

struct diff_opts {
	bool raw_times;
	const char *const
		*limits; /* for example "step>5%", "backward>10%", "operator:NAME>20%",
			    "kernel:NAME>3%" */
	size_t limit_cnt;
	struct table_style style;
};

/* Checks that text is a limit. 0, or -EINVAL with err__set. */
int diff_limit__check(const char *text);

/*
 * Prints the tables steps, operators and kernels: medians of a step, their difference, and whether
 * it is more than chance (diff/change.h). before, after: a recording, or several separated by
 * commas. *exceeded counts the limits that a significant difference (p < 0.05) or a new name
 * exceeds. Each is reported on stderr. 0 or a negative errno.
 */
int diff__print(const char *before, const char *after, const struct diff_opts *opts, FILE *out,
		size_t *exceeded);

#endif
