// SPDX-License-Identifier: BSD-2-Clause
/* Tables as JSON with all that a viewer needs: columns, their order and units. */
#include <string.h>
#include "analysis/render/table_internal.h"
#include "common/err.h"
#include "analysis/message_table.h"
#include "common/util.h"

static const char *type_name(enum cell_type type)
{
	static const char *const names[] = {
		[CELL_NONE] = "text",	[CELL_TEXT] = "text",	    [CELL_COUNT] = "count",
		[CELL_TIME] = "time",	[CELL_PERCENT] = "percent", [CELL_BYTES] = "bytes",
		[CELL_FLOAT] = "float", [CELL_DECIMAL] = "decimal", [CELL_LARGE] = "count",
	};

	return names[type];
}

static json_t *columns_json(const struct table *t)
{
	json_t *columns = json_array();
	int err = 0;

	for (size_t i = 0; i < t->column_cnt; i++) {
		const struct column *c = &t->columns[i];
		json_t *column = json_object();
		char key[128];

		table__column_key(t, i, key, sizeof(key));
		err |= json_object_set_new(column, "key", text_json(key));
		err |= json_object_set_new(column, "title", text_json(c->title));
		err |= json_object_set_new(column, "group", text_json(c->group));
		err |= json_object_set_new(column, "type",
					   json_string(type_name(table__column_type(t, i))));
		err |= json_array_append_new(columns, column);
	}
	if (!err)
		return columns;
	json_decref(columns);
	return NULL;
}

static json_t *texts_json(char *const *texts, size_t cnt)
{
	json_t *array = json_array();
	int err = 0;

	for (size_t i = 0; i < cnt; i++)
		err |= json_array_append_new(array, text_json(texts[i]));
	if (!err)
		return array;
	json_decref(array);
	return NULL;
}

static json_t *notes_json(const struct table *t)
{
	json_t *array = json_array();
	int err = 0;

	for (size_t i = 0; i < t->note_cnt; i++)
		err |= json_array_append_new(array, text_json(t->notes[i].text));
	if (!err)
		return array;
	json_decref(array);
	return NULL;
}

struct rows {
	const struct table *t;
	json_t *array;
};

static json_t *cell_or_reason(const struct cell *c)
{
	if (c->type == CELL_NONE && c->text)
		return json_pack("{s:o}", "why", text_json(c->text));
	return cell_json(c);
}

static int add_row(const struct row *r, void *ctx)
{
	const struct rows *rows = ctx;
	json_t *row = json_array();
	int err = json_array_append_new(row, json_integer(r->indent));

	err |= json_array_append_new(row, json_integer((json_int_t)r->section - 1));
	for (size_t i = 0; i < rows->t->column_cnt; i++)
		err |= json_array_append_new(row, cell_or_reason(&r->cells[i]));
	err |= json_array_append_new(rows->array, row);
	return err ? -ENOMEM : 0;
}

static json_t *table_json(const struct table *t, const struct table_style *style)
{
	json_t *object = json_object();
	struct rows rows = {t, json_array()};
	long left_out = table__each_row(t, t->list ? 0 : style->row_limit, add_row, &rows);
	int err = left_out < 0;

	err |= json_object_set_new(object, "key", text_json(t->key));
	err |= json_object_set_new(object, "title", text_json(t->title));
	err |= json_object_set_new(object, "shape",
				   json_string(t->list	  ? "list"
					       : t->prose ? "prose"
							  : "table"));
	err |= json_object_set_new(object, "columns", columns_json(t));
	err |= json_object_set_new(object, "sections", texts_json(t->sections, t->section_cnt));
	err |= json_object_set_new(object, "rows", rows.array);
	err |= json_object_set_new(object, "notes", notes_json(t));
	err |= json_object_set_new(object, "left_out", json_integer(left_out));
	if (!err)
		return object;
	json_decref(object);
	return NULL;
}

int tables__print_grid(struct table *const *tables, size_t cnt, const struct table_style *style,
		       FILE *out)
{
	json_t *all = json_array();
	int err = 0;

	for (size_t i = 0; i < cnt; i++)
		err |= json_array_append_new(all, table_json(tables[i], style));
	if (err) {
		json_decref(all);
		return err__set(-ENOMEM, MESSAGE_JSON_REPORT_OUT_OF_MEMORY);
	}
	err = json_dumpf(all, out, JSON_COMPACT | JSON_REAL_PRECISION(9));
	json_decref(all);
	if (err || fflush(out))
		return err__unwritten("the report");
	return 0;
}
