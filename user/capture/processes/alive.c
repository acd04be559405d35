// SPDX-License-Identifier: BSD-2-Clause
#include "capture/processes/alive.h"
#include "capture/session.h"
#include "common/util.h"

#define MS 1000000ull

#define LOOK_NS	     (200 * MS)
#define LOOK_SOON_NS (10 * MS)
#define DOUBTS	     10

/* A tracer such as strace stops the target for a moment at each call. Is this stop likely such a
 * moment? */
static bool is_doubtful(struct session *s)
{
	return s->alive.doubts < DOUBTS && proc__status(s->opts->pid, "TracerPid") > 0;
}

static void on_stopped(struct session *s, uint64_t now_ns)
{
	if (is_doubtful(s)) {
		s->alive.doubts++;
		s->alive.next_ns = now_ns + LOOK_SOON_NS;
	} else {
		s->alive.doubts = 0;
		session__warn_stopped(s);
	}
}

static int look(struct session *s, uint64_t *next_ns)
{
	const bool was_stopped = s->target->is_stopped;
	const uint64_t now_ns = clock__monotonic_ns();

	if (now_ns < s->alive.next_ns)
		return 0;
	s->alive.next_ns = now_ns + LOOK_NS;
	if (!target__alive(s->target))
		s->target_gone = true;
	else if (!s->target->is_stopped)
		s->alive.doubts = 0;
	else if (!was_stopped || s->alive.doubts)
		on_stopped(s, now_ns);
	if (s->alive.doubts)
		turn_by(next_ns, s->alive.next_ns);
	return 0;
}

const struct component component_target = {
	.name = "target",
	.poll = look,
	.at_end = true,
};
