// SPDX-License-Identifier: BSD-2-Clause
#include "capture/capture_ring.h"
#include "bpf/skeleton.h"
#include "capture/window_edge.h"
#include "common/err.h"
#include "capture/message_table.h"
#include "common/util.h"

#define UNREAD_NS 16000000000ull
/* how long windows may follow each other while proftrace reads no record */
#define BEHIND_NS 2000000000ull

int capture_ring__new(struct session *s, ring_taker take)
{
	const struct ring_limits limits = {RING_BEGIN_BYTES, s->opts->ring_bytes};
	const int err = ring__new(bpf_map__fd(s->probes.skel->maps.ring), &limits, take, s,
				  &s->records.ring);

	return err ? err__set(err, MESSAGE_RING_NOT_MADE, strerror(-err)) : 0;
}

/* Reading the ring stops after each record of a window's edge. This reads the rest. */
static int read_on(struct session *s, int err)
{
	while (err == RING_PAUSED) {
		err = window_edge__take(s);
		if (!err)
			err = ring__go_on(s->records.ring);
	}
	return err;
}

int session__drain(struct session *s)
{
	const int err = read_on(s, ring__read(s->records.ring));

	return s->records.err ? s->records.err : err;
}

static int resize(struct session *s, uint64_t bytes)
{
	return read_on(s, ring__resize(s->records.ring, bytes));
}

/* The ring has room for twice the records of a window whose length is known. If more windows
 * follow, it has room for BEHIND_NS of them, too. */
uint64_t capture_ring__unread_ns(const struct session *s)
{
	const struct pt_schedule *p = &s->opts->schedule;
	const double record = (double)p->record, cycle = (double)(p->closed + p->ready) + record;
	double ns = 2 * record * (double)s->step_length.ns;

	if (s->probes.ctl->hold || !s->opts->has_schedule || ns <= 0)
		return UNREAD_NS;
	if (p->repeat != 1)
		ns += (double)BEHIND_NS * record / cycle;
	return ns < (double)UNREAD_NS ? (uint64_t)ns : UNREAD_NS;
}

/* The rate of the spans of the attached probes, as counted while steps were measured. */
static uint64_t counted_rate(const struct session *s)
{
	auto_free bool *seen = calloc(s->plan.row_cnt + 1, sizeof(*seen));
	double bytes = 0;

	for (size_t i = 0; seen && i < s->plan.cnt; i++) {
		const struct planned_probe *probe = &s->plan.probes[i];
		const bool is_named = probe->cfg.name_source && !probe->name;
		struct pt_probe_stat stat;

		if (seen[probe->row] || s->pruned.rows[probe->row])
			continue;
		seen[probe->row] = true;
		probes__stat(&s->probes, probe->row, &stat);
		bytes += (double)stat.spans *
			 (double)(is_named ? sizeof(struct pt_rec_named) : sizeof(struct pt_span));
	}
	return (uint64_t)(bytes / (double)s->pruned.steps / (double)s->step_length.ns * 1e9);
}

int capture_ring__armed(struct session *s)
{
	const uint64_t bytes =
		ring__fitting(s->records.ring, capture_ring__unread_ns(s), RING_ARMED_BYTES);

	/* The job may be slower by now than in its first windows. */
	if (s->windows.written > s->records.rate_windows)
		ring__forget_rate(s->records.ring);
	s->records.rate_windows = s->windows.written;
	return resize(s, bytes);
}

int capture_ring__learned(struct session *s)
{
	if (!s->pruned.steps || !s->step_length.ns)
		return 0;
	ring__forget_rate(s->records.ring); /* that rate includes probes that are pruned by now */
	ring__expect(s->records.ring, counted_rate(s));
	return capture_ring__armed(s);
}

int capture_ring__waits(struct session *s)
{
	return resize(s, RING_WAIT_BYTES);
}

int capture_ring__fit(struct session *s)
{
	const uint64_t unread_ns = s->residency == RESIDENCY_FULL ? capture_ring__unread_ns(s) : 0;

	return read_on(s, ring__fit(s->records.ring, unread_ns));
}
