// SPDX-License-Identifier: BSD-2-Clause
/* Describes the functions without a probe in the window's summary. */
#include "capture/session.h"

/* Steps of all threads in the window, per counted step. */
static double begun_by_all(const struct session *s)
{
	const uint64_t steps = s->window.end_step - s->window.first_step;
	const uint64_t beside = s->probes.ctl->aside_beside - s->before.beside;

	return steps ? (double)(steps + beside) / (double)steps : 1;
}

/* CPU time of the process in the window. Estimated from its earlier share if the process has
 * ended. */
static double run_seconds(const struct session *s)
{
	const double window_ns = (double)(s->window.close_ns - s->window.open_ns);

	return (s->step_cost.run_ns ? (double)s->step_cost.run_ns
				    : window_ns * s->pruned.timed.run_share) /
	       1e9;
}

/* Numbers per step. Without steps: expected numbers of the whole window. */
static json_t *pruned_json(const struct session *s, const struct pruned_probe *drop)
{
	const bool by_time = s->pruned.timed.ns;
	const double units = by_time ? run_seconds(s) : begun_by_all(s);

	return json_pack("{s:s, s:b, s:b, s:f, s:f, s:f, s:f, s:I}", "name", drop->name, "is_node",
			 drop->kind == PRUNED_NODE, "is_call", drop->kind == PRUNED_CALL,
			 by_time ? "calls" : "calls_per_step", drop->per_step * units, "avg_ns",
			 drop->avg_ns, by_time ? "inner_calls" : "inner_calls_per_step",
			 drop->inner_per_step * units, "inner_avg_ns", drop->inner_avg_ns,
			 by_time ? "measured_ns" : "steps",
			 (json_int_t)(by_time ? s->pruned.timed.ns : drop->steps));
}

/* A pruned device call is listed only if probes see the device calls. Otherwise CUPTI shows the
 * call. */
static void describe(struct session *s, json_t *summary)
{
	json_t *array = json_array();

	for (size_t i = 0; i < s->pruned.cnt; i++)
		if (s->pruned.list[i].kind != PRUNED_CALL || s->calls_on)
			json_array_append_new(array, pruned_json(s, &s->pruned.list[i]));
	json_object_set_new(summary, "dropped_probes", array);
}

const struct component component_left_out = {
	.name = "functions without a probe",
	.describe = describe,
};
