/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a device's memory is used for: blocks that the framework gave out and named, see
 * CAT_STORAGE. Its events come in any order. Those of one address are joined at the end.
 */
#ifndef PROFTRACE_STORAGE_LOG_H
#define PROFTRACE_STORAGE_LOG_H

#include "recording/event.h"
#include "recording/recording.h"

#define STORAGE_UNKNOWN UINT64_MAX

struct storage_block {
	uint64_t requested_bytes, taken_bytes; /* STORAGE_UNKNOWN: not recorded */
	uint32_t name;
	int32_t device; /* -1: not recorded */
	bool host;	/* page-locked memory of the host, which MXNet counts as a device's */
	bool reused;	/* it came from the framework's pool */
	bool held;	/* it was not freed */
	bool kept;	/* held, or in the framework's pool and not given out again */
};

struct storage_log {
	struct storage_item *items; /* 40 bytes each */
	size_t cnt, cap;
	uint64_t unknown_frees; /* of devices with named blocks: frees of memory from before the
				   window */
};

/* Takes an event if it is about a device's storage. 0 or -ENOMEM. */
int storage_log__add(struct storage_log *log, const struct recording *r, const struct event *e);
/* Calls fn for each named block that was given out, by address and time. Stops at an error of
 * fn. */
int storage_log__each(struct storage_log *log, int (*fn)(const struct storage_block *b, void *ctx),
		      void *ctx);
void storage_log__free(struct storage_log *log);

#endif
