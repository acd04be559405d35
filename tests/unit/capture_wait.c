// SPDX-License-Identifier: BSD-2-Clause
/* When a session's wait is over, and which components its turns poll. */
#include "capture/capture.h"
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

	cr_expect_eq(session__wait(&s, &(struct wait){look, &looks, .stage = STAGE_WINDOWS}),
		     -EAGAIN);
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

/* ---- turns of a session without programs, and so without records ---- */

static unsigned int polls, polls_at_end;

static int poll_usually(struct session *s)
{
	(void)s;
	polls++;
	return 0;
}

static int poll_at_end(struct session *s)
{
	(void)s;
	polls_at_end++;
	return 0;
}

static const struct component usual = {.name = "usual", .poll = poll_usually};
static const struct component last = {.name = "last", .poll = poll_at_end, .at_end = true};
static const struct component *const components[] = {&usual, &last, NULL};

static struct capture_stop stop;
static const struct capture_opts opts = {.stop = &stop};

static struct session begin(int asked)
{
	stop.asked = asked;
	polls = polls_at_end = 0;
	return (struct session){.opts = &opts, .components = components};
}

/* Over at the third look. */
static int look_thrice(struct session *s, struct wait *w)
{
	unsigned int *looks = w->ctx;

	(void)s;
	return ++*looks == 3 ? WAIT_IS_OVER : WAIT_GOES_ON;
}

Test(wait, is_ended_by_a_stop_request_and_by_the_targets_end)
{
	unsigned int looks = 0;
	struct session s = begin(1);

	cr_expect_eq(session__wait(&s, &(struct wait){look_thrice, &looks}), -EINTR);
	s = begin(0);
	s.target_gone = true;
	looks = 0;
	cr_expect_eq(session__wait(&s, &(struct wait){look_thrice, &looks}), -ESRCH);
	cr_expect_eq(looks, 1);
	cr_expect_eq(polls, 1);
	cr_expect_eq(polls_at_end, 1);
}

Test(wait, at_the_end_goes_on_until_its_look_ends_it)
{
	unsigned int looks = 0;
	struct session s = begin(1);

	s.target_gone = true;
	cr_expect_eq(session__wait(&s, &(struct wait){look_thrice, &looks, .stage = STAGE_END}), 0);
	cr_expect_eq(looks, 3);
	cr_expect_eq(polls, 0); /* nothing but the end is due */
	cr_expect_eq(polls_at_end, 2);
}

Test(wait, at_the_end_is_broken_off_by_a_second_stop_request)
{
	unsigned int looks = 0;
	struct session s = begin(2);

	cr_expect_eq(session__wait(&s, &(struct wait){look_thrice, &looks, .stage = STAGE_END}),
		     -EINTR);
	cr_expect_eq(looks, 1);
}
