/* SPDX-License-Identifier: BSD-2-Clause */
/* Halves that wait for their other half: arguments and full names for their span, begins for ends,
 * allocations for frees. Bounded: what never finds its other half is dropped, oldest first. */
#ifndef PROFTRACE_PENDING_H
#define PROFTRACE_PENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "bpf/events.h"

struct pending;

struct pending *pending__new(void);
void pending__free(struct pending *p);

/* Encodes a record's tensors as event_tensor rows (recording/event.h) and keeps them; 0 or -ENOMEM.
 */
int pending__put_args(struct pending *p, const struct pt_rec_args *r);
/* The rows of the span that began at ts_ns on tid, valid until the next call; NULL if none. */
const void *pending__take_args(struct pending *p, uint32_t tid, uint64_t ts_ns, uint32_t *len);

/* Keeps the full name that came with the begin of a span; 0 or -ENOMEM. */
int pending__put_full_name(struct pending *p, const struct pt_rec_full_name *r);
/* The record of the span that began at ts_ns on tid, valid until the next call; NULL if none. */
const struct pt_rec_full_name *pending__take_full_name(struct pending *p, uint32_t tid,
						       uint64_t ts_ns);

struct pending_async {
	uint64_t ts_ns, code, bytes;
	uint32_t tid;
	struct pt_name title;
};
int pending__async_begin(struct pending *p, uint32_t pid, uint64_t object,
			 const struct pending_async *begin);
bool pending__async_end(struct pending *p, uint32_t pid, uint64_t object,
			struct pending_async *begin);

/* `owner` is the process, with PENDING_DEVICE for what a device's interface allocates. */
#define PENDING_DEVICE (1ull << 32)
void pending__allocated(struct pending *p, uint64_t owner, uint64_t addr, uint64_t bytes);
/* Size of an allocation that was seen, 0 if it was not. */
uint64_t pending__freed(struct pending *p, uint64_t owner, uint64_t addr);

#endif
