/* SPDX-License-Identifier: BSD-2-Clause */
/* The correlation ids of launches, for recognizing their work. It keeps the latest 2^20 ids or
 * fewer, as a device's queue is far shorter. */
#ifndef PROFTRACE_LAUNCH_SET_H
#define PROFTRACE_LAUNCH_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct launch_set {
	struct launch_ids {
		uint64_t *slots; /* id + 1 */
		size_t slot_cnt, used;
	} now, before;
};
/* 0 or -ENOMEM */
int launch_set__add(struct launch_set *s, uint64_t id);
bool launch_set__has(const struct launch_set *s, uint64_t id);
void launch_set__free(struct launch_set *s);

#endif
