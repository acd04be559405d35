// SPDX-License-Identifier: BSD-2-Clause
#include "capture/capture_ring.h"
#include "bpf/skeleton.h"
#include "common/err.h"

#define UNREAD_NS 16000000000ull

int capture_ring__new(struct session *s)
{
	const struct ring_limits limits = {RING_BEGIN_BYTES, s->opts->ring_bytes};
	const int err = ring__new(bpf_map__fd(s->probes.skel->maps.ring), &limits,
				  session__on_record, s, &s->records.ring);

	return err ? err__set(err, "cannot make the buffer between kernel and recorder: %s",
			      strerror(-err))
		   : 0;
}

/* Of a window of known length no more than its records, twice, can wait. */
uint64_t capture_ring__unread_ns(const struct session *s)
{
	const struct pt_ctl *ctl = s->probes.ctl;
	uint64_t window_ns;

	if (ctl->hold || !s->step_length.ns || !ctl->schedule.record ||
	    __builtin_mul_overflow(2 * ctl->schedule.record, s->step_length.ns, &window_ns))
		return UNREAD_NS;
	return window_ns < UNREAD_NS ? window_ns : UNREAD_NS;
}

int capture_ring__armed(struct session *s)
{
	const uint64_t bytes =
		ring__fitting(s->records.ring, capture_ring__unread_ns(s), RING_ARMED_BYTES);

	ring__forget_rate(s->records.ring);
	return ring__resize(s->records.ring, bytes);
}

int capture_ring__learned(struct session *s)
{
	return s->pruned.steps ? capture_ring__armed(s) : 0;
}

int capture_ring__waits(struct session *s)
{
	return ring__resize(s->records.ring, RING_WAIT_BYTES);
}

int capture_ring__fit(struct session *s)
{
	return ring__fit(s->records.ring, s->armed ? capture_ring__unread_ns(s) : 0);
}
