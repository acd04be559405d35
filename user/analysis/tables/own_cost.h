/* SPDX-License-Identifier: BSD-2-Clause */
/* The time that the recording added to the job, as far as it is known. */
#ifndef PROFTRACE_OWN_COST_H
#define PROFTRACE_OWN_COST_H

#include <jansson.h>
#include "analysis/analysis.h"

/* Added time per step, measured on the job's own steps with and without probes. */
struct measured_cost {
	uint64_t with_steps, without_steps; /* 0: it was not measured */
	double added_ns, low_ns,
		high_ns; /* 95 % interval; it may be negative, as machines are noisy */
};

/* Added time of the window in ns, with its 95 % interval. */
struct added_cost {
	double ns, low_ns, high_ns;
	bool has_interval;
};

/* The recording's JSON object about cost. NULL: it has none. */
const json_t *own_cost__json(const struct analysis *a);
/* All steps, those with lost events, too. */
uint64_t own_cost__steps(const struct analysis *a);
/* The time of which the cost is a share. */
uint64_t own_cost__paid_ns(const struct analysis *a);
struct measured_cost own_cost__measured(const struct analysis *a);
struct added_cost own_cost__estimated(const struct analysis *a);
/* Estimate and measurement, weighted. */
struct added_cost own_cost__added(const struct analysis *a);
uint64_t own_cost__added_ns(const struct analysis *a);
/* Adds the three lines about loss and cost. 0 or -ENOMEM. */
int own_cost__add_lines(const struct analysis *a, struct table *t);

#endif
