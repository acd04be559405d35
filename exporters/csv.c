// SPDX-License-Identifier: BSD-2-Clause
/* All events as comma-separated values (RFC 4180). The first line has the names. */
#include <string.h>
#include "common/csv_cell.h"
#include "common/err.h"
#include "common/util.h"
#include "exporters/exporters.h"
#include "exporters/parts/output.h"
#include "exporters/parts/rows.h"
#include "exporters/parts/text_file.h"

struct csv {
	struct rows *rows;
	struct text_file *out;
	bool raw;
};

static void put_bytes(void *ctx, const char *text, size_t len)
{
	text_file__put(ctx, text, len);
}

static void put_shown(void *ctx, const char *text, size_t len)
{
	for (; len--; text++)
		text_file__put(ctx, strchr("\t\r\n", *text) ? "?" : text, 1);
}

/* commas: number of commas before the value, which includes fields without a value. */
static void put_value(const struct csv *w, const struct value *v, size_t commas)
{
	struct text_file *out = w->out;
	char *p = text_file__room(out, commas + 32);

	memset(p, ',', commas);
	p += commas;
	if (v->type == VALUE_UINT)
		p = text__u64(p, v->u);
	else if (v->type == VALUE_INT)
		p = text__i64(p, v->i);
	else if (v->type == VALUE_REAL)
		p += snprintf(p, 32, "%.6g", v->d);
	text_file__take(out, p);
	if (v->type == VALUE_KEY || v->type == VALUE_TEXT)
		csv_cell__write(v->s, w->raw, text_file__is_shown(out) ? put_shown : put_bytes,
				out);
}

static int put_row(const struct row *row, void *ctx)
{
	struct csv *w = ctx;
	size_t commas = 0;
	bool any = false;

	for (size_t i = 0; i < column_cnt; i++) {
		struct value v;

		if (columns[i].use == COLUMN_SQL)
			continue;
		commas += any;
		any = true;
		v = columns[i].get(w->rows, row);
		if (v.type == VALUE_NULL)
			continue;
		put_value(w, &v, commas);
		commas = 0;
	}
	put_value(w, &(struct value){.type = VALUE_NULL}, commas);
	text_file__put(w->out, "\n", 1);
	return text_file__error(w->out);
}

static void put_head(struct csv *w)
{
	bool any = false;

	for (size_t i = 0; i < column_cnt; i++) {
		if (columns[i].use == COLUMN_SQL)
			continue;
		text_file__print(w->out, "%s%s", any ? "," : "", columns[i].name);
		any = true;
	}
	text_file__put(w->out, "\n", 1);
}

static int csv__run(const struct recording *r, const struct export_opts *opts,
		    struct export_result *result)
{
	int err = output__no_dialect(opts, "csv"), level;
	struct csv w = {.raw = opts->raw_csv};

	*result = (struct export_result){0};
	if (!err)
		err = output__choose(r, opts, ".csv", 0, &level, result);
	if (!err)
		err = rows__open(r, &w.rows);
	if (!err)
		err = text_file__open(result->path, level, &w.out);
	if (!err) {
		put_head(&w);
		err = rows__each(w.rows, put_row, &w);
		result->events = w.rows->cnt;
	}
	rows__close(w.rows);
	return w.out ? text_file__end(w.out, err, &result->bytes) : err;
}

const struct exporter exporter_csv = {
	.name = "csv",
	.summary = "all events, one per line, for spreadsheets and pandas",
	.run = csv__run,
};
