// SPDX-License-Identifier: BSD-2-Clause
#include "device/call_queue.h"
#include <criterion/criterion.h>

struct taken {
	uint64_t ends[8];
	uint32_t tids[8];
	size_t cnt;
};

static int take(void *ctx, uint32_t tid, const struct shim_call *call)
{
	struct taken *t = ctx;

	t->tids[t->cnt] = tid;
	t->ends[t->cnt++] = call->end_ns;
	return 0;
}

static int discarded(void *ctx, const struct shim_call *call)
{
	return take(ctx, 0, call);
}

static void push(struct call_queue *q, uint32_t tid, uint64_t end_ns)
{
	q->tid = tid;
	cr_assert_eq(call_queue__push(q, &(struct shim_call){.end_ns = end_ns}), 0);
}

Test(call_queue, what_ended_by_then_is_taken_in_order)
{
	struct call_queue q = {0};
	struct taken t = {0};

	push(&q, 1, 10);
	push(&q, 1, 20);
	push(&q, 1, 30);
	cr_expect_eq(call_queue__take(&q, 20, take, &t), 0);
	cr_expect_eq(t.cnt, 2);
	cr_expect_eq(t.ends[0], 10);
	cr_expect_eq(t.ends[1], 20);
	cr_expect_eq(call_queue__take(&q, 20, take, &t), 0);
	cr_expect_eq(t.cnt, 2);
	cr_expect_eq(call_queue__take(&q, UINT64_MAX, take, &t), 0);
	cr_expect_eq(t.ends[2], 30);
	call_queue__clear(&q);
}

Test(call_queue, a_ring_that_another_thread_has_taken_keeps_the_first_ones_calls)
{
	struct call_queue q = {0};
	struct taken t = {0};

	push(&q, 1, 10);
	push(&q, 2, 20);
	cr_expect(call_queue__has(&q, 1));
	cr_expect(call_queue__has(&q, 2));
	cr_expect_not(call_queue__has(&q, 3));
	call_queue__take(&q, UINT64_MAX, take, &t);
	cr_expect_eq(t.tids[0], 1);
	cr_expect_eq(t.tids[1], 2);
	cr_expect_not(call_queue__has(&q, 2));
	call_queue__clear(&q);
}

Test(call_queue, what_is_discarded_need_not_be_first)
{
	struct call_queue q = {0};
	struct taken gone = {0}, t = {0};

	push(&q, 1, 40);
	push(&q, 1, 10);
	push(&q, 1, 50);
	cr_expect_eq(call_queue__discard(&q, 40, discarded, &gone), 0);
	cr_expect_eq(gone.cnt, 1);
	cr_expect_eq(gone.ends[0], 10);
	call_queue__take(&q, UINT64_MAX, take, &t);
	cr_expect_eq(t.cnt, 2);
	cr_expect_eq(t.ends[0], 40);
	call_queue__clear(&q);
}
