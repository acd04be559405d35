// SPDX-License-Identifier: BSD-2-Clause
#include "device/correlation_map.h"

#define TRACK KEPT_OUTSIDE
/* in place of a track: the call is known, but was not put yet */
#define COMING	 (KEPT_OUTSIDE - 1)
#define WAITING	 (1u << 30) /* flag: a launch whose work did not come yet */
#define ANSWERED (1u << 31) /* flag: work came before its launch was put */

int correlation_map__put(struct correlation_map *k, uint32_t correlation, uint32_t track,
			 bool launches)
{
	const bool waits = launches && !(id_map__get(&k->map, correlation) & ANSWERED);

	k->waiting_cnt += waits;
	return id_map__put(&k->map, correlation, waits ? track | WAITING : track);
}

int correlation_map__see(struct correlation_map *k, uint32_t correlation)
{
	const uint32_t kept = id_map__get(&k->map, correlation);

	return kept & TRACK ? 0 : id_map__put(&k->map, correlation, kept | COMING);
}

int correlation_map__has_work(struct correlation_map *k, uint32_t correlation)
{
	const uint32_t kept = id_map__get(&k->map, correlation);

	if (!kept || (kept & TRACK) == COMING)
		return id_map__put(&k->map, correlation, kept | ANSWERED);
	if (!(kept & WAITING))
		return 0;
	k->waiting_cnt--;
	return id_map__put(&k->map, correlation, kept & TRACK);
}

uint32_t correlation_map__track(const struct correlation_map *k, uint32_t correlation)
{
	const uint32_t track = id_map__get(&k->map, correlation) & TRACK;

	return track == COMING ? 0 : track;
}

bool correlation_map__is_seen(const struct correlation_map *k, uint32_t correlation)
{
	return id_map__get(&k->map, correlation) & TRACK;
}

void correlation_map__clear(struct correlation_map *k)
{
	id_map__clear(&k->map);
	k->waiting_cnt = 0;
}
