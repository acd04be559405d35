// SPDX-License-Identifier: BSD-2-Clause
#include "device/id_map.h"
#include <errno.h>
#include <stdlib.h>

/* Ids are dense, so their low bits spread well over the slots. */
static struct id_slot *find(const struct id_map *m, uint32_t id)
{
	size_t i = id & (m->slot_cnt - 1);

	while (m->slots[i].value && m->slots[i].id != id)
		i = (i + 1) & (m->slot_cnt - 1);
	return &m->slots[i];
}

static int grow(struct id_map *m)
{
	struct id_map grown = {.slot_cnt = m->slot_cnt ? m->slot_cnt * 2 : 1024, .cnt = m->cnt};

	grown.slots = calloc(grown.slot_cnt, sizeof(*grown.slots));
	if (!grown.slots)
		return -ENOMEM;
	for (size_t i = 0; i < m->slot_cnt; i++)
		if (m->slots[i].value)
			*find(&grown, m->slots[i].id) = m->slots[i];
	free(m->slots);
	*m = grown;
	return 0;
}

int id_map__put(struct id_map *m, uint32_t id, uint32_t value)
{
	struct id_slot *slot;

	if (m->cnt * 2 >= m->slot_cnt && grow(m))
		return -ENOMEM;
	slot = find(m, id);
	m->cnt += !slot->value;
	*slot = (struct id_slot){id, value};
	return 0;
}

uint32_t id_map__get(const struct id_map *m, uint32_t id)
{
	return m->slot_cnt ? find(m, id)->value : 0;
}

void id_map__clear(struct id_map *m)
{
	free(m->slots);
	*m = (struct id_map){0};
}
