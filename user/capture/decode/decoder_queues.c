// SPDX-License-Identifier: BSD-2-Clause
/* Queues of a data pipeline: how full they are, and who waits for them. */
#include "capture/decode/decoder_internal.h"
#include "capture/decode/node_names.h"
#include "common/util.h"
#include <errno.h>
#include <stdio.h>

static int queue_rows_write(struct decoder *d, const struct pt_rec *h, const struct pt_span *span,
			    enum span_category category, const char *operation)
{
	struct event e = {.type = EVENT_COUNTER,
			  .ts_ns = span->ts_ns,
			  .end = END_OBJECT,
			  .id = EVENT_NO_ID,
			  .value = (int64_t)(span->rows & UINT32_MAX),
			  .track = decoder__track(d, h->pid, h->tid)};
	auto_free char *text = NULL;
	char capacity[16];

	/* The capacity goes into the name as well: it may change, and the schema of a name must
	 * not. */
	snprintf(capacity, sizeof(capacity), "%u", (uint32_t)(span->rows >> 32));
	if (asprintf(&text, "%s::queue of %s%s", operation, capacity,
		     category == CAT_QUEUE_FULL ? ", before put" : "") < 0)
		return -ENOMEM;
	e.name = recording_writer__name(d->writer, category, text, capacity);
	if (!e.name || !e.track)
		return -ENOMEM;
	return recording_writer__event(d->writer, &e);
}

/* Writes a span only if the operation had to wait. For a wait that began before the window, the
 * number of rows at its begin is not written. */
int decoder__queue(struct decoder *d, const struct pt_rec *h, const struct pt_span *span,
		   const struct planned_probe *probe)
{
	const enum span_category category = probe->category;
	const bool full = category == CAT_QUEUE_FULL;
	const uint32_t rows = (uint32_t)span->rows, capacity = (uint32_t)(span->rows >> 32);
	const char *type = node_names__text(d->nodes, h->pid, span->vtable);
	auto_free char *operation = NULL, *text = NULL;
	int err = 0;

	if (!type || !capacity)
		return d->malformed++, 0;
	if (asprintf(&operation, "%s(ID:%u)", type, (uint32_t)span->operation) < 0)
		return -ENOMEM;
	if (!(span->flags & PT_SPAN_CUT_BEGIN))
		err = queue_rows_write(d, h, span, category, operation);
	if (err || (full ? rows < capacity : rows > 0))
		return err;
	if (asprintf(&text, "%s::%s", operation, probe->name) < 0)
		return -ENOMEM;
	return decoder__span(d, h, span, recording_writer__name(d->writer, category, text, NULL),
			     EVENT_NO_ID);
}
