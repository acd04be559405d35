/* SPDX-License-Identifier: BSD-2-Clause */
/* Keeps records until the matching record comes: arguments and full names for their span, begins for ends, allocations
 * for frees. The tables are bounded: the oldest entries without a match are dropped. */
#ifndef PROFTRACE_PENDING_H
#define PROFTRACE_PENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "bpf/events.h"

struct pending;

struct pending *pending__new(void);
void pending__free(struct pending *p);

/* Keeps a record's tensors, encoded as event_tensor rows (recording/event.h). Returns 0 or -ENOMEM. */
int pending__put_args(struct pending *p, const struct pt_rec_args *r);
/* The rows of the span that began at ts_ns on tid; NULL: none. Valid until the next call. */
const void *pending__take_args(struct pending *p, uint32_t tid, uint64_t ts_ns, uint32_t *len);

/* Keeps the full name that came with the begin of a span. Returns 0 or -ENOMEM. */
int pending__put_full_name(struct pending *p, const struct pt_rec_full_name *r);
/* The full name of the span that began at ts_ns on tid; NULL: none. Valid until the next call. */
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

/* `owner` is the process id, with PENDING_DEVICE for allocations of CUDA. */
#define PENDING_DEVICE (1ull << 32)
void pending__allocated(struct pending *p, uint64_t owner, uint64_t addr, uint64_t bytes);
/* Size of the allocation; 0: it was not seen. */
uint64_t pending__freed(struct pending *p, uint64_t owner, uint64_t addr);

#endif
