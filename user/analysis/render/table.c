// SPDX-License-Identifier: BSD-2-Clause
/* Tables as data: how they grow, and what their renderers share. */
#include <fnmatch.h>
#include <string.h>
#include "analysis/render/table_internal.h"
#include "common/text_char.h"
#include "common/suggest.h"
#include "common/util.h"

struct table *table__new(const char *key, const char *title)
{
	struct table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->key = strdup(key);
	t->title = strdup(title);
	if (t->key && t->title)
		return t;
	table__free(t);
	return NULL;
}

static bool owns_text(const struct cell *c)
{
	return c->type == CELL_TEXT || c->type == CELL_NONE;
}

static void free_cells(struct cell *cells, size_t cnt)
{
	for (size_t i = 0; cells && i < cnt; i++)
		if (owns_text(&cells[i]))
			free((void *)cells[i].text);
	free(cells);
}

static void free_column(struct column *c)
{
	free((void *)c->key);
	free((void *)c->title);
	free((void *)c->group);
	free((void *)c->text);
	free((void *)c->brief);
}

static void clear(struct table *t)
{
	for (size_t i = 0; i < t->row_cnt; i++)
		free_cells(t->rows[i].cells, t->column_cnt);
	for (size_t i = 0; i < t->section_cnt; i++)
		free(t->sections[i]);
	for (size_t i = 0; i < t->note_cnt; i++)
		free(t->notes[i].text);
	json_decref(t->more);
	t->row_cnt = t->section_cnt = t->note_cnt = 0;
	t->more = NULL;
}

int table__set_empty(struct table *t, const char *note)
{
	clear(t);
	return table__add_note(t, note);
}

void table__free(struct table *t)
{
	if (!t)
		return;
	clear(t);
	for (size_t i = 0; i < t->column_cnt; i++)
		free_column(&t->columns[i]);
	free(t->rows);
	free(t->columns);
	free(t->sections);
	free(t->notes);
	free(t->key);
	free(t->title);
	free(t);
}

void table__set_prose(struct table *t)
{
	t->prose = true;
}

void table__set_list(struct table *t)
{
	t->list = true;
}

int table__add_column(struct table *t, const struct column *c)
{
	struct column copy = *c;

	copy.key = strdup(c->key);
	copy.title = strdup(c->title);
	copy.group = c->group ? strdup(c->group) : NULL;
	copy.text = c->text ? strdup(c->text) : NULL;
	copy.brief = c->brief ? strdup(c->brief) : NULL;
	if (copy.key && copy.title && !copy.group == !c->group && !copy.text == !c->text &&
	    !copy.brief == !c->brief && !ARRAY_PUSH(t->columns, t->column_cnt, t->column_cap, copy))
		return 0;
	free_column(&copy);
	return -ENOMEM;
}

int table__add_columns(struct table *t, const struct column *columns, size_t cnt)
{
	int err = 0;

	for (size_t i = 0; i < cnt && !err; i++)
		err = table__add_column(t, &columns[i]);
	return err;
}

void table__set_sorted(struct table *t, const char *key)
{
	t->sorted = 0;
	for (size_t i = 0; key && i < t->column_cnt; i++)
		if (strcmp(t->columns[i].key, key) == 0)
			t->sorted = i + 1;
}

void table__set_estimates(struct table *t)
{
	t->has_estimates = true;
}

static int add_row(struct table *t, struct row row, const struct cell *cells)
{
	size_t i;

	row.cells = calloc(t->column_cnt ? t->column_cnt : 1, sizeof(*row.cells));
	if (!row.cells)
		return -ENOMEM;
	for (i = 0; i < t->column_cnt; i++) {
		row.cells[i] = cells[i];
		if (!owns_text(&cells[i]) || !cells[i].text)
			continue;
		row.cells[i].text = strdup(cells[i].text);
		if (!row.cells[i].text)
			goto fail;
	}
	if (!ARRAY_PUSH(t->rows, t->row_cnt, t->row_cap, row))
		return 0;
fail:
	free_cells(row.cells, i);
	return -ENOMEM;
}

int table__add_row(struct table *t, int indent, const struct cell *cells)
{
	return add_row(t, (struct row){.indent = indent, .section = t->section_cnt}, cells);
}

int table__add_estimate(struct table *t, int indent, const struct cell *cells)
{
	const struct row row = {.indent = indent, .section = t->section_cnt, .estimated = true};
	auto_free struct cell *copy = calloc(t->column_cnt + 1, sizeof(*copy));
	auto_free char *name = NULL;

	if (asprintf(&name, "~%s", cells[0].text ? cells[0].text : "") < 0)
		name = NULL;
	if (!copy || !name)
		return -ENOMEM;
	memcpy(copy, cells, t->column_cnt * sizeof(*copy));
	copy[0].text = name;
	t->has_estimates = true;
	return add_row(t, row, copy);
}

const char *row__plain_name(const struct row *r)
{
	return r->cells[0].text + r->estimated;
}

static int add_text(char ***items, size_t *cnt, size_t *cap, const char *text)
{
	char *copy = strdup(text);

	if (copy && !ARRAY_PUSH(*items, *cnt, *cap, copy))
		return 0;
	free(copy);
	return -ENOMEM;
}

int table__add_section(struct table *t, const char *title)
{
	return add_text(&t->sections, &t->section_cnt, &t->section_cap, title);
}

int table__add_note(struct table *t, const char *text)
{
	const struct note note = {.text = strdup(text)};

	if (note.text && !ARRAY_PUSH(t->notes, t->note_cnt, t->note_cap, note))
		return 0;
	free(note.text);
	return -ENOMEM;
}

int table__as_legend(struct table *t, int err)
{
	if (!err && t->note_cnt)
		t->notes[t->note_cnt - 1].legend = true;
	return err;
}

void table__set_short(struct table *t, size_t rows, bool one_section)
{
	t->is_short = true;
	t->short_rows = rows;
	t->one_section = one_section;
}

int table__set_json(struct table *t, const char *key, json_t *value)
{
	if (!t->more)
		t->more = json_object();
	return json_object_set_new(t->more, key, value) ? -ENOMEM : 0;
}

/* The row's name in a column. NULL: it has none there. */
static const char *row_name(const struct table *t, const struct row *r, size_t column)
{
	const bool is_name = !column || t->columns[column].is_name;

	if (!is_name || r->cells[column].type != CELL_TEXT)
		return NULL;
	return column ? r->cells[column].text : row__plain_name(r);
}

void table__set_node_prefix(struct table *t, const char *prefix)
{
	t->node_prefix = prefix;
}

/* A backward node's name without the prefix. NULL: it is no node. */
static const char *node_name(const struct table *t, const char *name)
{
	const size_t len = t->node_prefix ? strlen(t->node_prefix) : 0;

	return len && strncmp(name, t->node_prefix, len) == 0 ? name + len : NULL;
}

static bool row_matches(const struct table *t, const struct row *r, const char *pattern)
{
	for (size_t i = 0; i < t->column_cnt; i++) {
		const char *name = row_name(t, r, i);
		const char *node = name ? node_name(t, name) : NULL;

		if (name && (!fnmatch(pattern, name, 0) || (node && !fnmatch(pattern, node, 0))))
			return true;
	}
	return false;
}

static void offer_names(const struct table *t, const struct row *r, struct suggestion *near)
{
	for (size_t i = 0; i < t->column_cnt; i++) {
		const char *name = row_name(t, r, i);

		if (name)
			suggest__offer(near, name);
		if (name && node_name(t, name))
			suggest__offer(near, node_name(t, name));
	}
}

size_t table__match(const struct table *t, const char *pattern, struct suggestion *near)
{
	size_t cnt = 0;

	for (size_t i = 0; i < t->row_cnt && t->column_cnt; i++) {
		const struct row *row = &t->rows[i];

		if (row->indent)
			continue;
		if (row_matches(t, row, pattern))
			cnt++;
		else
			offer_names(t, row, near);
	}
	return cnt;
}

void table__keep(struct table *t, const char *pattern)
{
	size_t kept = 0;
	bool keep = false;

	for (size_t i = 0; i < t->row_cnt && t->column_cnt; i++) {
		struct row row = t->rows[i];

		if (!row.indent)
			keep = row_matches(t, &row, pattern);
		if (keep)
			t->rows[kept++] = row;
		else
			free_cells(row.cells, t->column_cnt);
	}
	t->row_cnt = kept;
}

void table__keep_last(struct table *t)
{
	if (t->row_cnt)
		t->rows[t->row_cnt - 1].kept = true;
}

size_t table__row_cnt(const struct table *t)
{
	return t->row_cnt;
}

long table__each_row(const struct table *t, size_t limit,
		     int (*row)(const struct row *r, void *ctx), void *ctx)
{
	size_t section = 0, seen = 0;
	long left_out = 0;

	for (size_t i = 0; i < t->row_cnt; i++) {
		const struct row *r = &t->rows[i];
		int err;

		if (r->section != section)
			seen = 0;
		section = r->section;
		seen += !r->indent;
		if (limit && seen > limit && !r->kept) {
			left_out += !r->indent;
			continue;
		}
		err = row(r, ctx);
		if (err)
			return err;
	}
	return left_out;
}

enum cell_type table__column_type(const struct table *t, size_t column)
{
	enum cell_type type = t->columns[column].type;

	for (size_t i = 0; i < t->row_cnt && type == CELL_NONE; i++)
		type = t->rows[i].cells[column].type;
	return type;
}

const char *table__column_key(const struct table *t, size_t column, char *buf, size_t size)
{
	static const char *const suffixes[] = {
		[CELL_TIME] = "_ns", [CELL_PERCENT] = "_percent", [CELL_BYTES] = "_bytes",
		[CELL_FLOAT] = "",   [CELL_DECIMAL] = "",	  [CELL_LARGE] = "",
	};
	const char *suffix = suffixes[table__column_type(t, column)];

	snprintf(buf, size, "%s%s", t->columns[column].key, suffix ? suffix : "");
	return buf;
}
