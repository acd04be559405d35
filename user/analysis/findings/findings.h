/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What to look at first: the table of findings. A rule that is unsure reports nothing: a healthy
 * job has no findings.
 */
#ifndef PROFTRACE_FINDINGS_H
#define PROFTRACE_FINDINGS_H

#include "analysis/findings/finding.h"

/* The table's columns, and one row. 0 or -ENOMEM. */
int findings_table__begin(struct table *t);
int findings_table__add(struct table *t, const struct finding *f, const char *rule,
			uint64_t step_ns);
/* Finds what the report of this recording begins with, in a pass of its own. 1 with *f and the rule
 * that found it; 0: nothing was found; or a negative errno. */
int findings__first(const struct recording *r, const struct report_opts *opts, struct finding *f,
		    const struct finding_rule **rule);

/* The rule "straggler", for several recordings. 0 or a negative errno. */
struct job;
struct straggler;
int finding_straggler__fill(const struct job *j, const struct straggler *s, struct table *t);

#endif
