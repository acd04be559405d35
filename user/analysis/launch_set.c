// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/launch_set.h"
#include <errno.h>
#include <stdlib.h>

#define IDS_MAX ((size_t)1 << 19) /* ids in each half */

static uint64_t *slot_of(const struct launch_ids *ids, uint64_t id)
{
	size_t i = (id * 0x9e3779b97f4a7c15ull >> 32) & (ids->slot_cnt - 1);

	while (ids->slots[i] && ids->slots[i] != id + 1)
		i = (i + 1) & (ids->slot_cnt - 1);
	return &ids->slots[i];
}

static int grow(struct launch_ids *ids)
{
	struct launch_ids grown = {.slot_cnt = ids->slot_cnt ? 2 * ids->slot_cnt : 256,
				   .used = ids->used};

	grown.slots = calloc(grown.slot_cnt, sizeof(*grown.slots));
	if (!grown.slots)
		return -ENOMEM;
	for (size_t i = 0; i < ids->slot_cnt; i++)
		if (ids->slots[i])
			*slot_of(&grown, ids->slots[i] - 1) = ids->slots[i];
	free(ids->slots);
	*ids = grown;
	return 0;
}

int launch_set__add(struct launch_set *s, uint64_t id)
{
	uint64_t *slot;

	if (s->now.used >= IDS_MAX) {
		free(s->before.slots);
		s->before = s->now;
		s->now = (struct launch_ids){0};
	}
	if (2 * s->now.used >= s->now.slot_cnt && grow(&s->now))
		return -ENOMEM;
	slot = slot_of(&s->now, id);
	s->now.used += !*slot;
	*slot = id + 1;
	return 0;
}

bool launch_set__has(const struct launch_set *s, uint64_t id)
{
	return (s->now.slot_cnt && *slot_of(&s->now, id)) ||
	       (s->before.slot_cnt && *slot_of(&s->before, id));
}

void launch_set__free(struct launch_set *s)
{
	free(s->now.slots);
	free(s->before.slots);
}
