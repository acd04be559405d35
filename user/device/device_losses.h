/* SPDX-License-Identifier: BSD-2-Clause */
/* What of the device's events was lost, by why: on its way out of the process, and here. */
#ifndef PROFTRACE_DEVICE_LOSSES_H
#define PROFTRACE_DEVICE_LOSSES_H

#include <jansson.h>
#include <stdint.h>
#include "device/shim_link.h"

enum device_loss {
	LOSS_RINGS,
	LOSS_THREADS,
	LOSS_CUPTI,
	LOSS_INCOMPLETE,
	LOSS_BUFFERS,
	LOSS_MALFORMED,
	LOSS_QUEUE,
	LOSS_CLOCK,
	LOSS_CNT,
};

/* Zeroed at first. The library's counts only grow: these are what was told of already. */
struct device_losses {
	uint64_t told[LOSS_CNT];
};

/*
 * Events lost since the last time, by kind, and in all. queue, clock: those that found no place
 * here, and that had times of another clock, since the beginning. A text is added to the notes, an
 * array, for each kind that there is.
 */
json_t *device_losses__json(struct device_losses *l, const struct shim_facts *f, uint64_t queue,
			    uint64_t clock, json_t *notes, uint64_t *lost);

#endif
