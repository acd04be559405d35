/* SPDX-License-Identifier: BSD-2-Clause */
/* What a session knows about attached probes. */
#ifndef PROFTRACE_ARMING_H
#define PROFTRACE_ARMING_H

#include "capture/arming/bursts.h"
#include "capture/arming/probeless.h"
#include "capture/arming/pruned.h"
#include "capture/arming/residency.h"
#include "capture/arming/step_cost.h"
#include "capture/arming/steps_only.h"

struct attaching {
	uint64_t begin_ns;	/* begin of the attach; 0 after the first event */
	uint64_t longest_ns;	/* longest attach of the groups of a window */
	uint32_t return_sites;	/* return sites for which probes were planned */
	bool is_done;
};

#endif
