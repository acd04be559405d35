// SPDX-License-Identifier: BSD-2-Clause
/* The parts of a report that are lines of words: lists, numbered paragraphs, notes. */
#include <string.h>
#include "analysis/render/table_text.h"
#include "analysis/render/text_cells.h"
#include "analysis/render/text_width.h"
#include "common/counted.h"
#include "common/util.h"

/* Prints prose in as many lines as it needs. Lines break between words, or within a word that is
 * too long. The first line is indented by `first`, the others by `indent`. */
static void put_prose(const struct text *x, const char *text, int first, int indent)
{
	int width = x->style->width > 2 * indent ? x->style->width : INT32_MAX, column = first;
	bool begun = false;

	fprintf(x->out, "%*s", first, "");

	while (*text) {
		const size_t len = strcspn(text, " \n");
		const int cols = text__columns_within(text, len);

		if (begun && (column + 1 + cols > width || text[-1] == '\n')) {
			fprintf(x->out, "\n%*s", indent, "");
			column = indent;
		} else if (begun) {
			column += fprintf(x->out, " ");
		}
		begun = true;
		for (size_t i = 0, bytes; i < len; i += bytes) {
			int own;

			bytes = text__char(text + i, &own);
			if (column + own > width) {
				fprintf(x->out, "\n%*s", indent, "");
				column = indent;
			}
			column += own;
			text__put_char(x->out, text + i, bytes);
		}
		text += len;
		text += *text != '\0';
	}
	fputc('\n', x->out);
}

static void put_note(const struct text *x, const char *text)
{
	put_prose(x, text, 0, 0);
}

static void put_columns_left_out(const struct text *x)
{
	char note[512] = "left out, the terminal is too narrow:", title[TITLE_SIZE];
	size_t len = strlen(note);
	bool any = false;

	for (size_t i = 0; i < x->t->column_cnt && len < sizeof(note); i++) {
		const struct column *c = &x->t->columns[i];

		if (!x->left_out[i])
			continue;
		len += (size_t)snprintf(note + len, sizeof(note) - len, "%s %s", any ? "," : "",
					text__title(c, false, title));
		any = true;
	}
	if (any)
		put_note(x, note);
}

void text__put_notes(const struct text *x, long rows_left_out)
{
	char note[256];

	if (rows_left_out > 0) {
		snprintf(note, sizeof(note), "%s left out (--row-limit 0 prints all)",
			 counted((uint64_t)rows_left_out, "more row", "more rows").s);
		put_note(x, note);
	}
	put_columns_left_out(x);
	for (size_t i = 0; i < x->t->note_cnt; i++)
		if (!x->t->is_short || !x->t->notes[i].legend)
			put_note(x, x->t->notes[i].text);
}

/* A value with its unit. A time gets the unit that suits it. */
static const char *list_value(const struct text *x, const struct row *row, size_t column, char *buf,
			      size_t size)
{
	const struct cell *c = &row->cells[column];
	const char *value;

	if (c->type == CELL_TIME) {
		snprintf(buf, size, "%s", time_text__of(x->style, c->time_ns).s);
		return buf;
	}
	value = text__format_cell(c, buf, size);
	if (c->type == CELL_PERCENT)
		strncat(buf, " %", size - strlen(buf) - 1);
	return value;
}

/* "title: value"; caller frees. */
static char *list_line(const struct text *x, const struct row *row, size_t column)
{
	const struct cell *c = &row->cells[column];
	const char *title = x->t->columns[column].title;
	char buf[CELL_SIZE], *line = NULL;
	const char *value = list_value(x, row, column, buf, sizeof(buf));
	int len;

	if (c->type == CELL_NONE && c->text)
		len = asprintf(&line, "%s: %s (%s)", title, value, c->text);
	else
		len = asprintf(&line, "%s: %s", title, value);
	return len < 0 ? NULL : line;
}

int text__put_list(struct text *x)
{
	for (size_t i = 0; i < x->t->column_cnt && x->t->row_cnt; i++) {
		auto_free char *line = list_line(x, &x->t->rows[0], i);

		if (!line)
			return -ENOMEM;
		put_prose(x, line, 0, 2);
	}
	text__put_notes(x, 0);
	return 0;
}

#define PROSE_WIDTH 100 /* columns, if the width is unlimited */

static void put_framed(FILE *f, const char *frame, const char *value)
{
	const char *at = frame ? strchr(frame, '%') : NULL;

	if (at)
		fprintf(f, "%.*s%s%s", (int)(at - frame), frame, value, at + 1);
	else
		fputs(value, f);
}

/* "1. The first cell. [at most 3.2 ms of a step, 12 %]"; caller frees. */
static char *paragraph_head(const struct text *x, size_t number)
{
	const struct row *row = &x->t->rows[number];
	char *head = NULL;
	size_t len, asides = 0;
	FILE *f = open_memstream(&head, &len);

	if (!f)
		return NULL;
	fprintf(f, "%zu. %s", number + 1, row->cells[0].text);
	for (size_t i = 1; i < x->t->column_cnt; i++) {
		const struct column *c = &x->t->columns[i];
		char value[CELL_SIZE];

		if (!c->aside || row->cells[i].type == CELL_NONE)
			continue;
		fputs(asides++ ? ", " : " [", f);
		put_framed(f, c->frame, list_value(x, row, i, value, sizeof(value)));
	}
	if (asides)
		fputc(']', f);
	return fclose(f) ? NULL : head;
}

static int put_paragraph(struct text *x, size_t number)
{
	const struct row *row = &x->t->rows[number];
	auto_free char *head = paragraph_head(x, number);

	if (!head)
		return -ENOMEM;
	put_prose(x, head, 0, 3);
	for (size_t i = 1; i < x->t->column_cnt; i++) {
		auto_free char *line = NULL;

		if (row->cells[i].type == CELL_NONE || x->t->columns[i].aside)
			continue;
		line = list_line(x, row, i);
		if (!line)
			return -ENOMEM;
		put_prose(x, line, 3, 5);
	}
	return 0;
}

int text__put_paragraphs(struct text *x)
{
	int err = 0;

	x->width = x->style->width ? x->style->width : PROSE_WIDTH;
	text__put_centred(x, x->t->title, '-');
	for (size_t i = 0; i < x->t->row_cnt && !err; i++)
		err = put_paragraph(x, i);
	text__put_notes(x, 0);
	return err;
}
