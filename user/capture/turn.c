// SPDX-License-Identifier: BSD-2-Clause
/* One turn of a session: reads what has come, then does what is due. */
#include "capture/session.h"
#include "capture/arming/idle.h"
#include "capture/capture_ring.h"
#include "capture/control/control.h"
#include "common/err.h"
#include "common/util.h"
#include <signal.h>
#include <string.h>

#define MS 1000000ull

volatile sig_atomic_t capture_stop;

int session__pump(struct session *s, int timeout_ms)
{
	int err;

	/* Records do not wake us: they are read in batches, steps wake at the window's edges. */
	err = ring__wait(s->records.ring, timeout_ms);
	if (!s->records.err && (!err || err == -EINTR))
		err = capture_ring__fit(s);
	if (s->records.err)
		return s->records.err;
	if (err)
		return err__set(err, "reading events failed: %s", strerror(-err));
	err = session__drain(s);
	if (!err)
		err = components__poll(s);
	control__pump(s); /* also after an error: whoever asks gets an answer */
	if (!err && s->target_gone)
		err = -ESRCH;
	if (!err && capture_stop)
		err = -EINTR;
	return err;
}

static int min_ms(int ms, uint64_t end_ns)
{
	const uint64_t now = clock__monotonic_ns(), left = now < end_ns ? (end_ns - now) / MS : 0;

	return left < (uint64_t)ms ? (int)left : ms;
}

/* Reads what has come, and does what is due, by end_ns at the latest. Far from a window nothing
 * comes, and whoever shares a core with us should not notice us. */
int session__turn(struct session *s, uint64_t end_ns)
{
	const int ms = idle__ms(s);
	int err;

	if (ms)
		idle__sleep(s, min_ms(ms, end_ns));
	err = session__pump(s, ms ? 0 : 10);
	return err ? err : components__poll_windows(s);
}
