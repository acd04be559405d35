// SPDX-License-Identifier: BSD-2-Clause
/* All events as JSON lines: an object about the recording, one per event, and one about what is
 * missing. */
#include <string.h>
#include "common/util.h"
#include "exporters/exporters.h"
#include "exporters/parts/facts.h"
#include "exporters/parts/output.h"
#include "exporters/parts/rows.h"
#include "exporters/parts/text_file.h"

#define QUOTED_CNT 8192 /* names do not move, so quoted names are kept by address */

struct jsonl {
	struct rows *rows;
	struct text_file *out;
	struct quoted {
		const char *text;
		char *json;
	} *quoted;
};

static int put_text(struct jsonl *w, const char *s)
{
	struct quoted *q = &w->quoted[((uintptr_t)s >> 4) % QUOTED_CNT];

	if (q->text != s || s == w->rows->text || s == w->rows->stack_text) {
		free(q->json);
		*q = (struct quoted){.text = s, .json = json__quote(s)};
		if (!q->json)
			return -ENOMEM;
	}
	text_file__put(w->out, q->json, strlen(q->json));
	return 0;
}

static int put_value(struct jsonl *w, const struct value *v)
{
	switch (v->type) {
	case VALUE_NULL:
		break;
	case VALUE_UINT:
		text_file__take(w->out, text__u64(text_file__room(w->out, 24), v->u));
		break;
	case VALUE_INT:
		text_file__take(w->out, text__i64(text_file__room(w->out, 24), v->i));
		break;
	case VALUE_REAL:
		text_file__print(w->out, "%.6g", v->d);
		break;
	case VALUE_KEY:
		text_file__put(w->out, "\"", 1);
		text_file__put(w->out, v->s, strlen(v->s));
		text_file__put(w->out, "\"", 1);
		break;
	case VALUE_TEXT:
		return put_text(w, v->s);
	}
	return 0;
}

static int put_row(const struct row *row, void *ctx)
{
	struct jsonl *w = ctx;
	int err = 0;

	for (size_t i = 0; i < column_cnt && !err; i++) {
		struct value v;
		char *p;

		if (columns[i].use == COLUMN_SQL)
			continue;
		v = columns[i].get(w->rows, row);
		if (v.type == VALUE_NULL)
			continue;
		p = text_file__room(w->out, 64); /* longer than any column's name */
		*p++ = i ? ',' : '{';
		*p++ = '"';
		p = text__str(p, columns[i].name, strlen(columns[i].name));
		text_file__take(w->out, TEXT_LIT(p, "\":"));
		err = put_value(w, &v);
	}
	text_file__put(w->out, "}\n", 2);
	return err ? err : text_file__error(w->out);
}

static int put_object(struct text_file *out, json_t *object)
{
	auto_free char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;

	json_decref(object);
	if (!text)
		return -ENOMEM;
	text_file__print(out, "%s\n", text);
	return 0;
}

static int put_head(struct jsonl *w)
{
	const struct recording *r = w->rows->r;
	const struct recording_loss loss = recording_loss__of(r);
	const int64_t offset = facts__wall_offset_ns(r);
	auto_free char *title = facts__title(r), *incomplete = facts__loss(r);

	if (!title || !incomplete)
		return -ENOMEM;
	return put_object(w->out,
			  json_pack("{s:s, s:s, s:s, s:o, s:I, s:b, s:s, s:O, s:O*, s:O*}", "type",
				    "recording", "version", PROFTRACE_VERSION, "title", title,
				    "wall_offset_ns", offset ? json_integer(offset) : json_null(),
				    "lost_events", (json_int_t)loss.lost_cnt, "truncated",
				    loss.truncated, "incomplete", incomplete, "meta",
				    recording__meta(r), "summary", recording__summary(r),
				    "device_clocks", facts__device_clocks(r)));
}

/* What the model could not use is only known after the last event. */
static int put_foot(struct jsonl *w)
{
	const struct model_stats *s = &w->rows->stats;

	return put_object(w->out,
			  json_pack("{s:s, s:I, s:I, s:I, s:I}", "type", "end", "events",
				    (json_int_t)w->rows->cnt, "malformed", (json_int_t)s->malformed,
				    "too_deep", (json_int_t)s->too_deep, "clipped",
				    (json_int_t)s->clipped));
}

static int jsonl__write(struct jsonl *w)
{
	int err;

	w->quoted = calloc(QUOTED_CNT, sizeof(*w->quoted));
	if (!w->quoted)
		return -ENOMEM;
	err = put_head(w);
	if (!err)
		err = rows__each(w->rows, put_row, w);
	if (!err)
		err = put_foot(w);
	for (size_t i = 0; i < QUOTED_CNT; i++)
		free(w->quoted[i].json);
	free(w->quoted);
	return err;
}

static int jsonl__run(const struct recording *r, const struct export_opts *opts,
		      struct export_result *result)
{
	int err = output__no_dialect(opts, "jsonl"), level;
	struct jsonl w = {0};

	*result = (struct export_result){0};
	if (!err)
		err = output__choose(r, opts, ".jsonl", 0, &level, result);
	if (!err)
		err = rows__open(r, &w.rows);
	if (!err)
		err = text_file__open(result->path, level, &w.out);
	if (!err) {
		err = jsonl__write(&w);
		result->events = w.rows->cnt;
	}
	rows__close(w.rows);
	return w.out ? text_file__end(w.out, err, &result->bytes) : err;
}

const struct exporter exporter_jsonl = {
	.name = "jsonl",
	.summary = "all events, one JSON object per line, for jq and programs",
	.run = jsonl__run,
};
