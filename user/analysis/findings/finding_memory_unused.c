// SPDX-License-Identifier: BSD-2-Clause
/* The allocator has taken much more of the device's memory than was in use at any time. */
#include "analysis/findings/finding.h"
#include "common/bytes_text.h"

#define FULL                                                                                       \
	0.5		/* least share of the device that is reserved: else nobody needs the       \
			   unused memory */
#define UNUSED	    0.3 /* least unused share of the reserved memory */
#define MAX_DEVICES 64

struct memory_unused {
	struct reserve {
		uint64_t allocated, reserved; /* bytes, the highest of each */
	} devices[MAX_DEVICES];
};

static int visit(const struct analysis *a, void *state, const struct batch *b)
{
	struct memory_unused *u = state;

	for (size_t i = 0; i < b->memory_cnt; i++) {
		const struct event_memory *m = b->memory[i].args;
		struct reserve *r;

		if (b->memory[i].name || !m->device_type || m->device_index < 0 ||
		    m->device_index >= MAX_DEVICES || m->total_allocated == UINT64_MAX ||
		    m->total_reserved == UINT64_MAX)
			continue;
		r = &u->devices[m->device_index];
		if (m->total_allocated > r->allocated)
			r->allocated = m->total_allocated;
		if (m->total_reserved > r->reserved)
			r->reserved = m->total_reserved;
	}
	return 0;
}

static uint64_t unused(const struct reserve *r)
{
	return r->reserved > r->allocated ? r->reserved - r->allocated : 0;
}

static int judge(const struct analysis *a, void *state, struct finding *f)
{
	const struct memory_unused *u = state;
	int worst = -1;

	for (int i = 0; i < MAX_DEVICES; i++) {
		const struct device_info *device = device_infos__at(&a->devices, i);
		const struct reserve *r = &u->devices[i];

		if (!device || !device->memory_bytes ||
		    (double)r->reserved < FULL * (double)device->memory_bytes ||
		    (double)unused(r) < UNUSED * (double)r->reserved)
			continue;
		if (worst < 0 || unused(r) > unused(&u->devices[worst]))
			worst = i;
	}
	if (worst < 0)
		return 0;
	snprintf(f->what, sizeof(f->what),
		 "The allocator holds %s of GPU%d, and at most %s of it were in use.",
		 bytes_text(u->devices[worst].reserved).s, worst,
		 bytes_text(u->devices[worst].allocated).s);
	snprintf(f->evidence, sizeof(f->evidence),
		 "%.0f %% of what it has reserved, on a device of %s, was used at no time of the "
		 "window",
		 100.0 * (double)unused(&u->devices[worst]) / (double)u->devices[worst].reserved,
		 bytes_text(device_infos__at(&a->devices, worst)->memory_bytes).s);
	snprintf(f->next, sizeof(f->next),
		 "sizes that change from step to step leave holes (PyTorch: expandable_segments, "
		 "padding to few sizes); memory of an earlier part (evaluation, a larger batch) "
		 "stays reserved until it is given back once (torch.cuda.empty_cache)");
	return 1;
}

const struct finding_rule finding_memory_unused = {
	.key = "memory_unused",
	.state_size = sizeof(struct memory_unused),
	.visit = visit,
	.judge = judge,
};
