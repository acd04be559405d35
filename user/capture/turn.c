// SPDX-License-Identifier: BSD-2-Clause
/* The loop of a session (wait.h). */
#include "capture/session.h"
#include "capture/capture_ring.h"
#include "capture/wait.h"
#include "common/err.h"
#include "capture/message_table.h"
#include "common/util.h"
#include <poll.h>
#include <string.h>

#define US 1000ull
#define S  1000000000ull

static int why_over(const struct session *s, enum wait_stage stage)
{
	const int asked = s->opts->stop->asked;

	if (stage == STAGE_END)
		return asked > 1 ? -EINTR : 0;
	if (asked)
		return -EINTR;
	return s->target_gone ? -ESRCH : 0;
}

static int read_records(struct session *s)
{
	int err;

	if (!s->records.ring)
		return 0;
	err = capture_ring__fit(s);
	if (!err)
		err = session__drain(s);
	if (s->records.err)
		return s->records.err;
	return err ? err__set(err, MESSAGE_RING_UNREADABLE, strerror(-err)) : 0;
}

/* Ordinary records do not wake us: we read them in batches. The boundary of a window wakes us. */
static void sleep_until(const struct session *s, uint64_t now_ns, uint64_t until_ns)
{
	const uint64_t ns = until_ns > now_ns ? until_ns - now_ns : 0;
	const struct timespec left = {(time_t)(ns / S), (long)(ns % S)};
	struct pollfd fds[32] = {{.fd = -1, .events = POLLIN}};

	if (s->records.ring)
		fds[0].fd = ring__poll_fd(s->records.ring);
	ppoll(fds, 1 + components__wakes(s, &fds[1], ARRAY_SIZE(fds) - 1), &left, NULL);
}

static int turn(struct session *s, const struct wait *w, uint64_t *next_ns)
{
	int err = components__poll(s, w->stage, read_records(s), next_ns);

	if (!err)
		err = why_over(s, w->stage);
	return err || w->stage != STAGE_WINDOWS ? err : components__poll_windows(s, next_ns);
}

int session__wait(struct session *s, struct wait *w)
{
	/* The first turn comes at once. In it components name the time of their next turn. */
	uint64_t next_ns = clock__monotonic_ns();
	int err = 0;

	while (!err) {
		const int state = w->look(s, w);
		const uint64_t now_ns = clock__monotonic_ns();

		if (state != WAIT_GOES_ON)
			return state == WAIT_IS_OVER ? 0 : state;
		if (w->end_ns && now_ns >= w->end_ns)
			return 0;
		turn_by(&next_ns, now_ns + w->turn_us * US);
		if (w->end_ns)
			turn_by(&next_ns, w->end_ns);
		sleep_until(s, now_ns, next_ns);
		next_ns = UINT64_MAX;
		err = turn(s, w, &next_ns);
	}
	return err;
}
