/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the library in the target has written: a ring of calls for each of its threads, and one of
 * activities. The target may write anything there at any time: nothing that is read is believed.
 *
 * One thread reads. While it is busy, another may drain the rings of calls: they are small, since they are
 * the target's memory.
 */
#ifndef PROFTRACE_SHIM_RINGS_H
#define PROFTRACE_SHIM_RINGS_H

#include <pthread.h>
#include "cupti_shim/protocol.h"
#include "device/call_queue.h"

struct shim_rings {
	struct shim_control *c;
	pthread_mutex_t lock;
	struct call_queue drained[SHIM_RINGS]; /* read before what their rings hold; ns_tid unused */
	int err;				/* of relieving: there was no memory */
	uint64_t malformed;
	uint64_t record[(SHIM_NAME_MAX + sizeof(struct shim_name) + 8) / 8]; /* one, copied */
};

/* The memory is borrowed. */
void shim_rings__init(struct shim_rings *r, struct shim_control *c);
void shim_rings__clear(struct shim_rings *r);

/* Takes what the rings hold now. A callback's error ends it and is returned; what it was called for
 * counts as read. */
int shim_rings__calls(struct shim_rings *r,
		      int (*take)(void *ctx, size_t ring, uint32_t tid,
				  const struct shim_call *call),
		      void *ctx);
/* The record is whole, and as long as its kind demands. */
int shim_rings__activities(struct shim_rings *r,
			   int (*take)(void *ctx, const struct shim_record *record), void *ctx);

/* The text of a name's key, at most SHIM_SEEN_NAME_MAX bytes long, into text; false: none is there. */
bool shim_rings__seen_name(const struct shim_rings *r, uint64_t key,
			   char text[SHIM_SEEN_NAME_MAX + 1]);

/* From another thread: makes room in rings that fill up, and where few are left, in all of them. Keeps
 * SHIM_DRAINED_MAX calls at most; more stay where they are, and the library counts what it loses. */
#define SHIM_DRAINED_MAX (1u << 21)
void shim_rings__drain(struct shim_rings *r);
/* Is half of the rings used? New threads may soon wait for rings of threads that ended. */
bool shim_rings__are_few(const struct shim_rings *r);

/* Records that could not be what they say. */
uint64_t shim_rings__malformed(const struct shim_rings *r);

#endif
