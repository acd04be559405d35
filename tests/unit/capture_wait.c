// SPDX-License-Identifier: BSD-2-Clause
/* When a session's wait is over, and which components its turns poll. */
#include "capture/capture.h"
#include "capture/session.h"
#include "capture/wait.h"
#include "capture/message_table.h"
#include "err_key.h"
#include "common/util.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <poll.h>
#include <unistd.h>

struct looks {
	int state;
	unsigned int cnt;
	uint64_t end_ns; /* set by the look; 0 sets nothing */
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

static unsigned int polls, polls_early, polls_at_end;

static int poll_usually(struct session *s, uint64_t *next_ns)
{
	(void)next_ns;
	(void)s;
	polls++;
	return 0;
}

static int poll_early(struct session *s, uint64_t *next_ns)
{
	(void)next_ns;
	(void)s;
	polls_early++;
	return 0;
}

static int poll_at_end(struct session *s, uint64_t *next_ns)
{
	(void)next_ns;
	(void)s;
	polls_at_end++;
	return 0;
}

static const struct component usual = {.name = "usual", .poll = poll_usually};
static const struct component early = {.name = "early", .poll = poll_early, .early = true};
static const struct component last = {.name = "last", .poll = poll_at_end, .at_end = true};
static const struct component *const components[] = {&usual, &early, &last, NULL};

static struct capture_stop stop;
static const struct capture_opts opts = {.stop = &stop};

static struct session begin(int asked)
{
	stop.asked = asked;
	polls = polls_early = polls_at_end = 0;
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
	cr_expect_eq(polls_early, 1);
	cr_expect_eq(polls_at_end, 1);
}

Test(wait, at_the_end_goes_on_until_its_look_ends_it)
{
	unsigned int looks = 0;
	struct session s = begin(1);

	s.target_gone = true;
	cr_expect_eq(session__wait(&s, &(struct wait){look_thrice, &looks, .stage = STAGE_END}), 0);
	cr_expect_eq(looks, 3);
	cr_expect_eq(polls + polls_early, 0); /* nothing but the end is due */
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

Test(wait, before_the_programs_are_loaded_polls_what_works_early)
{
	unsigned int looks = 0;
	struct session s = begin(0);

	cr_expect_eq(session__wait(&s, &(struct wait){look_thrice, &looks, .stage = STAGE_EARLY}),
		     0);
	cr_expect_eq(polls + polls_at_end, 0);
	cr_expect_eq(polls_early, 2);
	stop.asked = 1;
	looks = 0;
	cr_expect_eq(session__wait(&s, &(struct wait){look_thrice, &looks, .stage = STAGE_EARLY}),
		     -EINTR);
}

/* ---- how long it sleeps ---- */

static uint64_t slept_ns(struct session *s, struct wait w)
{
	const uint64_t begin_ns = clock__monotonic_ns();

	cr_expect_eq(session__wait(s, &w), 0);
	return clock__monotonic_ns() - begin_ns;
}

Test(wait, sleeps_between_looks_but_not_beyond_its_end)
{
	const uint64_t ms = 1000000;
	unsigned int looks = 0;
	struct session s = begin(0);
	uint64_t ns = slept_ns(&s, (struct wait){look_thrice, &looks, .turn_us = 20000});

	cr_expect(ns >= 20 * ms && ns < 2000 * ms, "%llu ns", (unsigned long long)ns);
	looks = 3; /* it is never over */
	ns = slept_ns(&s, (struct wait){look_thrice, &looks, .turn_us = 10000000,
					.end_ns = clock__monotonic_ns() + 20 * ms});
	cr_expect(ns >= 20 * ms && ns < 5000 * ms, "%llu ns", (unsigned long long)ns);
	cr_expect_eq(looks, 6);
}

static int poll_soon(struct session *s, uint64_t *next_ns)
{
	(void)s;
	polls++;
	turn_by(next_ns, clock__monotonic_ns() + 10000000);
	return 0;
}

Test(wait, sleeps_until_a_component_needs_a_turn, .timeout = 30)
{
	const struct component soon = {.name = "soon", .poll = poll_soon};
	const struct component later = {.name = "later", .poll = poll_usually};
	const struct component *const table[] = {&later, &soon, &later, NULL};
	unsigned int looks = 0;
	struct session s = {.opts = &opts, .components = table};

	slept_ns(&s, (struct wait){look_thrice, &looks, .turn_us = 60000000});
	cr_expect_eq(polls, 6);
}

static int ends[2]; /* of a pipe */

static size_t pipe_wakes(const struct session *s, struct pollfd *fds, size_t most)
{
	(void)s;
	cr_assert(most);
	fds[0] = (struct pollfd){.fd = ends[0], .events = POLLIN};
	return 1;
}

static int empty_pipe(struct session *s, uint64_t *next_ns)
{
	char byte;

	(void)next_ns;
	(void)s;
	cr_expect_eq(read(ends[0], &byte, 1), 1);
	return 0;
}

Test(wait, is_woken_by_a_component, .timeout = 30)
{
	const struct component woken = {
		.name = "woken", .poll = empty_pipe, .early = true, .wakes = pipe_wakes};
	const struct component *const table[] = {&woken, NULL};
	unsigned int looks = 0;
	struct session s = {.opts = &opts, .components = table};

	cr_assert_eq(pipe(ends), 0);
	cr_assert_eq(write(ends[1], "ab", 2), 2); /* a byte for each turn */
	slept_ns(&s, (struct wait){look_thrice, &looks, .turn_us = 60000000, .stage = STAGE_EARLY});
	close(ends[0]);
	close(ends[1]);
}

/* ---- the beginning ---- */

Test(start, is_awaited_for_as_long_as_was_asked)
{
	const struct capture_opts after = {
		.stop = &stop, .pid = getpid(), .start_after_ns = 30000000};
	const uint64_t begin_ns = clock__monotonic_ns();
	struct session s = begin(0);

	s.opts = &after;
	cr_expect_eq(session__await_start(&s), 0);
	cr_expect(clock__monotonic_ns() - begin_ns >= after.start_after_ns);
	cr_expect_eq(s.start.at_ns, 0);
	cr_expect(polls_early);
	cr_expect_eq(polls + polls_at_end, 0);
}

Test(start, is_awaited_no_longer_once_asked_to_stop)
{
	const struct capture_opts after = {
		.stop = &stop, .pid = getpid(), .start_after_ns = 60000000000};
	struct session s = begin(1);

	s.opts = &after;
	cr_expect_eq(session__await_start(&s), -EINTR);
	EXPECT_ERR(MESSAGE_START_STOPPED);
}
