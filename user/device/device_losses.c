// SPDX-License-Identifier: BSD-2-Clause
#include "device/device_losses.h"
#include "common/util.h"
#include <string.h>

#define TEXT_OF_(x) #x
#define TEXT_OF(x)  TEXT_OF_(x)

static const struct {
	const char *key, *why;
	bool at_once; /* counted when the loss happens */
} kinds[LOSS_CNT] = {
	[LOSS_RINGS] = {"rings", "found no room, for proftrace read them too late"},
	[LOSS_THREADS] = {"threads",
			  "were calls of threads beyond the " TEXT_OF(
				  SHIM_RINGS) " that are followed at a time",
			  true},
	[LOSS_CUPTI] = {"cupti", "were dropped by CUPTI"},
	[LOSS_INCOMPLETE] = {"incomplete", "had not ended when CUPTI was left"},
	[LOSS_BUFFERS] = {"buffers", "found no buffer free in the process"},
	[LOSS_MALFORMED] = {"malformed", "could not be read"},
	[LOSS_QUEUE] = {"queue", "were more than proftrace holds at a time"},
	[LOSS_CLOCK] = {"clock", "had times of another clock"},
};

void device_losses__look(struct device_losses *l, const struct shim_facts *f, uint64_t queue,
			 uint64_t clock)
{
	l->before = l->last;
	l->last = (struct device_loss_look){
		.at_ns = clock__monotonic_ns(),
		.cnt =
			{
				[LOSS_RINGS] = f->lost_rings,
				[LOSS_THREADS] = f->lost_threads,
				[LOSS_CUPTI] = f->lost_cupti,
				[LOSS_INCOMPLETE] = f->lost_incomplete,
				[LOSS_BUFFERS] = f->lost_buffers,
				[LOSS_MALFORMED] = f->malformed,
				[LOSS_QUEUE] = queue,
				[LOSS_CLOCK] = clock,
			},
	};
}

void device_losses__open(struct device_losses *l, uint64_t open_ns)
{
	const struct device_loss_look *look = l->last.at_ns <= open_ns ? &l->last : &l->before;

	if (look->at_ns <= open_ns)
		memcpy(l->elsewhere, look->cnt, sizeof(l->elsewhere));
	l->closed = false;
}

void device_losses__close(struct device_losses *l)
{
	memcpy(l->closed_cnt, l->last.cnt, sizeof(l->closed_cnt));
	l->closed = true;
}

static uint64_t window_cnt(const struct device_losses *l, size_t kind)
{
	const bool is_later = l->closed && kinds[kind].at_once;

	return (is_later ? l->closed_cnt : l->last.cnt)[kind] - l->elsewhere[kind];
}

json_t *device_losses__json(struct device_losses *l, const char *what, json_t *notes,
			    uint64_t *lost)
{
	json_t *counts = json_object();

	*lost = 0;
	for (size_t i = 0; i < LOSS_CNT; i++) {
		const uint64_t cnt = window_cnt(l, i);

		*lost += cnt;
		json_object_set_new(counts, kinds[i].key, json_integer((json_int_t)cnt));
		if (cnt)
			json_array_append_new(notes, json_sprintf("lost: %llu of %s %s",
								  (unsigned long long)cnt, what,
								  kinds[i].why));
	}
	memcpy(l->elsewhere, l->last.cnt, sizeof(l->elsewhere));
	return counts;
}
