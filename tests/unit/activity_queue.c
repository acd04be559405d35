// SPDX-License-Identifier: BSD-2-Clause
#include "device/activity_queue.h"
#include <criterion/criterion.h>
#include <errno.h>

struct taken {
	uint64_t starts[8];
	size_t cnt, fails_at; /* 0: never */
};

static int take(void *ctx, const union activity *activity)
{
	struct taken *t = ctx;

	t->starts[t->cnt++] = activity->a.start_ns;
	return t->cnt == t->fails_at ? -EIO : 0;
}

static void push(struct activity_queue *q, uint64_t start_ns)
{
	const struct shim_copy copy = {
		.a = {.h = {SHIM_REC_COPY, sizeof(copy)}, .start_ns = start_ns}};

	cr_assert_eq(activity_queue__push(q, &copy.a.h), 0);
}

Test(activity_queue, what_came_in_this_round_waits_for_the_next)
{
	struct activity_queue q = {0};
	struct taken t = {0};

	push(&q, 10);
	push(&q, 20);
	cr_expect_eq(activity_queue__take(&q, take, &t), 0);
	cr_expect_eq(t.cnt, 0);
	activity_queue__ripen(&q);
	push(&q, 30);
	cr_expect_eq(activity_queue__take(&q, take, &t), 0);
	cr_expect_eq(t.cnt, 2);
	cr_expect(t.starts[0] == 10 && t.starts[1] == 20);
	cr_expect_eq(activity_queue__take(&q, take, &t), 0);
	cr_expect_eq(t.cnt, 2);
	activity_queue__ripen(&q);
	cr_expect_eq(activity_queue__take(&q, take, &t), 0);
	cr_expect_eq(t.cnt, 3);
	cr_expect_eq(t.starts[2], 30);
	activity_queue__clear(&q);
}

Test(activity_queue, an_error_ends_it)
{
	struct activity_queue q = {0};
	struct taken t = {.fails_at = 2};

	for (uint64_t i = 1; i <= 4; i++)
		push(&q, i);
	activity_queue__ripen(&q);
	cr_expect_eq(activity_queue__take(&q, take, &t), -EIO);
	cr_expect_eq(t.cnt, 2);
	activity_queue__clear(&q);
}
