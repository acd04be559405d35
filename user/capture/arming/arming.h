/* SPDX-License-Identifier: BSD-2-Clause */
/* What a session knows of which probes are in. */
#ifndef PROFTRACE_ARMING_H
#define PROFTRACE_ARMING_H

#include "capture/arming/bursts.h"
#include "capture/arming/probeless.h"
#include "capture/arming/pruned.h"
#include "capture/arming/residency.h"
#include "capture/arming/step_cost.h"
#include "capture/arming/steps_only.h"

struct attaching {
	uint64_t begin_ns;	/* until the first event is seen */
	uint64_t longest_ns;	/* of what a window needs */
	uint32_t return_sites;	/* places that calls return to for which probes were planned */
	bool is_done;
};

#endif
