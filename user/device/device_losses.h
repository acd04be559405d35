/* SPDX-License-Identifier: BSD-2-Clause */
/* Lost device events by cause: lost inside the process, or here. */
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

/* Counts since the begin, at some time. */
struct device_loss_look {
	uint64_t at_ns, cnt[LOSS_CNT];
};

/* Zeroed at first. */
struct device_losses {
	struct device_loss_look before, last; /* the latest two */
	uint64_t elsewhere[LOSS_CNT];	      /* losses in no recording, or in an earlier one */
	uint64_t closed_cnt[LOSS_CNT];
	bool closed;
};

/*
 * Call it after each reading of the library's data, because the window's edges become known only
 * after they passed. queue: events without room here. clock: events with times of another clock.
 */
void device_losses__look(struct device_losses *l, const struct shim_facts *f, uint64_t queue,
			 uint64_t clock);
/* A window opened at open_ns, not before the second to last look. */
void device_losses__open(struct device_losses *l, uint64_t open_ns);
/* The window closed. Losses that are counted when they happen do not belong to it any more. */
void device_losses__close(struct device_losses *l);

/* The window's losses up to the last look, by kind and in total. Call it once. Adds a text to the
 * array notes for each kind with losses. */
json_t *device_losses__json(struct device_losses *l, const char *what, json_t *notes, uint64_t *lost);

#endif
