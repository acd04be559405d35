/* SPDX-License-Identifier: BSD-2-Clause */
/* A map from correlation ids to numbers other than 0. */
#ifndef PROFTRACE_ID_MAP_H
#define PROFTRACE_ID_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct id_map {
	struct id_slot {
		uint32_t id, value; /* value 0: the slot is free */
	} *slots;
	size_t slot_cnt, cnt;
};

int id_map__put(struct id_map *m, uint32_t id, uint32_t value); /* 0 or -ENOMEM */
uint32_t id_map__get(const struct id_map *m, uint32_t id);	/* 0: the id is not there */
void id_map__clear(struct id_map *m);

#endif
