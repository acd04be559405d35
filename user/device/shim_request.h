/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the library in the target is asked to do, and whether it does it. A command is sent at once.
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
	REFUSAL_BY_LIBRARY, /* the library says why */
	REFUSAL_NO_CUDA,
	REFUSAL_LIBRARY_GAVE_UP,
	REFUSAL_LATE,
};

/* Zeroed at first, except the link, which is borrowed. */
struct shim_request {
	struct shim_link *link;
	bool recording, asked; /* recording: what is wanted; asked: a command for it was sent */
	uint32_t seq;
	uint64_t asked_ns;
	bool late; /* it was asked to record, and did not begin in time */
	enum shim_refusal refused; /* the answer to the last command; NONE: it did not refuse */
	char error[320];	   /* the library's answer, a clause */
};

/* Asks the library to record (or not), unless that was the last request. */
void shim_request__want(struct shim_request *r, bool recording);
/* Ends a recording at once, and leaves CUPTI to another tool. kinds: the activity kinds that the
 * tool enabled, a bit each. */
void shim_request__yield(struct shim_request *r, uint64_t kinds);
/* The library does not record any more, or its records are incomplete, for this reason. */
void shim_request__give_up(struct shim_request *r, enum shim_refusal why);
/* True if the request is done or cannot be done: stop waiting. now: CLOCK_MONOTONIC ns. */
bool shim_request__is_done(struct shim_request *r, uint64_t now);
/* Why the library cannot record, as a clause. NULL: it records, or may. */
const char *shim_request__refusal(const struct shim_request *r);
/* The same text for a message, which then names its key as a cause (see err__take()). */
const char *shim_request__explain(const struct shim_request *r);

#endif
