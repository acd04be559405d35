// SPDX-License-Identifier: BSD-2-Clause
/* Counters and instants. */
#include "capture/decode/decoder_internal.h"
#include "common/util.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t mark_scope(uint8_t scope)
{
	return scope == 'g' ? SCOPE_GLOBAL : scope == 'p' ? SCOPE_PROCESS : SCOPE_THREAD;
}

/* NULL: no memory. */
static struct counter *counter_at(struct decoder *d, uint32_t pid, const char *text)
{
	struct counter added = {.pid = pid, .relative = true};

	for (size_t i = 0; i < d->counter_cnt; i++)
		if (d->counters[i].pid == pid && !strcmp(d->counters[i].name, text))
			return &d->counters[i];
	added.name = strdup(text);
	if (!added.name || ARRAY_PUSH(d->counters, d->counter_cnt, d->counter_cap, added)) {
		free(added.name);
		return NULL;
	}
	return &d->counters[d->counter_cnt - 1];
}

/* A counter that is told by its changes is summed from the first one on. */
static int counter_value(struct decoder *d, const struct pt_rec_mark *r, const char *text,
			 struct event *e)
{
	struct counter *c = counter_at(d, r->h.pid, text);

	if (!c)
		return -ENOMEM;
	if (r->op == PT_MARK_SET)
		c->relative = false;
	c->value = (int64_t)((r->op == PT_MARK_SET ? 0 : (uint64_t)c->value) + (uint64_t)r->value);
	e->value = c->value;
	e->flags = c->relative ? EVENT_RELATIVE : 0;
	return 0;
}

static int mark_write(struct decoder *d, const struct pt_rec_mark *r,
		      const struct planned_probe *probe, const char *text)
{
	struct event e = {.type = EVENT_INSTANT, .ts_ns = r->ts_ns, .end = END_OBJECT};
	int err = 0;

	if (r->op == PT_MARK_INSTANT) {
		e.id = mark_scope(r->scope);
	} else {
		e.type = EVENT_COUNTER;
		e.id = EVENT_NO_ID;
		err = counter_value(d, r, text, &e);
	}
	e.track = decoder__track(d, r->h.pid, r->h.tid);
	e.name = recording_writer__name(d->writer, probe->category, text, NULL);
	if (err || !e.track || !e.name)
		return err ? err : -ENOMEM;
	return recording_writer__event(d->writer, &e);
}

int decoder__mark(struct decoder *d, const struct pt_rec_mark *r)
{
	const struct planned_probe *probe = decoder__row_probe(d, r->h.probe);
	struct decoded_name name = {0};
	int err;

	if (!probe || (!r->name_len && !probe->name))
		return d->malformed++, 0;
	d->hits[probe->group]++;
	if (!r->name_len)
		return mark_write(d, r, probe, probe->name);
	name = decoder__name(d, &r->name, r->name_len);
	decoder__mark_cut(d, &name);
	err = name.text ? mark_write(d, r, probe, name.text) : -ENOMEM;
	free(name.text);
	return err;
}
