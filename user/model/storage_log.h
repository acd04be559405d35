/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a device's memory is for: blocks that the framework gave out and named, see CAT_STORAGE. Its
 * events come in any order, those of an address are put together at the end.
 */
#ifndef PROFTRACE_STORAGE_LOG_H
#define PROFTRACE_STORAGE_LOG_H

#include "recording/event.h"
#include "recording/recording.h"

#define STORAGE_UNKNOWN UINT64_MAX

struct storage_block {
	uint64_t requested_bytes, taken_bytes; /* STORAGE_UNKNOWN: not seen */
	uint32_t name;
	int32_t device; /* -1: not seen */
	bool host;	/* page-locked memory of the host, which MXNet counts for a device */
	bool reused;	/* out of the framework's pool */
	bool held;	/* it was not freed */
	bool kept;	/* held, or in the framework's pool and not given out again */
};

struct storage_log {
	struct storage_item *items; /* 40 bytes each */
	size_t cnt, cap;
	uint64_t unknown_frees; /* of named blocks' devices: what was given out before */
};

/* Takes an event if it is one of a device's storage; 0 or -ENOMEM. */
int storage_log__add(struct storage_log *log, const struct recording *r, const struct event *e);
/* Each block that was given out and has a name, by address and time; stops at an error of fn. */
int storage_log__each(struct storage_log *log, int (*fn)(const struct storage_block *b, void *ctx),
		      void *ctx);
void storage_log__free(struct storage_log *log);

#endif
