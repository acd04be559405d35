// SPDX-License-Identifier: BSD-2-Clause
#include "capture/arming/may_open.h"
#include "bpf/ctl.h"
#include "common/util.h"
#include "device/device_source.h"

/* Our library shall record, but does not record yet. */
static bool library_is_starting(const struct session *s)
{
	return s->device &&
	       (s->windows.ending || !device_source__is_idle(s->device, clock__monotonic_ns()));
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
