/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the library in the target is asked to do, and whether it does. A command goes out at once.
 * Polling finds the answer.
 */
#ifndef PROFTRACE_SHIM_REQUEST_H
#define PROFTRACE_SHIM_REQUEST_H

#include "device/shim_link.h"

/* Zeroed at first, but for the link, which is borrowed. */
struct shim_request {
	struct shim_link *link;
	bool recording, asked; /* wanted is that it records; a command for it went out */
	uint32_t seq;
	uint64_t asked_ns;
	bool late;	   /* it was asked to record, and did not in time */
	char refused[320]; /* why it does not record, since it was asked to last */
};

/* Asks it to be recording (or not), unless that was asked last. */
void shim_request__want(struct shim_request *r, bool recording);
/* It ends at once if it should record, and leaves CUPTI to another tool. kinds: the activity kinds
 * that the tool has enabled, a bit each. */
void shim_request__yield(struct shim_request *r, uint64_t kinds);
/* It records no more, or has less, for a reason of ours, a clause. */
void shim_request__give_up(struct shim_request *r, const char *why);
/* True if it is done or cannot be: nothing is to be waited for. now: CLOCK_MONOTONIC ns. */
bool shim_request__is_done(struct shim_request *r, uint64_t now);
/* Why it cannot record, as a clause. NULL: it records, or may. */
const char *shim_request__refusal(const struct shim_request *r);

#endif
