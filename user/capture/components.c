// SPDX-License-Identifier: BSD-2-Clause
/* The parts of a session, and the order in which they are called. */
#include "capture/component.h"
#include "common/util.h"

extern const struct component component_children, component_records, component_long_names,
	component_scheduler, component_scheduler_sums, component_file, component_faults,
	component_probe_cost, component_left_out, component_notes, component_stacks,
	component_losses, component_device_times, component_target, component_device_calls,
	component_return_sites, component_writing, component_step_cost, component_window_file,
	component_window_end, component_residency, component_optimizer_step,
	component_device_library, component_timed, component_ranks, component_device_start,
	component_control;

/* The order matters where a reason stands. */
const struct component *const session_components[] = {
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
	&component_device_start, /* CUPTI's first start takes longest */
	&component_device_times, /* before a window is closed for good: its activities belong to it
				  */
	&component_target,
	&component_device_calls, /* probes take over where CUPTI is another tool's by now */
	&component_return_sites, /* places that calls return to, seen since the last turn */
	&component_writing,	 /* once nothing asks the decoder for its counts any more */
	&component_step_cost,
	&component_window_file, /* nothing else may come for that window */
	&component_window_end,	/* before probes may go: whether a window is open */
	&component_residency,
	&component_optimizer_step,
	&component_device_library, /* behind the probes: whether the library is wanted */
	&component_timed,	   /* opens the next window when both are ready */
	&component_ranks,	   /* last to be prepared: this one is ready then */
	&component_control,	   /* what is due is done: an answer tells of it */
	NULL,
};
_Static_assert(ARRAY_SIZE(session_components) <= COMPONENTS_MAX + 1,
	       "struct session has a time for each");
