// SPDX-License-Identifier: BSD-2-Clause
#include "exporters/parts/gpu_ranges.h"
#include <errno.h>
#include <stdlib.h>
#include "common/util.h"

static int by_begin(const void *x, const void *y)
{
	const struct gpu_range *a = x, *b = y;

	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	if (a->end_ns != b->end_ns)
		return a->end_ns > b->end_ns ? -1 : 1;
	if (a->host_ns != b->host_ns)
		return a->host_ns < b->host_ns ? -1 : 1;
	if (a->name != b->name)
		return a->name < b->name ? -1 : 1; /* a step is outside of other ranges */
	return (a->track > b->track) - (a->track < b->track);
}

static int host_cmp(const struct gpu_range *a, uint32_t track, uint64_t begin_ns, uint32_t name)
{
	if (a->host_ns != begin_ns)
		return a->host_ns < begin_ns ? -1 : 1;
	if (a->host_track != track)
		return a->host_track < track ? -1 : 1;
	return (a->name > name) - (a->name < name);
}

static int by_host(const void *x, const void *y)
{
	const struct gpu_range *const *a = x, *const *b = y;

	return host_cmp(*a, (*b)->host_track, (*b)->host_ns, (*b)->name);
}

int gpu_ranges__sort(struct gpu_ranges *g)
{
	if (!g->cnt)
		return 0;
	qsort(g->ranges, g->cnt, sizeof(*g->ranges), by_begin);
	g->by_host = calloc(g->cnt, sizeof(*g->by_host));
	if (!g->by_host)
		return -ENOMEM;
	for (size_t i = 0; i < g->cnt; i++)
		g->by_host[i] = &g->ranges[i];
	qsort(g->by_host, g->cnt, sizeof(*g->by_host), by_host);
	return 0;
}

void gpu_ranges__free(struct gpu_ranges *g)
{
	free(g->ranges);
	free(g->by_host);
	*g = (struct gpu_ranges){0};
}

void gpu_ranges__set_id(struct gpu_ranges *g, uint32_t track, uint64_t begin_ns, uint32_t name,
			uint64_t external_id)
{
	size_t lo = 0, hi = g->cnt;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (host_cmp(g->by_host[mid], track, begin_ns, name) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < g->cnt && !host_cmp(g->by_host[lo], track, begin_ns, name); lo++)
		g->by_host[lo]->external_id = external_id;
}
