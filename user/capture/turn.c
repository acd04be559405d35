// SPDX-License-Identifier: BSD-2-Clause
/* The loop of a session: reads what has come, does what is due, and looks whether what it waits for
 * is there. */
#include "capture/session.h"
#include "capture/capture_ring.h"
#include "capture/wait.h"
#include "common/err.h"
#include "capture/message_table.h"
#include "common/util.h"
#include <poll.h>
#include <string.h>

#define MS 1000000ull

#define QUIET_MS 1000
#define SHOWN_MS 200 /* at most, where somebody looks at the progress */

static int why_over(const struct session *s, enum wait_stage stage)
{
	const int asked = s->opts->stop->asked;

	if (stage == STAGE_END)
		return asked > 1 ? -EINTR : 0;
	if (asked)
		return -EINTR;
	return s->target_gone ? -ESRCH : 0;
}

/* For up to timeout_ms. Records do not wake us: they are read in batches, steps wake at the
 * window's edges. */
static int read_records(struct session *s, int timeout_ms)
{
	int err = s->records.ring ? ring__wait(s->records.ring, timeout_ms) : 0;

	if (s->records.ring && !s->records.err && (!err || err == -EINTR))
		err = capture_ring__fit(s);
	if (s->records.err)
		return s->records.err;
	return err ? err__set(err, MESSAGE_RING_UNREADABLE, strerror(-err)) : 0;
}

/* Reads the ring for up to timeout_ms, and does what is due. */
static int turn(struct session *s, enum wait_stage stage, int timeout_ms)
{
	int err = read_records(s, timeout_ms);

	if (err)
		return err;
	if (s->records.ring)
		err = session__drain(s);
	err = components__poll(s, stage, err);
	return err ? err : why_over(s, stage);
}

static int min_ms(int ms, uint64_t end_ns)
{
	const uint64_t now = clock__monotonic_ns(), left = now < end_ns ? (end_ns - now) / MS : 0;

	return left < (uint64_t)ms ? (int)left : ms;
}

/* Until then, or a record or a component wakes us. */
static void sleep_ms(const struct session *s, int ms)
{
	struct pollfd fds[32] = {{.fd = ring__poll_fd(s->records.ring), .events = POLLIN}};

	poll(fds, 1 + components__wakes(s, &fds[1], ARRAY_SIZE(fds) - 1), ms);
}

/* Far from a window nothing comes, and whoever shares a core with us should not notice us. */
static int turn_for_windows(struct session *s, const struct wait *w)
{
	const int ms = components__quiet_ms(s, s->opts->progress ? SHOWN_MS : QUIET_MS);
	int err;

	if (ms)
		sleep_ms(s, w->end_ns ? min_ms(ms, w->end_ns) : ms);
	err = turn(s, w->stage, ms ? 0 : w->turn_ms);
	return err ? err : components__poll_windows(s);
}

int session__wait(struct session *s, struct wait *w)
{
	int err = 0;

	while (!err) {
		const int state = w->look(s, w);

		if (state != WAIT_GOES_ON)
			return state == WAIT_IS_OVER ? 0 : state;
		if (w->end_ns && clock__monotonic_ns() >= w->end_ns)
			return 0;
		err = w->stage == STAGE_WINDOWS ? turn_for_windows(s, w)
						: turn(s, w->stage, w->turn_ms);
	}
	return err;
}
