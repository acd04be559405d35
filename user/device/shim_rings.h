/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the library in the target has written: a ring of calls for each of its threads, and one ring
 * of activities. The target may write anything there at any time, so nothing in it is trusted.
 *
 * One thread reads. While it is busy, another thread may empty the rings of calls. They are small,
 * because they are the target's memory.
 */
#ifndef PROFTRACE_SHIM_RINGS_H
#define PROFTRACE_SHIM_RINGS_H

#include <pthread.h>
#include "cupti_shim/protocol.h"
#include "device/call_queue.h"

struct shim_rings {
	struct shim_control *c;
	pthread_mutex_t lock;
	struct call_queue drained[SHIM_RINGS]; /* calls taken from full rings, to be read first;
						  ns_tid is unused */
	int err;				/* of emptying the rings: out of memory */
	uint64_t malformed;
	uint64_t record[(SHIM_NAME_MAX + sizeof(struct shim_name) + 8) / 8]; /* one copied record */
};

/* The memory is borrowed. */
void shim_rings__init(struct shim_rings *r, struct shim_control *c);
void shim_rings__clear(struct shim_rings *r);

/* Reads what the rings hold now. Stops at a callback's error and returns it. The record of that
 * callback counts as read. */
int shim_rings__calls(struct shim_rings *r,
		      int (*take)(void *ctx, size_t ring, uint32_t tid,
				  const struct shim_call *call),
		      void *ctx);
/* Each record is complete, and as long as its kind demands. */
int shim_rings__activities(struct shim_rings *r,
			   int (*take)(void *ctx, const struct shim_record *record), void *ctx);

/* Puts the name of a key, at most SHIM_SEEN_NAME_MAX bytes long, into text. False: there is
 * none. */
bool shim_rings__seen_name(const struct shim_rings *r, uint64_t key,
			   char text[SHIM_SEEN_NAME_MAX + 1]);

/* Called by another thread. Makes room in rings that are getting full, or in all of them if few
 * rings are free. Keeps at most SHIM_DRAINED_MAX calls. More calls stay in the rings, and the
 * library counts its losses. */
#define SHIM_DRAINED_MAX (1u << 21)
void shim_rings__drain(struct shim_rings *r);
/* Are half of the rings in use? New threads may soon need rings of threads that ended. */
bool shim_rings__are_few(const struct shim_rings *r);

/* The number of invalid records. */
uint64_t shim_rings__malformed(const struct shim_rings *r);

#endif
