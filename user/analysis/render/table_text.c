// SPDX-License-Identifier: BSD-2-Clause
/* A table as text, in the layout that Paddle's users know, but never wider than the terminal. */
#include <inttypes.h>
#include <string.h>
#include "analysis/render/cut_names.h"
#include "analysis/render/table_internal.h"
#include "analysis/render/text_width.h"
#include "common/counted.h"
#include "common/util.h"

#define NAME_MIN 16 /* a name is not cut below this; columns are left out instead */
#define NAME_KEEP                                                                                  \
	40 /* nor below this, or two fifths of the width, if less telling columns can go */
#define CELL_SIZE   256
#define SIGNIFICANT 3 /* digits of a time shorter than the unit; where there is no room, 2 */

/* A printed column: one of the table's, or a group of them joined. */
struct view {
	size_t first, cnt;
	int width, need; /* need: without the padding of a minimum width */
	bool name;	 /* may be cut */
};

struct text {
	const struct table *t;
	const struct table_style *style;
	FILE *out;
	struct view *views;
	size_t view_cnt; /* less those that did not fit */
	bool *left_out;	 /* by column */
	int significant;
	bool brief; /* titles are shortened */
	int width;
	size_t row_limit;
	size_t section;
	struct cut_names names; /* of the rows, in the order of printing; those of the first view */
	size_t name;		/* the next */
};

static void put_repeated(FILE *out, char c, int cnt)
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

/* Times shorter than the unit keep so many significant digits, down to a nanosecond: a kernel of
 * 4 us is no 0.00 ms. */
static void format_time(uint64_t ns, enum time_unit unit, int significant, char *buf, size_t size)
{
	static const struct {
		double ns;
		int digits, most;
	} units[] = {[UNIT_S] = {1e9, 5, 9},
		     [UNIT_MS] = {1e6, 2, 6},
		     [UNIT_US] = {1e3, 2, 2},
		     [UNIT_NS] = {1, 0, 0}};
	const double value = (double)ns / units[unit].ns;
	int digits = units[unit].digits, zeros = -1;

	for (double v = value; ns && v < 1; v *= 10)
		zeros++;
	if (zeros >= 0 && zeros + significant > digits)
		digits = zeros + significant;
	if (digits > units[unit].most)
		digits = units[unit].most;
	snprintf(buf, size, "%.*f", digits, value);
}

/* Texts of names are printed from where they are: they may be longer than buf. */
static const char *format_cell(const struct text *x, const struct cell *c, char *buf, size_t size)
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
	case CELL_TIME:
		format_time(c->time_ns, x->style->unit, x->significant, buf, size);
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

static const char *title_of(const struct text *x, const struct column *c)
{
	return x->brief && c->brief ? c->brief : c->title;
}

/* A view's text for one row; r NULL: its header. */
static const char *format_view(const struct text *x, const struct view *v, const struct row *r,
			       char *buf, size_t size)
{
	const struct column *c = &x->t->columns[v->first];
	size_t len = 0;
	bool any = false;

	if (v->cnt == 1 && !c->group)
		return r ? format_cell(x, &r->cells[v->first], buf, size) : title_of(x, c);
	buf[0] = '\0';
	for (size_t i = 0; i < v->cnt && len < size; i++) {
		char part[CELL_SIZE / 4];
		const char *s = title_of(x, &c[i]), *before = any ? " / " : "";

		if (x->left_out[v->first + i])
			continue;
		if (r)
			s = format_cell(x, &r->cells[v->first + i], part, sizeof(part));
		else if (!any)
			len += (size_t)snprintf(buf, size, "%s ", c->group);
		if (len < size)
			len += (size_t)snprintf(buf + len, size - len, "%s%s", before, s);
		any = true;
	}
	return buf;
}

static bool same_group(const struct column *a, const struct column *b)
{
	return a->group && b->group && strcmp(a->group, b->group) == 0;
}

/* The views of the columns that are not left out; groups keep their place. */
static void make_views(struct text *x)
{
	const struct table *t = x->t;

	x->view_cnt = 0;
	for (size_t i = 0; i < t->column_cnt; i++) {
		struct view *v = x->view_cnt ? &x->views[x->view_cnt - 1] : NULL;

		if (x->left_out[i])
			continue;
		if (v && same_group(&t->columns[v->first], &t->columns[i]))
			v->cnt = i - v->first + 1;
		else
			x->views[x->view_cnt++] = (struct view){.first = i, .cnt = 1};
	}
}

static int total_width(const struct text *x)
{
	int width = x->view_cnt ? -2 : 0;

	for (size_t i = 0; i < x->view_cnt; i++)
		width += x->views[i].width + 2;
	return width;
}

static int measure_row(const struct row *r, void *ctx)
{
	struct text *x = ctx;
	char buf[CELL_SIZE];

	for (size_t i = 0; i < x->view_cnt; i++) {
		struct view *v = &x->views[i];
		int width = text__columns(format_view(x, v, r, buf, sizeof(buf)));

		width += i ? 0 : 2 * r->indent;
		if (width > v->need)
			v->need = width;
		v->name |= v->cnt == 1 && r->cells[v->first].type == CELL_TEXT;
	}
	return 0;
}

static void measure(struct text *x)
{
	char buf[CELL_SIZE];

	make_views(x);
	for (size_t i = 0; i < x->view_cnt; i++)
		x->views[i].need =
			text__columns(format_view(x, &x->views[i], NULL, buf, sizeof(buf)));
	table__each_row(x->t, x->row_limit, measure_row, x);
	for (size_t i = 0; i < x->view_cnt; i++) {
		struct view *v = &x->views[i];
		const struct column *c = &x->t->columns[v->first];

		int most = !i && x->style->name_width ? x->style->name_width : c->max_width;

		if (most && v->need > most)
			v->need = most;
		v->width = v->need > c->min_width ? v->need : c->min_width;
		if (most && v->width > most)
			v->width = most;
	}
}

/* Takes padding away, as much as is too much. */
static int shrink(struct text *x, int over)
{
	for (size_t i = x->view_cnt; i-- > 0 && over > 0;) {
		struct view *v = &x->views[i];
		int give = v->width > v->need ? v->width - v->need : 0;

		give = give < over ? give : over;
		v->width -= give;
		over -= give;
	}
	return over;
}

/* How far a name is cut before columns are left out. */
static int kept_width(const struct text *x, const struct view *v)
{
	const int keep = x->t->columns[v->first].keep, fifths = x->style->width * 2 / 5;

	if (keep)
		return keep;
	return fifths < NAME_MIN ? NAME_MIN : fifths < NAME_KEEP ? fifths : NAME_KEEP;
}

/* The widest of the names that are wider than they are kept, or than the minimum. */
static struct view *widest_name(struct text *x, bool to_min)
{
	struct view *widest = NULL;

	for (size_t i = 0; i < x->view_cnt; i++) {
		struct view *v = &x->views[i];

		if (v->name && v->width > (to_min ? NAME_MIN : kept_width(x, v)) &&
		    (!widest || v->width >= widest->width))
			widest = v;
	}
	return widest;
}

static int cut_widest(struct text *x, int over, bool to_min)
{
	struct view *v;

	while (over > 0 && (v = widest_name(x, to_min))) {
		v->width--;
		over--;
	}
	return over;
}

/* What rows are sorted by or grouped by, without which they say little. */
static bool is_kept(const struct text *x, size_t column)
{
	return x->t->sorted == column + 1 || x->t->columns[column].grouped;
}

static int rank_of(const struct text *x, size_t column)
{
	return is_kept(x, column) ? 0 : x->t->columns[column].rank;
}

/* Leaves out the columns of the highest rank there is. */
static bool leave_out_rank(struct text *x)
{
	int rank = 0;

	for (size_t i = 0; i < x->t->column_cnt; i++)
		if (!x->left_out[i] && rank_of(x, i) > rank)
			rank = rank_of(x, i);
	for (size_t i = 0; i < x->t->column_cnt && rank; i++)
		x->left_out[i] |= rank_of(x, i) == rank;
	return rank > 0;
}

static bool leave_out_view(struct text *x, const struct view *v, bool kept)
{
	bool any = false;

	for (size_t i = v->first; i < v->first + v->cnt; i++) {
		if (x->left_out[i] || is_kept(x, i) != kept)
			continue;
		x->left_out[i] = any = true;
	}
	return any;
}

/* From the right, never the first. */
static void leave_out_last(struct text *x)
{
	for (int kept = 0; kept < 2; kept++)
		for (size_t i = x->view_cnt; i-- > 1;)
			if (leave_out_view(x, &x->views[i], kept))
				return;
}

static bool has_brief_titles(const struct table *t)
{
	for (size_t i = 0; i < t->column_cnt; i++)
		if (t->columns[i].brief)
			return true;
	return false;
}

/* See tables__print(). */
static void fit(struct text *x)
{
	const int width = x->style->width;
	int over = 0;

	measure(x);
	while (width) {
		over = shrink(x, total_width(x) - width);
		over = cut_widest(x, over, false);
		if (over <= 0)
			break;
		if (x->significant == SIGNIFICANT) {
			x->significant--;
		} else if (!x->brief && has_brief_titles(x->t)) {
			x->brief = true;
		} else if (!leave_out_rank(x)) {
			over = cut_widest(x, over, true);
			if (over <= 0 || x->view_cnt < 2)
				break;
			leave_out_last(x);
		}
		measure(x);
	}
	if (over > 0)
		x->views[0].width = width > 4 ? width : 4;
	x->width = total_width(x);
}

static void put_style(const struct text *x, const char *sequence)
{
	if (x->style->colours)
		fputs(sequence, x->out);
}

static void put_centred(const struct text *x, const char *title, char fill)
{
	int width = text__columns(title) < x->width ? text__columns(title) : x->width;
	int left = (x->width - width) / 2;

	put_repeated(x->out, fill, left);
	put_style(x, "\033[1m");
	text__put_cut(x->out, title, x->width);
	put_style(x, "\033[0m");
	put_repeated(x->out, fill, x->width - width - left);
	fputc('\n', x->out);
}

static void put_rule(const struct text *x)
{
	for (size_t i = 0; i < x->view_cnt; i++) {
		put_repeated(x->out, ' ', i ? 2 : 0);
		put_repeated(x->out, '-', x->views[i].width);
	}
	fputc('\n', x->out);
}

static bool has_name(const struct text *x, const struct row *r)
{
	return r && x->view_cnt && x->views[0].name && r->cells[x->views[0].first].text &&
	       r->cells[x->views[0].first].type == CELL_TEXT;
}

static int indent_of(const struct text *x, const struct row *r)
{
	const int half = x->views[0].width / 2;

	return 2 * r->indent < half ? 2 * r->indent : half;
}

static int take_name(const struct row *r, void *ctx)
{
	struct text *x = ctx;

	return has_name(x, r) ? cut_names__add(&x->names, r->cells[x->views[0].first].text,
					       x->views[0].width - indent_of(x, r))
			      : 0;
}

static int cut_names(struct text *x)
{
	long left_out = table__each_row(x->t, x->row_limit, take_name, x);

	return left_out < 0 ? (int)left_out : cut_names__cut(&x->names);
}

/* Returns how many columns it took. */
static int put_text(const struct text *x, const struct view *v, const struct row *r,
		    const char *text, int width)
{
	const bool stack = r && x->t->columns[v->first].stack;

	return stack ? text__put_stack(x->out, text, width) : text__put_cut(x->out, text, width);
}

/* No blanks at the end of a line: they would wrap in a terminal that is exactly full. */
static int put_line(const struct row *r, void *ctx)
{
	struct text *x = ctx;
	char buf[CELL_SIZE];
	int pad = 0;

	if (r && r->section != x->section) {
		x->section = r->section;
		if (x->t->section_cnt > 1 || !x->t->one_section)
			put_centred(x, x->t->sections[r->section - 1], '-');
	}
	for (size_t i = 0; i < x->view_cnt; i++) {
		const struct view *v = &x->views[i];
		const char *text = format_view(x, v, r, buf, sizeof(buf));
		int indent = i || !r ? 0 : indent_of(x, r);

		if (!i && has_name(x, r))
			text = x->names.items[x->name++].shown;
		pad += indent;
		if (*text) {
			put_repeated(x->out, ' ', pad);
			pad = -put_text(x, v, r, text, v->width - indent);
		}
		pad += v->width - indent + 2;
	}
	fputc('\n', x->out);
	return 0;
}

/* Prose takes as many lines as it needs, broken between words, or within one that is too long; the
 * first is indented by `first`, the others by `indent`. */
static void put_prose(const struct text *x, const char *text, int first, int indent)
{
	int width = x->style->width > 2 * indent ? x->style->width : INT32_MAX, column = first;
	bool begun = false;

	put_repeated(x->out, ' ', first);

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
	char note[512] = "left out, the terminal is too narrow:";
	size_t len = strlen(note);
	bool any = false;

	for (size_t i = 0; i < x->t->column_cnt && len < sizeof(note); i++) {
		const struct column *c = &x->t->columns[i];

		if (!x->left_out[i])
			continue;
		len += (size_t)snprintf(note + len, sizeof(note) - len, "%s %s%s%s", any ? "," : "",
					c->group ? c->group : "", c->group ? " " : "", c->title);
		any = true;
	}
	if (any)
		put_note(x, note);
}

static void put_notes(const struct text *x, long rows_left_out)
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

static bool has_times(const struct table *t)
{
	for (size_t i = 0; i < t->column_cnt; i++)
		if (table__column_type(t, i) == CELL_TIME)
			return true;
	return false;
}

/* A value with its unit, a time in the one that suits it. */
static const char *list_value(const struct text *x, const struct row *row, size_t column, char *buf,
			      size_t size)
{
	const struct cell *c = &row->cells[column];
	const char *value;

	if (c->type == CELL_TIME) {
		snprintf(buf, size, "%s", time_text__of(x->style, c->time_ns).s);
		return buf;
	}
	value = format_cell(x, c, buf, size);
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

static int put_list(struct text *x)
{
	for (size_t i = 0; i < x->t->column_cnt && x->t->row_cnt; i++) {
		auto_free char *line = list_line(x, &x->t->rows[0], i);

		if (!line)
			return -ENOMEM;
		put_prose(x, line, 0, 2);
	}
	put_notes(x, 0);
	return 0;
}

#define PROSE_WIDTH 100 /* of a title, where the width is unlimited */

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

static int put_paragraphs(struct text *x)
{
	int err = 0;

	x->width = x->style->width ? x->style->width : PROSE_WIDTH;
	put_centred(x, x->t->title, '-');
	for (size_t i = 0; i < x->t->row_cnt && !err; i++)
		err = put_paragraph(x, i);
	put_notes(x, 0);
	return err;
}

static int put_table(struct text *x)
{
	static const char *const units[] = {"s", "ms", "us", "ns"};
	long left_out;
	int err;

	fit(x);
	err = cut_names(x);
	if (err)
		return err;
	put_centred(x, x->t->title, '-');
	if (has_times(x->t))
		fprintf(x->out, "Time unit: %s\n", units[x->style->unit]);
	put_rule(x);
	put_line(NULL, x);
	put_rule(x);
	left_out = table__each_row(x->t, x->row_limit, put_line, x);
	put_rule(x);
	put_notes(x, left_out);
	return 0;
}

int table__print_text(const struct table *t, const struct table_style *style, FILE *out)
{
	struct text x = {.t = t,
			 .style = style,
			 .out = out,
			 .significant = SIGNIFICANT,
			 .row_limit = t->is_short ? t->short_rows : style->row_limit};
	int err = 0;

	x.views = calloc(t->column_cnt + 1, sizeof(*x.views));
	x.left_out = calloc(t->column_cnt + 1, sizeof(*x.left_out));
	if (!x.views || !x.left_out)
		err = -ENOMEM;
	else if (t->list)
		err = put_list(&x);
	else if (t->prose)
		err = put_paragraphs(&x);
	else
		err = put_table(&x);
	cut_names__free(&x.names);
	free(x.views);
	free(x.left_out);
	return err;
}
