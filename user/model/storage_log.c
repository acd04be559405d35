// SPDX-License-Identifier: BSD-2-Clause
#include "model/storage_log.h"
#include "common/util.h"
#include <stdlib.h>

/* In the order in which events of one moment happen. */
enum what { DRIVER_FREED, DRIVER_GAVE, TAKEN, GIVEN, NAMED, FREED };

struct storage_item {
	uint64_t address, ts_ns, bytes;
	uint32_t name;
	int32_t device;
	uint8_t what;
	bool reused, host;
};

static int add_named(struct storage_log *log, const struct event *e)
{
	const struct storage_item item = {.address = e->id,
					  .ts_ns = e->ts_ns,
					  .bytes = (uint64_t)e->value,
					  .name = e->name,
					  .what = e->value > 0 ? TAKEN : NAMED,
					  .reused = e->flags & EVENT_POOLED};

	return ARRAY_PUSH(log->items, log->cnt, log->cap, item);
}

/* A memory event with a name is the driver's. */
static int add_memory(struct storage_log *log, const struct event *e)
{
	const struct event_memory *m = e->args;
	const bool given = e->value > 0, known = e->args_len >= sizeof(*m);
	const struct storage_item item = {.address = e->id,
					  .ts_ns = e->ts_ns,
					  .bytes = (uint64_t)llabs(e->value),
					  .device = known ? m->device_index : -1,
					  .what = e->name ? (given ? DRIVER_GAVE : DRIVER_FREED)
						  : given ? GIVEN
							  : FREED,
					  .host = known && !m->device_type};

	if (!known || (item.host && e->name) || e->flags & EVENT_POOLED)
		return 0;
	return ARRAY_PUSH(log->items, log->cnt, log->cap, item);
}

int storage_log__add(struct storage_log *log, const struct recording *r, const struct event *e)
{
	const struct name *n;

	if (e->type == EVENT_MEMORY)
		return add_memory(log, e);
	if (e->type != EVENT_INSTANT || !e->name)
		return 0;
	n = recording__name(r, e->name);
	return n && n->category == CAT_STORAGE ? add_named(log, e) : 0;
}

static int by_address(const void *x, const void *y)
{
	const struct storage_item *p = x, *q = y;

	if (p->address != q->address)
		return p->address < q->address ? -1 : 1;
	if (p->ts_ns != q->ts_ns)
		return p->ts_ns < q->ts_ns ? -1 : 1;
	return p->what < q->what ? -1 : p->what > q->what;
}

struct replay {
	struct storage_log *log;
	struct storage_block block;
	bool open;
	uint64_t driver_bytes; /* size of the driver's block here; STORAGE_UNKNOWN: from before
				  the window */
	bool fresh;	       /* not used yet */
	int (*fn)(const struct storage_block *b, void *ctx);
	void *ctx;
};

/* kept: it was neither given back to the driver nor given out again. */
static int end_block(struct replay *p, bool kept)
{
	const bool known = p->open && p->block.name;

	p->block.kept = kept;
	p->block.held &= kept;
	p->open = false;
	return known ? p->fn(&p->block, p->ctx) : 0;
}

static int begin_block(struct replay *p)
{
	int err = end_block(p, false);

	p->block = (struct storage_block){.requested_bytes = STORAGE_UNKNOWN,
					  .taken_bytes = p->driver_bytes,
					  .device = -1,
					  .reused = !p->fresh,
					  .held = true};
	p->open = true;
	p->fresh = false;
	return err;
}

static int take(struct replay *p, const struct storage_item *i)
{
	int err = 0;

	switch ((enum what)i->what) {
	case DRIVER_FREED:
		p->driver_bytes = STORAGE_UNKNOWN;
		return end_block(p, false);
	case DRIVER_GAVE:
		p->driver_bytes = i->bytes;
		p->fresh = true;
		return end_block(p, false);
	case TAKEN:
		err = begin_block(p);
		p->block.taken_bytes = i->bytes;
		p->block.reused = i->reused;
		p->block.name = i->name;
		return err;
	case GIVEN:
		if (i->host && (!p->open || p->block.device >= 0))
			return 0; /* memory of the host, and not from a device's pool */
		if (!p->open || p->block.device >= 0)
			err = begin_block(p);
		p->block.host = i->host;
		p->block.requested_bytes = i->bytes;
		p->block.device = i->device;
		return err;
	case NAMED:
		if (p->open)
			p->block.name = i->name;
		return 0;
	case FREED:
		p->log->unknown_frees += !p->open && !i->host;
		p->block.held = false;
		return 0;
	}
	return 0;
}

static void begin_address(struct replay *p)
{
	p->driver_bytes = STORAGE_UNKNOWN;
	p->fresh = false;
}

int storage_log__each(struct storage_log *log, int (*fn)(const struct storage_block *b, void *ctx),
		      void *ctx)
{
	struct replay p = {.log = log, .fn = fn, .ctx = ctx};
	int err = 0;

	log->unknown_frees = 0;
	if (log->cnt)
		qsort(log->items, log->cnt, sizeof(*log->items), by_address);
	for (size_t i = 0; i < log->cnt && !err; i++) {
		if (!i || log->items[i].address != log->items[i - 1].address) {
			err = end_block(&p, true);
			begin_address(&p);
		}
		if (!err)
			err = take(&p, &log->items[i]);
	}
	return err ? err : end_block(&p, true);
}

void storage_log__free(struct storage_log *log)
{
	free(log->items);
	*log = (struct storage_log){0};
}
