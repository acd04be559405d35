// SPDX-License-Identifier: BSD-2-Clause
#include "capture/device/device_start.h"
#include "capture/device/device_library.h"
#include "capture/device/pointer_hooks.h"
#include "capture/session.h"
#include "capture/wait.h"
#include "common/util.h"

static int look_at_source(struct session *s, struct wait *w)
{
	if (device_source__is_idle(s->device, clock__monotonic_ns()))
		return WAIT_IS_OVER;
	session__progress(s, "%s %s", (const char *)w->ctx,
			  s->cupti.functions_alone ? "our library" : "CUPTI");
	return WAIT_GOES_ON;
}

static int wait_idle(struct session *s, char *what)
{
	return session__wait(s, &(struct wait){look_at_source, what, .turn_us = 10000});
}

/* Restarts the library. Pointers that it no longer needs have their old values then. */
static int start_again(struct session *s)
{
	int err;

	s->pointer_hooks.in_the_way = false;
	device_source__want(s->device, false);
	err = wait_idle(s, "stopping");
	device_source__want(s->device, true);
	return err ? err : wait_idle(s, "starting");
}

/* CUPTI's first start can take seconds. */
static int prepare(struct session *s)
{
	int err = device_library__choose_late(s);

	if (err || !s->device)
		return err;
	err = pointer_hooks__choose(s);
	if (err)
		return err;
	device_source__want(s->device, true);
	err = wait_idle(s, "starting");
	device_library__on_started(s);
	if (!err)
		err = pointer_hooks__check(s);
	if (!err && s->pointer_hooks.in_the_way)
		err = start_again(s);
	if (!err && !device_library__is_near(s)) {
		device_source__want(s->device, false);
		err = wait_idle(s, "stopping");
	}
	return err;
}

const struct component component_device_start = {
	.name = "first start of our library",
	.prepare = prepare,
};

static int look_at_last(struct session *s, struct wait *w)
{
	(void)w;
	return !s->device || s->target_gone ||
			       device_source__is_idle(s->device, clock__monotonic_ns())
		       ? WAIT_IS_OVER
		       : WAIT_GOES_ON;
}

int device_start__await_end(struct session *s)
{
	return session__wait(s, &(struct wait){look_at_last, .turn_us = 2000, .stage = STAGE_END});
}
