/* SPDX-License-Identifier: BSD-2-Clause */
/* What is kept of the calls of a window, by their correlation ids: the track that their activities are
 * told by, and of launches whether their work has come. Either may come first. */
#ifndef PROFTRACE_KEPT_CALLS_H
#define PROFTRACE_KEPT_CALLS_H

#include "device/id_map.h"

#define KEPT_OUTSIDE ((1u << 30) - 1) /* instead of a track: it was not open in the window */

/* Zeroed at first. */
struct kept_calls {
	struct id_map map;
	uint64_t waiting_cnt; /* launches whose work did not come yet */
};

/* It has come, and will be put. 0 or -ENOMEM. */
int kept_calls__see(struct kept_calls *k, uint32_t correlation);
/* 0 or -ENOMEM. launches: work of it is to come. */
int kept_calls__put(struct kept_calls *k, uint32_t correlation, uint32_t track, bool launches);
/* Work of it has come. */
int kept_calls__answered(struct kept_calls *k, uint32_t correlation);
/* The call's track, or KEPT_OUTSIDE; 0: it was not put. */
uint32_t kept_calls__track(const struct kept_calls *k, uint32_t correlation);
bool kept_calls__is_seen(const struct kept_calls *k, uint32_t correlation); /* or put */
void kept_calls__clear(struct kept_calls *k);

#endif
