// SPDX-License-Identifier: BSD-2-Clause
/* Tables as one JSON object. */
#include <jansson.h>
#include <string.h>
#include "analysis/render/table_internal.h"
#include "common/err.h"
#include "analysis/message_table.h"
#include "common/json_out.h"
#include "common/util.h"

/* doc/reference/formats.md: it grows when a key is removed or gets another meaning. */
#define SCHEMA_VERSION 1

json_t *text_json(const char *text)
{
	json_t *json;
	char *copy;

	if (!text)
		text = "";
	json = json_string(text);
	if (json)
		return json;
	copy = strdup(text);
	if (!copy)
		return NULL;
	for (char *c = copy; *c; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	json = json_string(copy);
	free(copy);
	return json;
}

json_t *cell_json(const struct cell *c)
{
	switch (c->type) {
	case CELL_TEXT:
		return text_json(c->text);
	case CELL_COUNT:
	case CELL_BYTES:
	case CELL_LARGE:
		return json_integer(c->count);
	case CELL_TIME:
		return json_integer((json_int_t)c->time_ns);
	case CELL_PERCENT:
	case CELL_FLOAT:
	case CELL_DECIMAL:
		return json_real(c->number);
	default:
		return json_null();
	}
}

struct rows {
	const struct table *t;
	json_t *array;
};

static int add_row(const struct row *r, void *ctx)
{
	const struct rows *rows = ctx;
	json_t *row = json_object(), *why = json_object();
	int err = 0;

	if (rows->t->section_cnt && r->section)
		err |= json_object_set_new(row, "section",
					   text_json(rows->t->sections[r->section - 1]));
	if (!rows->t->list)
		err |= json_object_set_new(row, "depth", json_integer(r->indent));
	if (rows->t->has_estimates)
		err |= json_object_set_new(row, "estimated", json_boolean(r->estimated));
	for (size_t i = 0; i < rows->t->column_cnt; i++) {
		const struct cell *c = &r->cells[i];
		char key[128];

		table__column_key(rows->t, i, key, sizeof(key));
		err |= json_object_set_new(row, key,
					   !i && r->estimated ? text_json(row__plain_name(r))
							      : cell_json(c));
		if (c->type == CELL_NONE && c->text)
			err |= json_object_set_new(why, key, text_json(c->text));
	}
	if (json_object_size(why))
		err |= json_object_set(row, "why", why);
	json_decref(why);
	err |= json_array_append_new(rows->array, row);
	return err ? -ENOMEM : 0;
}

static json_t *table_json(const struct table *t, const struct table_style *style)
{
	json_t *object = json_object(), *notes = json_array();
	struct rows rows = {t, json_array()};
	long left_out = table__each_row(t, t->list ? 0 : style->row_limit, add_row, &rows);
	int err = left_out < 0;

	for (size_t i = 0; i < t->note_cnt; i++)
		err |= json_array_append_new(notes, text_json(t->notes[i].text));
	err |= json_object_set_new(object, "title", text_json(t->title));
	err |= json_object_set_new(object, "rows", rows.array);
	err |= json_object_set_new(object, "notes", notes);
	err |= json_object_set_new(object, "left_out", json_integer(left_out));
	if (t->more)
		err |= json_object_update(object, t->more);
	if (!err)
		return object;
	json_decref(object);
	return NULL;
}

int tables__print_json(struct table *const *tables, size_t cnt, const struct table_style *style,
		       FILE *out)
{
	json_t *all = json_object();
	int err = json_object_set_new(all, "schema_version", json_integer(SCHEMA_VERSION));

	for (size_t i = 0; i < cnt; i++)
		err |= json_object_set_new(all, tables[i]->key, table_json(tables[i], style));
	if (err) {
		json_decref(all);
		return err__set(-ENOMEM, MESSAGE_JSON_REPORT_OUT_OF_MEMORY);
	}
	err = json_dumpf(all, out, JSON_INDENT(1) | JSON_REAL_PRECISION(9) | json_out__flags(out));
	json_decref(all);
	if (err || fputc('\n', out) == EOF || fflush(out))
		return err__unwritten("the report");
	return 0;
}
