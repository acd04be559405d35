/* SPDX-License-Identifier: BSD-2-Clause */
/* The calls of a window by their correlation ids. Kept are the track of each call, which its
 * activities need, and of launches whether their work has come. Either may come first. */
#ifndef PROFTRACE_CORRELATION_MAP_H
#define PROFTRACE_CORRELATION_MAP_H

#include "device/id_map.h"

#define KEPT_OUTSIDE ((1u << 30) - 1) /* instead of a track: it was not open in the window */

/* Zeroed at first. */
struct correlation_map {
	struct id_map map;
	uint64_t waiting_cnt; /* launches whose work did not come yet */
};

/* It has come, and will be put. 0 or -ENOMEM. */
int correlation_map__see(struct correlation_map *k, uint32_t correlation);
/* 0 or -ENOMEM. launches: work of it is to come. */
int correlation_map__put(struct correlation_map *k, uint32_t correlation, uint32_t track, bool launches);
/* Work of it has come. */
int correlation_map__has_work(struct correlation_map *k, uint32_t correlation);
/* The call's track, or KEPT_OUTSIDE; 0: it was not put. */
uint32_t correlation_map__track(const struct correlation_map *k, uint32_t correlation);
bool correlation_map__is_seen(const struct correlation_map *k, uint32_t correlation); /* or put */
void correlation_map__clear(struct correlation_map *k);

#endif
