// SPDX-License-Identifier: BSD-2-Clause
/* Text prints the names of backward nodes without their common prefix, which takes half of a
 * line. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/render/table_internal.h"
#include "common/util.h"

/* Removes the prefix from text. Returns whether there was one. */
static bool take_out(char *text, const char *prefix)
{
	const size_t len = strlen(prefix);
	bool any = false;

	for (char *at = text; at && (at = strstr(at, prefix)); any = true)
		memmove(at, at + len, strlen(at + len) + 1);
	return any;
}

static bool take_out_of_row(const struct table *t, struct row *r)
{
	bool is_node = false;

	for (size_t i = 0; i < t->column_cnt; i++)
		if (r->cells[i].type == CELL_TEXT)
			is_node |= take_out((char *)r->cells[i].text, t->node_prefix) && !i;
	return is_node;
}

/* A row's cells with a new one after the first. The caller frees them. */
static struct cell *widened(const struct table *t, const struct row *r, bool marked)
{
	struct cell *cells = calloc(t->column_cnt + 1, sizeof(*cells));
	char *mark = strdup(marked ? "*" : "");

	if (!cells || !mark) {
		free(cells);
		free(mark);
		return NULL;
	}
	cells[0] = r->cells[0];
	cells[1] = (struct cell){.type = CELL_TEXT, .text = mark};
	memcpy(cells + 2, r->cells + 1, (t->column_cnt - 1) * sizeof(*cells));
	return cells;
}

/* Inserts a column after the first. cells: one array per row. */
static void insert_column(struct table *t, struct cell **cells)
{
	const struct column c = t->columns[t->column_cnt - 1];

	memmove(&t->columns[2], &t->columns[1], (t->column_cnt - 2) * sizeof(c));
	t->columns[1] = c;
	t->sorted += t->sorted > 1;
	for (size_t i = 0; i < t->row_cnt; i++) {
		free(t->rows[i].cells);
		t->rows[i].cells = cells[i];
	}
}

static int mark_rows(struct table *t, const bool *nodes)
{
	static const struct column mark = {
		.key = "backward", .title = "Bwd", .type = CELL_TEXT, .rank = 1};
	auto_free struct cell **cells = calloc(t->row_cnt + 1, sizeof(*cells));
	int err = cells ? 0 : -ENOMEM;

	for (size_t i = 0; i < t->row_cnt && !err; i++) {
		cells[i] = widened(t, &t->rows[i], nodes[i]);
		err = cells[i] ? 0 : -ENOMEM;
	}
	if (!err)
		err = table__add_column(t, &mark);
	if (!err)
		insert_column(t, cells);
	for (size_t i = 0; err && cells && i < t->row_cnt && cells[i]; i++) {
		free((void *)cells[i][1].text);
		free(cells[i]);
	}
	return err;
}

int table__mark_nodes(struct table *t)
{
	auto_free bool *nodes = calloc(t->row_cnt + 1, sizeof(*nodes));
	bool any = false;

	if (!nodes)
		return -ENOMEM;
	for (size_t i = 0; i < t->row_cnt && t->column_cnt && t->node_prefix; i++)
		any |= nodes[i] = take_out_of_row(t, &t->rows[i]);
	for (size_t i = 0; i < t->note_cnt && t->node_prefix; i++)
		take_out(t->notes[i].text, t->node_prefix);
	return any && !t->list && !t->prose ? mark_rows(t, nodes) : 0;
}
