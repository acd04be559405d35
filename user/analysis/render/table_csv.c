// SPDX-License-Identifier: BSD-2-Clause
/* A table as RFC 4180 CSV. */
#include <inttypes.h>
#include <string.h>
#include "analysis/render/table_internal.h"
#include "analysis/render/text_width.h"
#include "common/counted.h"
#include "common/csv_cell.h"
#include "common/err.h"
#include "analysis/message_table.h"
#include "common/util.h"

static void put_bytes(void *ctx, const char *text, size_t len)
{
	fwrite(text, 1, len, ctx);
}

static void put_shown(void *ctx, const char *text, size_t len)
{
	int cols;

	for (size_t i = 0, bytes; i < len; i += bytes) {
		bytes = text__char(text + i, &cols);
		text__put_char(ctx, text + i, bytes);
	}
}

static csv_put_fn *put_of(const struct table_style *style)
{
	return style->shown ? put_shown : put_bytes;
}

static void put_field(const char *text, const struct table_style *style, FILE *out)
{
	csv_cell__write(text, style->raw_csv, put_of(style), out);
}

static void put_cell(const struct cell *c, const struct table_style *style, FILE *out)
{
	switch (c->type) {
	case CELL_TEXT:
		put_field(c->text ? c->text : "", style, out);
		break;
	case CELL_COUNT:
	case CELL_BYTES:
	case CELL_LARGE:
		fprintf(out, "%" PRId64, c->count);
		break;
	case CELL_TIME:
		fprintf(out, "%" PRIu64, c->time_ns);
		break;
	case CELL_PERCENT:
	case CELL_FLOAT:
	case CELL_DECIMAL:
		fprintf(out, "%.9g", c->number);
		break;
	default:
		break;
	}
}

struct rows {
	const struct table *t;
	const struct table_style *style;
	FILE *out;
};

static int put_row(const struct row *r, void *ctx)
{
	const struct rows *rows = ctx;

	for (size_t i = 0; i < rows->t->column_cnt; i++) {
		if (i)
			fputc(',', rows->out);
		if (!i && r->estimated)
			put_field(row__plain_name(r), rows->style, rows->out);
		else
			put_cell(&r->cells[i], rows->style, rows->out);
	}
	if (!rows->t->list)
		fprintf(rows->out, ",%d", r->indent);
	if (rows->t->section_cnt) {
		fputc(',', rows->out);
		put_field(r->section ? rows->t->sections[r->section - 1] : "", rows->style,
			  rows->out);
	}
	if (rows->t->has_estimates)
		fputs(r->estimated ? ",true" : ",false", rows->out);
	fputs("\r\n", rows->out);
	return 0;
}

/* A quotation mark after a comma would open a field. So a text with a quotation mark is printed as
 * one field. */
void csv__put_comment(const char *text, const struct table_style *style, FILE *out)
{
	const char *quote = strchr(text, '"') ? "\"" : "";

	fprintf(out, "%s# ", quote);
	csv_cell__write_comment(text, style->raw_csv, put_of(style), out);
	fprintf(out, "%s\r\n", quote);
}

/* Notes contain names of the target and may go to a terminal, so they are printed through the
 * log. */
static void log_note(const struct table *t, const char *text)
{
	auto_free char *line = NULL;
	size_t len;
	FILE *memory = open_memstream(&line, &len);

	if (!memory)
		return;
	text__put_cut(memory, text, text__columns(text));
	if (fclose(memory) == 0 && line)
		log__info(MESSAGE_TABLE_NOTE, t->title, line);
}

static void put_note(const struct table *t, const struct table_style *style, const char *text,
		     FILE *out)
{
	if (style->alone)
		log_note(t, text);
	else
		csv__put_comment(text, style, out);
}

int table__print_csv(const struct table *t, const struct table_style *style, FILE *out)
{
	struct rows rows = {t, style, out};
	long left_out;

	if (!style->alone)
		csv__put_comment(t->title, style, out);
	for (size_t i = 0; i < t->column_cnt; i++) {
		char key[128];

		if (i)
			fputc(',', out);
		put_field(table__column_key(t, i, key, sizeof(key)), style, out);
	}
	fputs(t->list ? "" : ",depth", out);
	fputs(t->section_cnt ? ",section" : "", out);
	fputs(t->has_estimates ? ",estimated\r\n" : "\r\n", out);
	left_out = table__each_row(t, t->list ? 0 : style->row_limit, put_row, &rows);
	if (left_out < 0)
		return (int)left_out;
	if (left_out) {
		char note[128];

		snprintf(note, sizeof(note), "%s left out",
			 counted((uint64_t)left_out, "more row", "more rows").s);
		put_note(t, style, note, out);
	}
	for (size_t i = 0; i < t->note_cnt; i++)
		put_note(t, style, t->notes[i].text, out);
	return 0;
}
