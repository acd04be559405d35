// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/first_work.h"
#include "analysis/analysis.h"

#define QUEUED_NS 100000 /* work that begins so long after its launch waited for other work */

void first_work__note(struct first_work works[FEED_DEVICES], const struct track *t,
		      const struct span *s)
{
	struct first_work *first = &works[t->device & (FEED_DEVICES - 1)];

	if (t->device < 0 || t->device >= FEED_DEVICES || !span_kind__is_device_work(s->kind) ||
	    (first->seen && s->ev.ts_ns >= first->begin_ns))
		return;
	*first = (struct first_work){
		.seen = true,
		.begin_ns = s->ev.ts_ns,
		.launched_ns = s->launch ? s->launch->ev.ts_ns + s->launch->ev.dur_ns : s->ev.ts_ns,
	};
}

/* From when on the device's work is known. 0: from the begin, because the device was idle before
 * its first recorded work. */
static uint64_t known_from(const struct analysis *a, int device)
{
	const struct first_work *first = &a->feed.first[device];

	return first->begin_ns > first->launched_ns + QUEUED_NS ? first->begin_ns : 0;
}

static uint64_t known_from_any(const struct analysis *a)
{
	uint64_t from_ns = UINT64_MAX;

	for (int i = 0; i < FEED_DEVICES; i++)
		if (a->feed.first[i].seen && known_from(a, i) < from_ns)
			from_ns = known_from(a, i);
	return from_ns == UINT64_MAX ? 0 : from_ns;
}

uint64_t first_work__known_from(const struct analysis *a, int device)
{
	return device == ANY_DEVICE ? known_from_any(a) : known_from(a, device);
}
