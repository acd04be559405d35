// SPDX-License-Identifier: BSD-2-Clause
/* The parts of a session, and the order in which they are called. */
#include "capture/session.h"
#include "common/util.h"

extern const struct component component_children, component_records, component_long_names,
	component_scheduler, component_scheduler_sums, component_file, component_faults,
	component_probe_cost, component_left_out, component_notes, component_stacks,
	component_losses, component_device_times, component_target, component_device_calls,
	component_return_sites, component_writing, component_step_cost, component_window_file,
	component_window_end, component_residency, component_optimizer_step,
	component_device_library, component_timed, component_ranks;

/* The order matters where a reason stands. */
static const struct component *const components[] = {
	&component_children, /* a child's first calls are seen if it gets its probes at once */
	&component_records,  /* before all that ends a window: what is still open belongs to it */
	&component_long_names,
	&component_scheduler, /* its ring grows before it is full */
	&component_scheduler_sums,
	&component_file,
	&component_faults,
	&component_probe_cost,
	&component_left_out,
	&component_notes, /* before the device, which adds to them */
	&component_stacks,
	&component_losses,	 /* the same */
	&component_device_times, /* before a window is closed for good: its activities belong to it
				  */
	&component_target,
	&component_device_calls, /* probes take over where CUPTI is another tool's by now */
	&component_return_sites, /* places that calls return to, seen since the last turn */
	&component_writing,	 /* once nothing asks the decoder for its counts any more */
	&component_step_cost,	 /* of the last window: watches steps behind it, when no record is
				    written any more */
	&component_window_file,	 /* nothing else may come for that window */
	&component_window_end,	 /* before probes may go: whether a window is open */
	&component_residency,
	&component_optimizer_step,
	&component_device_library, /* behind the probes: whether the library is wanted */
	&component_timed,	   /* opens the next window when both are ready */
	&component_ranks,	   /* last to be prepared: this one is ready then */
};
_Static_assert(ARRAY_SIZE(components) <= COMPONENTS_MAX, "struct session has a time for each");

static bool is_due(struct session *s, size_t i, uint64_t now_ns)
{
	const uint64_t every_ns = components[i]->every_ms * 1000000ull;

	if (now_ns - s->turn.polled_ns[i] < every_ns)
		return false;
	s->turn.polled_ns[i] = now_ns;
	return true;
}

int components__prepare(struct session *s)
{
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(components) && !err; i++)
		if (components[i]->prepare)
			err = components[i]->prepare(s);
	return err;
}

int components__poll(struct session *s)
{
	const uint64_t now_ns = clock__monotonic_ns();
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(components) && !err; i++)
		if (components[i]->poll && is_due(s, i, now_ns))
			err = components[i]->poll(s);
	return err;
}

int components__poll_windows(struct session *s)
{
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(components) && !err; i++)
		if (components[i]->poll_windows)
			err = components[i]->poll_windows(s);
	return err;
}

void components__window_open(struct session *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(components); i++)
		if (components[i]->window_open)
			components[i]->window_open(s);
}

void components__window_close(struct session *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(components); i++)
		if (components[i]->window_close)
			components[i]->window_close(s);
}

int components__window_finish(struct session *s, json_t *summary)
{
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(components) && !err; i++)
		if (components[i]->window_finish)
			err = components[i]->window_finish(s, summary);
	return err;
}

void components__describe(struct session *s, json_t *summary)
{
	for (size_t i = 0; i < ARRAY_SIZE(components); i++)
		if (components[i]->describe)
			components[i]->describe(s, summary);
}
