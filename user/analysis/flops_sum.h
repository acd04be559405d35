/* SPDX-License-Identifier: BSD-2-Clause */
/* Floating point operations summed over calls, and their columns in a table. */
#ifndef PROFTRACE_FLOPS_SUM_H
#define PROFTRACE_FLOPS_SUM_H

#include "analysis/analysis.h"
#include "analysis/flops.h"

/* Of which names which formula; zeroed before use. */
struct flops_names {
	uint8_t *formulas; /* enum flops_formula by name */
};
int flops_names__load(struct flops_names *names, const struct recording *r); /* 0 or -ENOMEM */
void flops_names__free(struct flops_names *names);

struct flops_sum {
	uint64_t flops;
	uint64_t known, unknown; /* calls */
};
void flops_sum__add(struct flops_sum *sum, const struct flops_names *names,
		    const struct recording *r, const struct event *call);

/* Is there anything to say? Without shapes nothing is known, nor was asked for. */
bool flops_sum__shown(const struct flops_sum *sum, const struct recording *r);
struct cell flops_sum__cell(const struct flops_sum *sum);
/* A second, by the time of the work that the calls gave to a device, if they gave any. */
struct cell flops_sum__rate(const struct flops_sum *sum, const struct stat *calls);
/* What is in the columns, and of how many calls it is not known. */
int flops_sum__note(const struct recording *r, uint64_t unknown, struct table *t);

#endif
