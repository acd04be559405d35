// SPDX-License-Identifier: BSD-2-Clause
#include "device/event_records.h"
#include <errno.h>
#include <stdlib.h>

#define SLOTS	    65536
#define INVALID	    UINT32_MAX /* CUPTI's value for "none" */
#define KEY_BY_SYNC (1ull << 63)

bool event_records__is_numbered(const struct shim_sync *sync)
{
	return sync->event_sync && sync->event_sync != INVALID;
}

/* The key is the number of the record, if CUPTI gives one. Else it is the event, which stands for
 * its latest record. */
static uint64_t key_of(uint32_t context, uint32_t event, uint64_t event_sync)
{
	if (event_sync && event_sync != INVALID)
		return event_sync | KEY_BY_SYNC;
	return event == INVALID ? 0 : (uint64_t)(context & INT32_MAX) << 32 | event;
}

static struct event_record *slot_of(const struct event_records *e, uint64_t key)
{
	return &e->slots[(key ^ key >> 32) % SLOTS];
}

int event_records__learn(struct event_records *e, const struct shim_event *event)
{
	const uint64_t key = key_of(event->a.context, event->event, event->event_sync);

	if (!e->slots)
		e->slots = calloc(SLOTS, sizeof(*e->slots));
	if (!e->slots)
		return -ENOMEM;
	if (key)
		*slot_of(e, key) =
			(struct event_record){key, event->a.stream, event->a.correlation};
	return 0;
}

const struct event_record *event_records__find(const struct event_records *e,
					       const struct shim_sync *sync)
{
	const uint64_t key = key_of(sync->a.context, sync->event, sync->event_sync);
	const struct event_record *found = e->slots && key ? slot_of(e, key) : NULL;

	return found && found->key == key ? found : NULL;
}

void event_records__clear(struct event_records *e)
{
	free(e->slots);
	e->slots = NULL;
}
