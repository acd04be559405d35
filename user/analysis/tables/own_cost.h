/* SPDX-License-Identifier: BSD-2-Clause */
/* What the recording added to the job, as far as it is known. */
#ifndef PROFTRACE_OWN_COST_H
#define PROFTRACE_OWN_COST_H

#include <jansson.h>
#include "analysis/analysis.h"

/* Added time of a step as the job's own steps with and without probes show it. */
struct measured_cost {
	uint64_t with_steps, without_steps; /* 0: it was not measured */
	double added_ns, low_ns,
		high_ns; /* 95 % interval; the machine's noise may make it negative */
};

/* Of the window, with its 95 % interval, in nanoseconds. */
struct added_cost {
	double ns, low_ns, high_ns;
	bool has_interval;
};

/* The recording's own object; NULL: it has none. */
const json_t *own_cost__json(const struct analysis *a);
/* Of all steps, those that were lost too. */
uint64_t own_cost__steps(const struct analysis *a);
/* The time that the share is of. */
uint64_t own_cost__paid_ns(const struct analysis *a);
struct measured_cost own_cost__measured(const struct analysis *a);
struct added_cost own_cost__estimated(const struct analysis *a);
/* Estimate and measurement, weighted. */
struct added_cost own_cost__added(const struct analysis *a);
uint64_t own_cost__added_ns(const struct analysis *a);
/* Loss and cost in three lines. 0 or -ENOMEM. */
int own_cost__add_lines(const struct analysis *a, struct table *t);

#endif
