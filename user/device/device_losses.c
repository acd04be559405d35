// SPDX-License-Identifier: BSD-2-Clause
#include "device/device_losses.h"

#define TEXT_OF_(x) #x
#define TEXT_OF(x)  TEXT_OF_(x)

static const struct {
	const char *key, *why;
} kinds[LOSS_CNT] = {
	[LOSS_RINGS] = {"rings", "found no room, for proftrace read them too late"},
	[LOSS_THREADS] = {"threads", "were calls of threads beyond the " TEXT_OF(
					     SHIM_RINGS) " that are followed at a time"},
	[LOSS_CUPTI] = {"cupti", "were dropped by CUPTI"},
	[LOSS_INCOMPLETE] = {"incomplete", "had not ended when CUPTI was left"},
	[LOSS_BUFFERS] = {"buffers", "found no buffer free in the process"},
	[LOSS_MALFORMED] = {"malformed", "could not be read"},
	[LOSS_QUEUE] = {"queue", "were more than proftrace holds at a time"},
	[LOSS_CLOCK] = {"clock", "had times of another clock"},
};

json_t *device_losses__json(struct device_losses *l, const struct shim_facts *f, uint64_t queue,
			    uint64_t clock, json_t *notes, uint64_t *lost)
{
	const uint64_t now[LOSS_CNT] = {
		[LOSS_RINGS] = f->lost_rings,
		[LOSS_THREADS] = f->lost_threads,
		[LOSS_CUPTI] = f->lost_cupti,
		[LOSS_INCOMPLETE] = f->lost_incomplete,
		[LOSS_BUFFERS] = f->lost_buffers,
		[LOSS_MALFORMED] = f->malformed,
		[LOSS_QUEUE] = queue,
		[LOSS_CLOCK] = clock,
	};
	json_t *counts = json_object();

	*lost = 0;
	for (size_t i = 0; i < LOSS_CNT; i++) {
		const uint64_t cnt = now[i] - l->told[i];

		*lost += cnt;
		json_object_set_new(counts, kinds[i].key, json_integer((json_int_t)cnt));
		if (cnt)
			json_array_append_new(notes,
					      json_sprintf("lost: %llu of the device's "
							   "events %s",
							   (unsigned long long)cnt, kinds[i].why));
		l->told[i] = now[i];
	}
	return counts;
}
