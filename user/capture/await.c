// SPDX-License-Identifier: BSD-2-Clause
#include "capture/await.h"
#include "common/err.h"
#include "common/util.h"
#include "device/shim_link.h"
#include <string.h>

#define POLL_US 20000

static int look(struct session *s)
{
	int err;

	if (s->target)
		target__close(s->target);
	s->target = NULL;
	memset(&s->match, 0, sizeof(s->match));
	err = target__open(s->opts->pid, &s->target);
	return err ? err : frameworks__recognise(s->target, &s->match);
}

static bool may_come(const struct session *s)
{
	if (s->match.ready)
		return false;
	return s->match.framework || s->opts->await_framework ||
	       (s->opts->has_schedule && s->target->python);
}

int session__await_framework(struct session *s)
{
	uint64_t begin = clock__monotonic_ns(), elapsed = 0;
	int err = look(s);

	while (!err && may_come(s) && elapsed < s->opts->step_timeout_ns) {
		if (!elapsed && !s->opts->await_framework)
			log__info("process %d has no framework loaded yet; waiting for one",
				  s->opts->pid);
		usleep(POLL_US);
		elapsed = clock__monotonic_ns() - begin;
		session__progress(s, "waiting for a framework (%.0f s)", (double)elapsed / 1e9);
		if (s->opts->shim)
			shim_link__beat(s->opts->shim);
		if (capture_stop)
			return -EINTR;
		err = look(s);
		if (err == -ESRCH)
			err = err__set(err, "process %d ended before a framework was loaded",
				       s->opts->pid);
	}
	session__progress_end(s);
	if (!err && s->target->is_stopped)
		log__warn(
			"process %d is stopped (state T): no step will be seen before it goes on; "
			"`kill -CONT %d`",
			s->opts->pid, s->opts->pid);
	return err;
}
