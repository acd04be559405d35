// SPDX-License-Identifier: BSD-2-Clause
/* Whether the target is still there, and goes on. */
#include "capture/session.h"

static int look(struct session *s)
{
	const bool was_stopped = s->target->is_stopped;

	if (!target__alive(s->target))
		s->target_gone = true;
	else if (s->target->is_stopped && !was_stopped)
		session__warn_stopped(s);
	return 0;
}

const struct component component_target = {
	.name = "target",
	.poll = look,
	.every_ms = 200,
};
