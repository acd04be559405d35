// SPDX-License-Identifier: BSD-2-Clause
/* The components of a session, in the order of the calls. */
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

/* The order matters at each line with a comment. */
const struct component *const session_components[] = {
	/* first: a child's first calls are seen only if it gets probes at once */
	&component_children,
	&component_records, /* before all components that end a window: open spans belong to it */
	&component_long_names,
	&component_scheduler, /* enlarges its ring before the ring is full */
	&component_scheduler_sums,
	&component_file,
	&component_faults,
	&component_probe_cost,
	&component_left_out,
	&component_notes, /* before the device, which adds notes */
	&component_stacks,
	&component_losses,	 /* before the device, which adds losses */
	&component_device_start, /* early: CUPTI's first start takes longest */
	&component_device_times, /* before window_file: the window's activities belong to it */
	&component_target,
	&component_device_calls, /* attaches probes if another tool owns CUPTI by now */
	&component_return_sites, /* attaches return sites seen since the last turn */
	&component_writing,	 /* after all components that need the decoder's counts */
	&component_step_cost,
	&component_window_file, /* after all components that write to that window */
	&component_window_end,	/* before residency, which must know whether a window is open */
	&component_residency,
	&component_optimizer_step,
	/* after residency, which decides whether the library is needed */
	&component_device_library,
	&component_timed,   /* opens the next window when probes and library are ready */
	&component_ranks,   /* prepared last: this capture is ready then */
	&component_control, /* last: the answer includes the work of this turn */
	NULL,
};
_Static_assert(ARRAY_SIZE(session_components) <= COMPONENTS_MAX + 1,
	       "struct session has a time for each");
