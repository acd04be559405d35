/* SPDX-License-Identifier: BSD-2-Clause */
/* What of the device's events was lost, by why: on its way out of the process, and here. */
#ifndef PROFTRACE_DEVICE_LOSSES_H
#define PROFTRACE_DEVICE_LOSSES_H

#include <jansson.h>
#include <stdbool.h>
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

/* Counts since the beginning, as they were at a time. */
struct device_loss_look {
	uint64_t at_ns, cnt[LOSS_CNT];
};

/* Zeroed at first. */
struct device_losses {
	struct device_loss_look before, last; /* the latest two */
	uint64_t elsewhere[LOSS_CNT];	      /* in no recording, or an earlier one */
	uint64_t closed_cnt[LOSS_CNT];
	bool closed;
};

/*
 * To be called often, with each reading of what the library hands over: the window's edges become
 * known only when they are past. queue, clock: events that found no place here, and that had times
 * of another clock.
 */
void device_losses__look(struct device_losses *l, const struct shim_facts *f, uint64_t queue,
			 uint64_t clock);
/* A window opened then, after the look before the last at the earliest. */
void device_losses__open(struct device_losses *l, uint64_t open_ns);
/* It has closed. What is counted when it happens, and not when CUPTI hands it over, is not its own
 * any more. */
void device_losses__close(struct device_losses *l);

/* The window's losses up to the last look, by kind, and in all; once. A text is added to the notes,
 * an array, for each kind that there is. */
json_t *device_losses__json(struct device_losses *l, const char *what, json_t *notes, uint64_t *lost);

#endif
