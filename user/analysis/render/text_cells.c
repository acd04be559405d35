// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/render/text_cells.h"
#include <inttypes.h>
#include "analysis/render/text_width.h"
#include "common/util.h"

void text__put_repeated(FILE *out, char c, int cnt)
{
	while (cnt-- > 0)
		fputc(c, out);
}

void table__format_bytes(int64_t bytes, char *buf, size_t size)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	double v = (double)bytes;
	size_t u = 0;

	for (; (v >= 1024 || v <= -1024) && u + 1 < ARRAY_SIZE(units); u++)
		v /= 1024;
	snprintf(buf, size, u ? "%.2f %s" : "%.0f %s", v, units[u]);
}

static void format_large(int64_t n, char *buf, size_t size)
{
	static const char *const prefixes[] = {"", " K", " M", " G", " T", " P", " E"};
	double v = (double)n;
	size_t i = 0;

	for (; v >= 999.995 && i + 1 < ARRAY_SIZE(prefixes); i++)
		v /= 1000;
	snprintf(buf, size, i ? "%.2f%s" : "%.0f%s", v, prefixes[i]);
}

/* Returns names in place, because they may be longer than buf. */
const char *text__format_cell(const struct cell *c, char *buf, size_t size)
{
	switch (c->type) {
	case CELL_TEXT:
		return c->text ? c->text : "";
	case CELL_COUNT:
		snprintf(buf, size, "%" PRId64, c->count);
		break;
	case CELL_BYTES:
		table__format_bytes(c->count, buf, size);
		break;
	case CELL_LARGE:
		format_large(c->count, buf, size);
		break;
	case CELL_PERCENT:
	case CELL_DECIMAL:
		snprintf(buf, size, "%.2f", c->number);
		break;
	case CELL_FLOAT:
		snprintf(buf, size, "%.5f", c->number);
		break;
	default:
		return "-";
	}
	return buf;
}

const char *text__title(const struct column *c, bool brief, char buf[TITLE_SIZE])
{
	if (brief && c->brief)
		return c->brief;
	if (c->text)
		return c->text;
	if (!c->group)
		return c->title;
	snprintf(buf, TITLE_SIZE, "%s %s", c->group, c->title);
	return buf;
}

void text__put_style(const struct text *x, const char *sequence)
{
	if (x->style->colours)
		fputs(sequence, x->out);
}

void text__put_centred(const struct text *x, const char *title, char fill)
{
	int width = text__columns(title) < x->width ? text__columns(title) : x->width;
	int left = (x->width - width) / 2;

	text__put_repeated(x->out, fill, left);
	text__put_style(x, "\033[1m");
	text__put_cut(x->out, title, x->width);
	text__put_style(x, "\033[0m");
	text__put_repeated(x->out, fill, x->width - width - left);
	fputc('\n', x->out);
}
