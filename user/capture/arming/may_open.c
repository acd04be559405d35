// SPDX-License-Identifier: BSD-2-Clause
#include "capture/arming/may_open.h"
#include "bpf/ctl.h"
#include "common/util.h"
#include "device/device_source.h"

bool arm__needs_library(const struct session *s)
{
	return s->device && !s->calls_on && !s->cupti.yielded &&
	       !device_source__is_absent(s->device) && !device_source__refusal(s->device);
}

/* Our library shall record, but does not record yet. The probes may be attached a turn before it is
 * asked to. */
static bool library_is_starting(const struct session *s)
{
	return s->device &&
	       (s->windows.ending || !device_source__is_idle(s->device, clock__monotonic_ns()) ||
		(arm__needs_library(s) && !device_source__is_recording(s->device)));
}

void arm__set_open(struct session *s)
{
	const bool starting = library_is_starting(s);
	const bool is_full = s->residency == RESIDENCY_FULL;

	if (!is_full || starting)
		s->cupti.awaited = is_full;
	/* The library stops with a window and starts for the next one. The programs open no window
	 * before that. This holds even if proftrace notices the window's end late. */
	s->probes.ctl->armed_once = s->device != NULL;
	s->probes.ctl->armed = is_full && !starting ? s->windows.closes_seen + 1 : 0;
}
