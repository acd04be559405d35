/* SPDX-License-Identifier: BSD-2-Clause */
/* The records of events for which streams and threads wait. New records replace old ones, because a
 * wait is for the latest record of its event. */
#ifndef PROFTRACE_EVENT_RECORDS_H
#define PROFTRACE_EVENT_RECORDS_H

#include <stdbool.h>
#include "cupti_shim/protocol.h"

struct event_record {
	uint64_t key; /* 0: free */
	uint32_t stream, correlation;
};

struct event_records {
	struct event_record *slots; /* NULL: no event was recorded yet */
};

int event_records__learn(struct event_records *e, const struct shim_event *event); /* or -ENOMEM */
/* The record that the synchronisation waits for. NULL: unknown. */
const struct event_record *event_records__find(const struct event_records *e,
					       const struct shim_sync *sync);
/* Does CUPTI give the number of the record, and not just its event? */
bool event_records__is_numbered(const struct shim_sync *sync);
void event_records__clear(struct event_records *e);

#endif
