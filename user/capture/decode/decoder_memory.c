// SPDX-License-Identifier: BSD-2-Clause
/* Memory, and asynchronous work that continues while its thread does other things. */
#include "capture/decode/decoder_internal.h"
#include "capture/decode/pending.h"
#include "common/util.h"
#include <errno.h>
#include <stdio.h>

int decoder__memory(struct decoder *d, const struct pt_rec_memory *r)
{
	const struct event_memory args = {
		.total_allocated = r->total_allocated,
		.total_reserved = r->total_reserved,
		.device_type = r->device_type,
		.device_index = r->device_index,
	};
	struct event e = {
		.type = EVENT_MEMORY,
		.ts_ns = r->ts_ns,
		.id = r->addr,
		.value = r->bytes,
		.track = decoder__track(d, r->h.pid, r->h.tid),
		.args = &args,
		.args_len = sizeof(args),
	};

	d->hits[GROUP_MEMORY]++;
	if (r->bytes > 0)
		pending__allocated(d->pending, r->h.pid, r->addr, (uint64_t)r->bytes);
	else if (!r->bytes)
		e.value = -(int64_t)pending__freed(d->pending, r->h.pid, r->addr);
	return e.track ? recording_writer__event(d->writer, &e) : -ENOMEM;
}

/* The caller frees the text; NULL: no memory. */
static char *async_text(struct decoder *d, const struct planned_probe *end,
			const struct pending_async *begin)
{
	const char *name = "async";
	struct decoded_name title;
	char *text;

	if (begin->title.text[0]) {
		title = decoder__name(d, &begin->title, PT_NAME_MAX - 1);
		decoder__mark_cut(d, &title);
		return title.text;
	}
	if (d->framework && d->framework->async_name)
		name = d->framework->async_name(begin->code);
	if (asprintf(&text, "%s%s", end->name_prefix ? end->name_prefix : "", name) < 0)
		return NULL;
	return text;
}

int decoder__async_end(struct decoder *d, const struct pt_rec_async *r)
{
	const struct planned_probe *probe = decoder__row_probe(d, r->h.probe);
	struct pending_async begin;
	auto_free char *text = NULL;
	struct event e = {.type = EVENT_ASYNC, .id = r->object, .end = END_OBJECT};

	if (!probe)
		return d->malformed++, 0;
	if (!pending__async_end(d->pending, r->h.pid, r->object, &begin))
		return 0; /* began before the window, or ended twice */
	e.ts_ns = begin.ts_ns;
	e.dur_ns = r->ts_ns - begin.ts_ns;
	e.value = (int64_t)(begin.bytes & INT64_MAX);
	e.track = decoder__track(d, r->h.pid, begin.tid);
	text = async_text(d, probe, &begin);
	e.name = text ? recording_writer__name(d->writer, probe->category, text, NULL) : 0;
	return e.track && e.name ? recording_writer__event(d->writer, &e) : -ENOMEM;
}

int decoder__async_begin(struct decoder *d, const struct pt_rec_async *r)
{
	struct pending_async begin = {.ts_ns = r->ts_ns,
				      .code = r->code,
				      .bytes = r->bytes,
				      .tid = r->h.tid,
				      .title = r->title};

	return pending__async_begin(d->pending, r->h.pid, r->object, &begin);
}
