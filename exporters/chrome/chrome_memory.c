// SPDX-License-Identifier: BSD-2-Clause
/*
 * Allocations. Kineto's `[memory]` instants are those of the framework's allocators. TensorBoard
 * draws its memory view from them. There are also instants for memory from the driver, and counters
 * for viewers.
 */
#include "common/util.h"
#include "exporters/chrome/chrome_args.h"
#include "exporters/chrome/chrome_writer.h"

static char *put_instant(struct chrome_writer *w, char *p, const struct chrome_row *row,
			 uint64_t ts_ns, bool driver)
{
	p = chrome_writer__begin(w, p);
	p = driver ? TEXT_LIT(p, "{\"ph\":\"i\",\"cat\":\"instant\",\"s\":\"t\","
				 "\"name\":\"[driver memory]\"")
		   : TEXT_LIT(p, "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"s\":\"t\","
				 "\"name\":\"[memory]\"");
	p = chrome_row__put(p, row);
	p = chrome_writer__time(w, p, row, ts_ns);
	return TEXT_LIT(p, ",\"args\":{");
}

/* Memory from the driver. */
static void put_driver(struct chrome_writer *w, const struct event *e, const struct chrome_row *row,
		       const struct event_memory *m)
{
	const struct chrome_name *n = &w->names.names[e->name <= w->names.cnt ? e->name : 0];
	char *p = put_instant(w, text_file__room(w->out, ARGS_ROOM), row, e->ts_ns, true);

	p = text__i64(TEXT_LIT(p, "\"Bytes\":"), e->value);
	p = text__u64(TEXT_LIT(p, ",\"Addr\":"), e->id);
	p = put_bounded(TEXT_LIT(p, ",\"Kind\":"), n->head + n->quoted);
	p = text__i64(TEXT_LIT(p, ",\"Device Id\":"), m->device_index);
	text_file__take(w->out, TEXT_LIT(p, "}}"));
}

static void put_allocator(struct chrome_writer *w, const struct event *e,
			  const struct chrome_row *row, const struct event_memory *m)
{
	const int64_t sum = w->allocated[m->device_type != 0];
	char *p = put_instant(w, text_file__room(w->out, ARGS_ROOM), row, e->ts_ns, false);

	p = text__i64(TEXT_LIT(p, "\"Bytes\":"), e->value);
	p = text__u64(TEXT_LIT(p, ",\"Addr\":"), e->id);
	p = TEXT_LIT(p, ",\"Total Allocated\":");
	p = m->total_allocated == UINT64_MAX ? text__i64(p, sum) : text__u64(p, m->total_allocated);
	p = text__u64(TEXT_LIT(p, ",\"Total Reserved\":"),
		      m->total_reserved == UINT64_MAX ? 0 : m->total_reserved);
	p = text__i64(TEXT_LIT(p, ",\"Device Type\":"), m->device_type);
	p = text__i64(TEXT_LIT(p, ",\"Device Id\":"), m->device_index);
	text_file__take(w->out, TEXT_LIT(p, "}}"));
}

/* One counter per device, and one for the process's host memory. */
static void put_counter(struct chrome_writer *w, const struct event *e,
			const struct chrome_row *row, const struct event_memory *m)
{
	const bool device = m->device_type && m->device_index >= 0;
	const int64_t allocated = m->total_allocated == UINT64_MAX
					  ? w->allocated[m->device_type != 0]
					  : (int64_t)m->total_allocated;
	char *p = chrome_writer__begin(w, text_file__room(w->out, ARGS_ROOM));

	if (device) {
		p = text__i64(TEXT_LIT(p, "{\"ph\":\"C\",\"name\":\"GPU"), m->device_index);
		p = text__i64(TEXT_LIT(p, " memory\",\"pid\":"), m->device_index);
	} else {
		p = text__u64(TEXT_LIT(p, "{\"ph\":\"C\",\"name\":\"CPU memory\",\"pid\":"),
			      row->pid);
	}
	p = chrome_writer__time(w, TEXT_LIT(p, ",\"tid\":0,\"ts\":"), row, e->ts_ns);
	p = TEXT_LIT(p, ",\"args\":{");
	if (!e->name)
		p = put_arg_u64(TEXT_LIT(p, "\"allocated\":"),
				allocated > 0 ? (uint64_t)allocated : 0);
	if (m->total_reserved != UINT64_MAX)
		p = put_arg_u64(TEXT_LIT(p, "\"reserved\":"), m->total_reserved);
	else if (e->name)
		p = put_arg_u64(TEXT_LIT(p, "\"reserved\":"),
				w->reserved > 0 ? (uint64_t)w->reserved : 0);
	text_file__take(w->out, TEXT_LIT(put_args_end(p), "}"));
}

int chrome_writer__memory(struct chrome_writer *w, const struct timeline_event *te)
{
	const struct event *e = &te->ev;
	const struct chrome_row *row = chrome_rows__find(&w->rows, e->track, false);
	struct event_memory m = {UINT64_MAX, UINT64_MAX, 0, -1};
	int64_t *sum;

	if (!row)
		return 0;
	if (e->args_len >= sizeof(m))
		memcpy(&m, e->args, sizeof(m));
	w->has_reserved |= m.total_reserved != UINT64_MAX;
	if (!e->name || (m.device_type && !(e->flags & EVENT_POOLED))) {
		sum = e->name ? &w->reserved : &w->allocated[m.device_type != 0];
		*sum = (int64_t)((uint64_t)*sum + (uint64_t)e->value);
	}
	if (!e->name || (m.device_type && !(e->flags & EVENT_POOLED) && !w->has_reserved))
		put_counter(w, e, row, &m);
	if (e->name)
		put_driver(w, e, row, &m);
	else
		put_allocator(w, e, row, &m);
	return 0;
}
