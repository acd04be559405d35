// SPDX-License-Identifier: BSD-2-Clause
#include "device/activity_queue.h"
#include "common/util.h"
#include <string.h>

int activity_queue__push(struct activity_queue *q, const struct shim_record *r)
{
	union activity copy;

	if (q->cnt == ACTIVITY_QUEUE_MAX) {
		q->lost++;
		return 0;
	}
	memcpy(&copy, r, r->bytes < sizeof(copy) ? r->bytes : sizeof(copy));
	return ARRAY_PUSH(q->items, q->cnt, q->cap, copy);
}

void activity_queue__ripen(struct activity_queue *q)
{
	q->ripe_cnt = q->cnt;
}

int activity_queue__take(struct activity_queue *q,
			 int (*take)(void *ctx, const union activity *activity), void *ctx)
{
	size_t cnt = q->ripe_cnt;
	int err = 0;

	for (size_t i = 0; i < cnt && !err; i++)
		err = take(ctx, &q->items[i]);
	if (cnt < q->cnt)
		memmove(q->items, q->items + cnt, (q->cnt - cnt) * sizeof(*q->items));
	q->cnt -= cnt;
	q->ripe_cnt = 0;
	return err;
}

void activity_queue__clear(struct activity_queue *q)
{
	free(q->items);
	*q = (struct activity_queue){0};
}
