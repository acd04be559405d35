/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the library in the target is asked to do, and whether it does. A command goes out at once.
 * Polling finds the answer.
 */
#ifndef PROFTRACE_SHIM_REQUEST_H
#define PROFTRACE_SHIM_REQUEST_H

#include "device/shim_link.h"

enum shim_refusal {
	REFUSAL_NONE,
	REFUSAL_MEMORY_CUT_OFF,
	REFUSAL_OTHER_TOOL,
	REFUSAL_SECCOMP_FILTER,
	REFUSAL_EXEC,
	REFUSAL_END,
	REFUSAL_BY_LIBRARY, /* which says why */
	REFUSAL_NO_CUDA,
	REFUSAL_LIBRARY_GAVE_UP,
	REFUSAL_LATE,
};

/* Zeroed at first, but for the link, which is borrowed. */
struct shim_request {
	struct shim_link *link;
	bool recording, asked; /* wanted is that it records; a command for it went out */
	uint32_t seq;
	uint64_t asked_ns;
	bool late; /* it was asked to record, and did not in time */
	enum shim_refusal refused; /* the answer to the last command; NONE: it did not refuse */
	char error[320];	   /* of the library, a clause */
};

/* Asks it to be recording (or not), unless that was asked last. */
void shim_request__want(struct shim_request *r, bool recording);
/* It ends at once if it should record, and leaves CUPTI to another tool. kinds: the activity kinds
 * that the tool has enabled, a bit each. */
void shim_request__yield(struct shim_request *r, uint64_t kinds);
/* It records no more, or has less, for this reason. */
void shim_request__give_up(struct shim_request *r, enum shim_refusal why);
/* True if it is done or cannot be: nothing is to be waited for. now: CLOCK_MONOTONIC ns. */
bool shim_request__is_done(struct shim_request *r, uint64_t now);
/* Why it cannot record, as a clause. NULL: it records, or may. */
const char *shim_request__refusal(const struct shim_request *r);
/* The same for a message, which has its key as a cause: as of err__take(). */
const char *shim_request__explain(const struct shim_request *r);

#endif
