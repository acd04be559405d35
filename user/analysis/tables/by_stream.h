/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of what ran on devices: merged, or with one section per device and stream. */
#ifndef PROFTRACE_BY_STREAM_H
#define PROFTRACE_BY_STREAM_H

#include "analysis/order.h"

/* The group of a device track: its id, or 0 if all are merged. */
uint32_t by_stream__group(const struct analysis *a, const struct track *t);
/* "GPU0 stream 7" */
void by_stream__name(const struct analysis *a, uint32_t group, char *buf, size_t size);

/* Adds the map's rows by section, then in the order of the user's word. add prints one row; whole
 * is the section's device time. */
int by_stream__fill(const struct analysis *a, const struct stat_map *m,
		    const struct order_word *words, struct table *t,
		    int (*add)(const struct analysis *a, void *state, struct table *t,
			       const struct stat_row *row, uint64_t whole),
		    void *state);

/* One union of times per device, or per device and stream. */
struct stream_unions {
	struct stream_union {
		uint32_t group;
		struct interval_union time;
	} *items;
	size_t cnt, cap;
};
/* NULL: out of memory. Valid until the next call. */
struct interval_union *stream_unions__at(struct stream_unions *u, uint32_t group);
void stream_unions__free(struct stream_unions *u);

#endif
