// SPDX-License-Identifier: BSD-2-Clause
#include "capture/arming/until_window.h"
#include "capture/session.h"

#define MS 1000000ull

/* The job may become this many times faster while we sleep, and still has its probes in time. */
#define FASTER 20
/* Probes that count steps come back 2 leads before the window (residency.c). */
#define LEADS 4

/* Probes are attached at least this long before a window. They are detached only if the window is
 * twice as far away. */
#define LEAST_LEAD_NS (1500 * MS)

uint64_t arm__lead_after(uint64_t attach_ns)
{
	const uint64_t lead = 2 * attach_ns;

	return lead > LEAST_LEAD_NS ? lead : LEAST_LEAD_NS;
}

uint64_t arm__lead_ns(const struct session *s)
{
	return arm__lead_after(s->attaching.longest_ns);
}

uint64_t arm__steps_left(const struct pt_ctl *ctl)
{
	const struct pt_schedule *p = &ctl->schedule;
	uint64_t cycle = p->closed + p->ready + p->record, skip = p->skip_first + ctl->shifted;
	uint64_t step = ctl->started ? probeless__step(ctl) : 0, pos;

	if (ctl->hold)
		return ctl->hold == PT_HOLD_RECORD ? 0 : UINT64_MAX;
	if (step < skip)
		return skip + p->closed - step;
	if (!cycle || (p->repeat && (step - skip) / cycle >= p->repeat))
		return UINT64_MAX;
	pos = (step - skip) % cycle;
	return pos < p->closed ? p->closed - pos : 0;
}

static uint64_t latest_step_ns(const struct session *s)
{
	const struct pt_ctl *ctl = s->probes.ctl;
	uint64_t ns = ctl->step_seq > 2 ? ctl->step_took_ns : s->step_length.ns;

	return ns ? ns : 1;
}

/* The smaller of the step lengths by probes and by the counters. */
uint64_t arm__step_ns(const struct session *s)
{
	const bool is_seen = s->residency == RESIDENCY_NONE || s->probeless.is_checked;
	const uint64_t step_ns = latest_step_ns(s), seen_ns = is_seen ? s->probeless.step_ns : 0;

	return seen_ns && seen_ns < step_ns ? seen_ns : step_ns;
}

uint64_t arm__until_window_ns(const struct session *s)
{
	const uint64_t left = arm__steps_left(s->probes.ctl);
	uint64_t ns;

	return __builtin_mul_overflow(left, arm__step_ns(s), &ns) ? UINT64_MAX : ns;
}

uint64_t arm__quiet_ns(const struct session *s)
{
	const uint64_t left_ns = arm__until_window_ns(s), lead_ns = LEADS * arm__lead_ns(s);
	const uint64_t ns = left_ns > lead_ns ? (left_ns - lead_ns) / FASTER : 0;

	if (s->residency == RESIDENCY_FULL)
		return READ_NS;
	return ns < QUIET_LEAST_NS ? QUIET_LEAST_NS : ns;
}
