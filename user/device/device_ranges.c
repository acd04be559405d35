// SPDX-License-Identifier: BSD-2-Clause
#include "device/device_ranges.h"
#include "common/util.h"
#include <string.h>

enum { MARK_INSTANT = 1, MARK_BEGIN = 2, MARK_END = 4 };

static struct device_range *find(struct device_ranges *r, uint32_t id)
{
	for (size_t i = r->cnt; i-- > 0;)
		if (r->open[i].id == id)
			return &r->open[i];
	return NULL;
}

static int add(struct device_ranges *r, const struct device_range *range)
{
	if (r->cnt < RANGES_MAX)
		return ARRAY_PUSH(r->open, r->cnt, r->cap, *range);
	r->lost++;
	return 0;
}

/* A range does not nest if it ends while a later range of its thread is still open. */
static bool is_innermost(const struct device_ranges *r, const struct device_range *range)
{
	for (const struct device_range *o = range + 1; o < r->open + r->cnt; o++)
		if (o->tid == range->tid && o->begin_ns)
			return false;
	return true;
}

static void take_out(struct device_ranges *r, struct device_range *range)
{
	size_t at = (size_t)(range - r->open);

	memmove(range, range + 1, (r->cnt - at - 1) * sizeof(*range));
	r->cnt--;
}

int device_ranges__mark(struct device_ranges *r, const struct shim_marker *m,
			struct device_range *range)
{
	const struct device_range fresh = {
		.id = m->id,
		.tid = m->tid,
		.begin_ns = m->flags & MARK_END ? 0 : m->a.start_ns,
		.end_ns = m->flags & (MARK_END | MARK_INSTANT) ? m->a.start_ns : 0,
		.name = m->name,
	};
	struct device_range *known;

	*range = fresh;
	if (m->flags & MARK_INSTANT)
		return 1;
	if (!(m->flags & (MARK_BEGIN | MARK_END)))
		return 0;
	known = find(r, m->id);
	if (!known || !known->begin_ns == !fresh.begin_ns)
		return add(r, &fresh);
	range->nests = known->tid == fresh.tid && is_innermost(r, known);
	if (known->begin_ns) {
		range->begin_ns = known->begin_ns;
		range->name = known->name;
		range->tid = known->tid;
	} else {
		range->end_ns = known->end_ns;
	}
	take_out(r, known);
	return 1;
}

void device_ranges__clear(struct device_ranges *r)
{
	free(r->open);
	*r = (struct device_ranges){.lost = r->lost};
}
