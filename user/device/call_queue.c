// SPDX-License-Identifier: BSD-2-Clause
#include "device/call_queue.h"
#include "common/util.h"

int call_queue__push(struct call_queue *q, const struct shim_call *call)
{
	return ARRAY_PUSH(q->calls, q->cnt, q->cap, ((struct queued_call){*call, q->tid}));
}

int call_queue__take(struct call_queue *q, uint64_t end_ns,
		     int (*take)(void *ctx, uint32_t tid, const struct shim_call *call), void *ctx)
{
	int err = 0;

	for (; q->first < q->cnt && q->calls[q->first].call.end_ns <= end_ns && !err; q->first++)
		err = take(ctx, q->calls[q->first].tid, &q->calls[q->first].call);
	if (q->first == q->cnt)
		q->first = q->cnt = 0;
	return err;
}

int call_queue__discard(struct call_queue *q, uint64_t before_ns,
			int (*discarded)(void *ctx, const struct shim_call *call), void *ctx)
{
	size_t kept = 0;
	int err = 0;

	for (size_t i = q->first; i < q->cnt && !err; i++) {
		if (q->calls[i].call.end_ns < before_ns)
			err = discarded(ctx, &q->calls[i].call);
		else
			q->calls[kept++] = q->calls[i];
	}
	q->first = 0;
	q->cnt = kept;
	return err;
}

bool call_queue__has(const struct call_queue *q, uint32_t tid)
{
	return q->first < q->cnt && (q->tid == tid || q->calls[q->first].tid == tid);
}

void call_queue__clear(struct call_queue *q)
{
	free(q->calls);
	*q = (struct call_queue){0};
}
