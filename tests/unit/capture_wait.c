// SPDX-License-Identifier: BSD-2-Clause
/* When a session's wait is over without a turn. */
#include "capture/session.h"
#include "capture/wait.h"
#include "common/util.h"
#include <criterion/criterion.h>
#include <errno.h>

struct looks {
	int state;
	unsigned int cnt;
	uint64_t end_ns; /* what the look sets, 0: nothing */
};

static int look(struct session *s, struct wait *w)
{
	struct looks *looks = w->ctx;

	(void)s;
	looks->cnt++;
	if (looks->end_ns)
		w->end_ns = looks->end_ns;
	return looks->state;
}

Test(wait, is_over_before_a_turn_if_what_it_waits_for_is_there)
{
	struct looks looks = {.state = WAIT_IS_OVER};
	struct session s = {0};

	cr_expect_eq(session__wait(&s, &(struct wait){look, &looks}), 0);
	cr_expect_eq(looks.cnt, 1);
}

Test(wait, gives_the_error_of_its_look)
{
	struct looks looks = {.state = -EAGAIN};
	struct session s = {0};

	cr_expect_eq(session__wait(&s, &(struct wait){look, &looks, .for_windows = true}), -EAGAIN);
}

Test(wait, is_over_at_its_time_which_the_look_may_set)
{
	struct looks looks = {.state = WAIT_GOES_ON};
	struct session s = {0};
	struct wait w = {look, &looks, .end_ns = clock__monotonic_ns()};

	cr_expect_eq(session__wait(&s, &w), 0);
	looks.end_ns = 1;
	w.end_ns = 0;
	cr_expect_eq(session__wait(&s, &w), 0);
	cr_expect_eq(w.end_ns, 1);
	cr_expect_eq(looks.cnt, 2);
}
