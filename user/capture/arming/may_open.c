// SPDX-License-Identifier: BSD-2-Clause
#include "capture/arming/may_open.h"
#include "bpf/ctl.h"
#include "common/util.h"
#include "device/device_source.h"

/* The library is to record, and does not yet. */
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
	/* The library ends with a window and begins with the next: the programs open none before
	 * that, however late it is noticed that one has ended. */
	s->probes.ctl->armed_once = s->device != NULL;
	s->probes.ctl->armed = is_full && !starting ? s->windows.closes_seen + 1 : 0;
}
