// SPDX-License-Identifier: BSD-2-Clause
/* Counters and instants. */
#include "capture/decode/decoder_internal.h"
#include "common/util.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COUNTERS_MAX 16384 /* of a session; events of further counters are lost and counted */

static uint64_t mark_scope(uint8_t scope)
{
	return scope == 'g' ? SCOPE_GLOBAL : scope == 'p' ? SCOPE_PROCESS : SCOPE_THREAD;
}

struct counter_key {
	const struct decoder *d;
	uint32_t pid;
	const char *text;
};

static bool same_counter(uint32_t item, const void *ctx)
{
	const struct counter_key *key = ctx;
	const struct counter *c = &key->d->counters[item];

	return c->pid == key->pid && !strcmp(c->name, key->text);
}

static struct counter *add_counter(struct decoder *d, const struct counter_key *key, uint64_t hash)
{
	struct counter added = {.pid = key->pid, .relative = true, .name = strdup(key->text)};

	if (!added.name || hash_index__add(&d->counter_index, hash, (uint32_t)d->counter_cnt) ||
	    ARRAY_PUSH(d->counters, d->counter_cnt, d->counter_cap, added)) {
		free(added.name);
		return NULL;
	}
	return &d->counters[d->counter_cnt - 1];
}

/* Returns 0, -ENOMEM, or -ENOSPC (too many counters). */
static int counter_at(struct decoder *d, uint32_t pid, const char *text, struct counter **out)
{
	const struct counter_key key = {d, pid, text};
	const uint64_t hash = hash__bytes(text, strlen(text), pid);
	const uint32_t item = hash_index__find(&d->counter_index, hash, same_counter, &key);

	if (item == HASH_NONE && d->counter_cnt == COUNTERS_MAX)
		return -ENOSPC;
	*out = item == HASH_NONE ? add_counter(d, &key, hash) : &d->counters[item];
	return *out ? 0 : -ENOMEM;
}

/* Returns the value. If the program only reports changes, the value is their sum since the first
 * one. */
static int counter_value(struct decoder *d, const struct pt_rec_mark *r, const char *text,
			 struct event *e)
{
	struct counter *c;
	const int err = counter_at(d, r->h.pid, text, &c);

	if (err)
		return err;
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
	if (err == -ENOSPC) /* the counter's value is unknown, so the event counts as lost */
		return d->malformed++, 0;
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
	decoder__count_hits(d, r->h.probe, 1);
	if (!r->name_len)
		return mark_write(d, r, probe, probe->name);
	name = decoder__name(d, &r->name, r->name_len);
	decoder__mark_cut(d, &name);
	err = name.text ? mark_write(d, r, probe, name.text) : -ENOMEM;
	free(name.text);
	return err;
}

int decoder__storage(struct decoder *d, const struct pt_rec_storage *r)
{
	const struct planned_probe *probe = decoder__row_probe(d, r->h.probe);
	struct decoded_name name;
	struct event e = {.type = EVENT_INSTANT,
			  .ts_ns = r->ts_ns,
			  .id = r->addr,
			  .value = (int64_t)r->taken,
			  .flags = r->reused ? EVENT_POOLED : 0,
			  .end = END_OBJECT};

	if (!probe || !r->name_len || e.value < 0)
		return d->malformed++, 0;
	decoder__count_hits(d, r->h.probe, 1);
	name = decoder__name(d, &r->name, r->name_len);
	if (name.text && d->framework && d->framework->shorten)
		d->framework->shorten(name.text);
	decoder__mark_cut(d, &name);
	e.track = decoder__track(d, r->h.pid, r->h.tid);
	e.name = name.text ? recording_writer__name(d->writer, CAT_STORAGE, name.text, NULL) : 0;
	free(name.text);
	return e.track && e.name ? recording_writer__event(d->writer, &e) : -ENOMEM;
}
