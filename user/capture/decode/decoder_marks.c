// SPDX-License-Identifier: BSD-2-Clause
/* Counters and instants. */
#include "capture/decode/decoder_internal.h"
#include "common/util.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static uint64_t mark_scope(uint8_t scope)
{
	return scope == 'g' ? SCOPE_GLOBAL : scope == 'p' ? SCOPE_PROCESS : SCOPE_THREAD;
}

/* A counter that is told by its changes is summed from the first one on. */
static int counter_value(struct decoder *d, const struct pt_rec_mark *r, const char *text,
			 struct event *e)
{
	struct counter *c = NULL, added = {.pid = r->h.pid, .relative = true};
	int err;

	for (size_t i = 0; i < d->counter_cnt && !c; i++)
		if (d->counters[i].pid == r->h.pid && !strcmp(d->counters[i].name, text))
			c = &d->counters[i];
	if (!c) {
		snprintf(added.name, sizeof(added.name), "%s", text);
		err = ARRAY_PUSH(d->counters, d->counter_cnt, d->counter_cap, added);
		if (err)
			return err;
		c = &d->counters[d->counter_cnt - 1];
	}
	if (r->op == PT_MARK_SET)
		c->relative = false;
	c->value = (int64_t)((r->op == PT_MARK_SET ? 0 : (uint64_t)c->value) + (uint64_t)r->value);
	e->value = c->value;
	e->flags = c->relative ? EVENT_RELATIVE : 0;
	return 0;
}

int decoder__mark(struct decoder *d, const struct pt_rec_mark *r)
{
	const struct planned_probe *probe = decoder__row_probe(d, r->h.probe);
	uint32_t len = r->name_len < PT_NAME_MAX ? r->name_len : PT_NAME_MAX - 1;
	struct event e = {.type = EVENT_INSTANT, .ts_ns = r->ts_ns, .end = END_OBJECT};
	char text[PT_NAME_MAX];
	int err = 0;

	if (!probe || (!len && !probe->name))
		return d->malformed++, 0;
	d->hits[probe->group]++;
	if (len)
		snprintf(text, sizeof(text), "%.*s", (int)len, r->name);
	else
		snprintf(text, sizeof(text), "%s", probe->name);
	decoder__end_name(d, text);
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
