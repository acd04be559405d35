// SPDX-License-Identifier: BSD-2-Clause
/* Allocations and frees: finds the size of a free by its address, and gives each event to its
 * innermost span. */
#include <stdlib.h>
#include <string.h>
#include "common/util.h"
#include "model/model_internal.h"

/* most allocations remembered at a time; the sizes of later ones stay unknown */
#define LIVE_MAX (1u << 21)

/* Keeps allocations of the driver and of the framework apart, because both may begin at the same
 * address. */
#define LIVE_DRIVER (1u << 31)

struct live_slot {
	uint64_t addr; /* 0: the slot is free */
	uint32_t pid;  /* combined with LIVE_DRIVER */
	int64_t bytes; /* 0: freed, but the slot keeps its place in the probe sequence */
	bool pooled;   /* it has EVENT_POOLED */
};

static size_t live_hash(uint64_t addr, uint32_t pid, size_t cnt)
{
	uint64_t h = (addr ^ ((uint64_t)pid << 40)) * 0x9e3779b97f4a7c15ull;

	return (h >> 32) & (cnt - 1);
}

static struct live_slot *live_find(struct live_table *t, uint64_t addr, uint32_t pid)
{
	size_t i = live_hash(addr, pid, t->slot_cnt);

	while (t->slots[i].addr && (t->slots[i].addr != addr || t->slots[i].pid != pid))
		i = (i + 1) & (t->slot_cnt - 1);
	return &t->slots[i];
}

/* Copies all live allocations into a table with room for twice as many. */
static int live_rehash(struct live_table *t)
{
	struct live_table grown = {.slot_cnt = 1024};
	size_t live = 0;

	for (size_t i = 0; i < t->slot_cnt; i++)
		live += t->slots[i].bytes != 0;
	while (grown.slot_cnt < live * 4)
		grown.slot_cnt *= 2;
	grown.slots = calloc(grown.slot_cnt, sizeof(*grown.slots));
	if (!grown.slots)
		return -ENOMEM;
	for (size_t i = 0; i < t->slot_cnt; i++)
		if (t->slots[i].bytes)
			*live_find(&grown, t->slots[i].addr, t->slots[i].pid) = t->slots[i];
	grown.used = live;
	free(t->slots);
	*t = grown;
	return 0;
}

/* Remembers an allocation. For a free of unknown size, finds the size of its allocation. */
static int live_update(struct live_table *t, uint32_t pid, struct event *e)
{
	struct live_slot *s;

	if (!e->id || e->id == EVENT_NO_ID)
		return 0;
	if (t->used * 2 >= t->slot_cnt) {
		int err = t->used < LIVE_MAX ? live_rehash(t) : 0;

		if (err)
			return err;
		if (t->used >= LIVE_MAX && live_find(t, e->id, pid)->addr != e->id)
			return 0;
	}
	s = live_find(t, e->id, pid);
	if (e->value > 0) {
		t->used += !s->addr;
		*s = (struct live_slot){.addr = e->id,
					.pid = pid,
					.bytes = e->value,
					.pooled = e->flags & EVENT_POOLED};
	} else if (s->addr) {
		/* cudaFree() also gives memory of a pool back. */
		e->flags |= s->pooled ? EVENT_POOLED : 0;
		if (!e->value)
			e->value = -s->bytes;
		s->bytes = 0;
	}
	return 0;
}

int memory__add(struct model *m, struct track_state *t, const struct event *e)
{
	struct memory_item item = {.ev = *e};
	int err;

	if (e->args_len >= sizeof(item.args))
		memcpy(&item.args, e->args, sizeof(item.args));
	else
		item.args = (struct event_memory){UINT64_MAX, UINT64_MAX, 0, 0};
	item.ev.args = NULL;
	item.ev.args_len = sizeof(item.args);
	err = live_update(&m->live, t->track->pid | (e->name ? LIVE_DRIVER : 0), &item.ev);
	if (err)
		return err;
	if (t->memory_cnt && t->memory[t->memory_cnt - 1].ev.ts_ns > e->ts_ns)
		t->memory_unordered = true;
	return ARRAY_PUSH(t->memory, t->memory_cnt, t->memory_cap, item);
}

static int by_time(const void *a, const void *b)
{
	const struct memory_item *x = a, *y = b;

	return x->ev.ts_ns < y->ev.ts_ns ? -1 : x->ev.ts_ns > y->ev.ts_ns;
}

void memory__sort(struct track_state *t)
{
	if (t->memory_unordered)
		qsort(t->memory, t->memory_cnt, sizeof(*t->memory), by_time);
	t->memory_unordered = false;
}

void memory__attribute(struct track_state *t, struct span *s, uint64_t until_ns)
{
	while (t->memory_done < t->memory_cnt && t->memory[t->memory_done].ev.ts_ns < until_ns) {
		struct memory_item *item = &t->memory[t->memory_done++];

		item->span = s;
		if (s && !item->args.device_type && !item->ev.name)
			s->self_alloc_bytes += item->ev.value;
	}
}

struct emitted {
	const struct memory_item *item;
	size_t order;
};

static int by_emission(const void *a, const void *b)
{
	const struct emitted *x = a, *y = b;

	if (x->item->ev.ts_ns != y->item->ev.ts_ns)
		return x->item->ev.ts_ns < y->item->ev.ts_ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int reserve(struct model *m, size_t cnt)
{
	void *events, *spans;

	if (cnt <= m->out_memory_cap)
		return 0;
	events = realloc(m->out_memory, cnt * 2 * sizeof(*m->out_memory));
	if (events)
		m->out_memory = events;
	spans = realloc(m->out_memory_spans, cnt * 2 * sizeof(*m->out_memory_spans));
	if (spans)
		m->out_memory_spans = spans;
	if (!events || !spans)
		return -ENOMEM;
	m->out_memory_cap = cnt * 2;
	return 0;
}

int memory__emit(struct model *m, size_t *out)
{
	auto_free struct emitted *all = NULL;
	size_t cnt = 0, n = 0;

	for (size_t i = 0; i < m->active_cnt; i++)
		cnt += m->active[i]->memory_done;
	*out = cnt;
	if (!cnt)
		return 0;
	all = malloc(cnt * sizeof(*all));
	if (!all || reserve(m, cnt))
		return -ENOMEM;
	for (size_t i = 0; i < m->active_cnt; i++)
		for (size_t j = 0; j < m->active[i]->memory_done; j++, n++)
			all[n] = (struct emitted){&m->active[i]->memory[j], n};
	qsort(all, cnt, sizeof(*all), by_emission);
	for (size_t i = 0; i < cnt; i++) {
		m->out_memory[i] = all[i].item->ev;
		m->out_memory[i].args = &all[i].item->args;
		m->out_memory_spans[i] = all[i].item->span;
	}
	return 0;
}

void memory__drop_done(struct track_state *t)
{
	if (!t->memory_done)
		return;
	t->memory_cnt -= t->memory_done;
	memmove(t->memory, t->memory + t->memory_done, t->memory_cnt * sizeof(*t->memory));
	t->memory_done = 0;
}

void memory__free(struct model *m)
{
	free(m->live.slots);
	free(m->out_memory);
	free(m->out_memory_spans);
}
