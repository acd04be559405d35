/* SPDX-License-Identifier: BSD-2-Clause */
/* Floating point operations summed over calls, and their columns in a table. */
#ifndef PROFTRACE_FLOPS_SUM_H
#define PROFTRACE_FLOPS_SUM_H

#include "analysis/analysis.h"
#include "analysis/flops.h"

/* Formulas by name. Zeroed before use. */
struct flops_names {
	uint8_t *formulas; /* by name id, an enum flops_formula */
};
int flops_names__load(struct flops_names *names, const struct recording *r); /* 0 or -ENOMEM */
void flops_names__free(struct flops_names *names);

struct flops_sum {
	uint64_t flops;
	uint64_t known, unknown; /* calls */
};
void flops_sum__add(struct flops_sum *sum, const struct flops_names *names,
		    const struct recording *r, const struct event *call);

/* Is there anything to print? Without recorded shapes nothing is known. */
bool flops_sum__shown(const struct flops_sum *sum, const struct recording *r);
struct cell flops_sum__cell(const struct flops_sum *sum);
/* Operations per second of the calls' device time, or of their own time if they have none. */
struct cell flops_sum__rate(const struct flops_sum *sum, const struct stat *calls);
/* Adds a note: the meaning of the columns, and for how many calls the number is unknown. */
int flops_sum__note(const struct recording *r, uint64_t unknown, struct table *t);

#endif
