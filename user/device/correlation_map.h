/* SPDX-License-Identifier: BSD-2-Clause */
/* The calls of a window by correlation id. Each has its track, which its activities need. A launch
 * also has the fact whether its work came. Work may come before its launch. */
#ifndef PROFTRACE_CORRELATION_MAP_H
#define PROFTRACE_CORRELATION_MAP_H

#include "device/id_map.h"

#define KEPT_OUTSIDE ((1u << 30) - 1) /* in place of a track: the call was not open in the window */

/* Zeroed at first. */
struct correlation_map {
	struct id_map map;
	uint64_t waiting_cnt; /* launches whose work has not come yet */
};

/* The call was read, and will be put later. 0 or -ENOMEM. */
int correlation_map__see(struct correlation_map *k, uint32_t correlation);
/* Puts a call. launches: its work is still to come, or came already. 0 or -ENOMEM. */
int correlation_map__put(struct correlation_map *k, uint32_t correlation, uint32_t track, bool launches);
/* Work of the call came. */
int correlation_map__has_work(struct correlation_map *k, uint32_t correlation);
/* The call's track, or KEPT_OUTSIDE. 0: it was not put. */
uint32_t correlation_map__track(const struct correlation_map *k, uint32_t correlation);
bool correlation_map__is_seen(const struct correlation_map *k, uint32_t correlation); /* also
											 true if
											 it was
											 put */
void correlation_map__clear(struct correlation_map *k);

#endif
