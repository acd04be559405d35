// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/tables/own_cost.h"
#include "common/json_number.h"
#include <math.h>

#define IN_95_PERCENT 1.96 /* standard errors on each side */

/* All steps, those with lost events, too. */
uint64_t own_cost__steps(const struct analysis *a)
{
	return a->steps.calls ? a->last_step - a->first_step + 1 : 0;
}

const json_t *own_cost__json(const struct analysis *a)
{
	return json_object_get(recording__summary(a->r), "cost");
}

/* The base of the probes' cost: the run time of the steps' thread in the window, or of the process
 * if there are no steps. Older recordings do not have it. For them it is the window, or, if the
 * target ended, the steps, because the end may take long. */
uint64_t own_cost__paid_ns(const struct analysis *a)
{
	const json_t *loss = json_object_get(recording__summary(a->r), "loss");
	const uint64_t run_ns = json__positive(own_cost__json(a), "run_ns");

	if (run_ns)
		return run_ns;
	if (!a->steps.calls || !json_is_true(json_object_get(loss, "target_gone")))
		return analysis__window_ns(a);
	return a->steps.cpu.total / a->steps.calls * own_cost__steps(a);
}

/* The measurement compares steps with and without probes. Steps without them still have the probes
 * that count steps, so the cost of these is estimated and added. */
struct measured_cost own_cost__measured(const struct analysis *a)
{
	const json_t *json = json_object_get(own_cost__json(a), "measured");
	const double stays = own_cost__steps(a)
				     ? (double)json__positive(own_cost__json(a), "stays_ns") /
					       (double)own_cost__steps(a)
				     : 0;

	if (!json)
		return (struct measured_cost){0};
	return (struct measured_cost){
		.with_steps = json__positive(json, "with_steps"),
		.without_steps = json__positive(json, "without_steps"),
		.added_ns = json_number_value(json_object_get(json, "added_ns")) + stays,
		.low_ns = json_number_value(json_object_get(json, "low_ns")) + stays,
		.high_ns = json_number_value(json_object_get(json, "high_ns")) + stays,
	};
}

/* The estimate by probe hits. Older recordings have no interval. */
struct added_cost own_cost__estimated(const struct analysis *a)
{
	const json_t *cost = own_cost__json(a);

	return (struct added_cost){
		.ns = (double)json__positive(cost, "probe_ns"),
		.low_ns = (double)json__positive(cost, "probe_low_ns"),
		.high_ns = (double)json__positive(cost, "probe_high_ns"),
		.has_interval = json_object_get(cost, "probe_high_ns"),
	};
}

static double variance(const struct added_cost *x)
{
	const double half = (x->high_ns - x->low_ns) / 2 / IN_95_PERCENT;

	return fmax(half * half, 1);
}

/* Weighs each by the inverse of its variance. The result is at least the low end of the estimate by
 * hits. */
static struct added_cost weighted(const struct added_cost *estimated,
				  const struct added_cost *measured)
{
	const double e = 1 / variance(estimated), m = 1 / variance(measured);
	const double ns = (estimated->ns * e + measured->ns * m) / (e + m);
	const double half = IN_95_PERCENT / sqrt(e + m), least = estimated->low_ns;

	return (struct added_cost){fmax(ns, least), fmax(ns - half, least), fmax(ns + half, least),
				   true};
}

static struct added_cost clamped(const struct added_cost *estimated,
				 const struct added_cost *measured)
{
	struct added_cost x = *estimated;

	x.ns = fmax(fmin(fmax(x.ns, measured->low_ns), measured->high_ns), 0);
	return x;
}

struct added_cost own_cost__added(const struct analysis *a)
{
	const struct added_cost estimated = own_cost__estimated(a);
	const struct measured_cost m = own_cost__measured(a);
	const double steps = (double)own_cost__steps(a);
	const struct added_cost measured = {steps * m.added_ns, steps * m.low_ns, steps * m.high_ns,
					    true};

	if (!m.without_steps || steps <= 0)
		return estimated;
	return estimated.has_interval ? weighted(&estimated, &measured)
				      : clamped(&estimated, &measured);
}

uint64_t own_cost__added_ns(const struct analysis *a)
{
	return (uint64_t)own_cost__added(a).ns;
}
