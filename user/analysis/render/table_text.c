// SPDX-License-Identifier: BSD-2-Clause
/* A table as text: a column for each number, never wider than the terminal. */
#include <inttypes.h>
#include <string.h>
#include "analysis/render/table_text.h"
#include "analysis/render/text_cells.h"
#include "analysis/render/text_width.h"
#include "common/util.h"

#define NAME_MIN 16 /* columns; names are not cut further, columns are left out instead */
/* columns; nor cut below this, or two fifths of the width, while less important columns remain */
#define NAME_KEEP 40

static const struct {
	const char *name;
	double ns;
	int digits;
	int least, most; /* digits when the user chose the unit */
} units[] = {[UNIT_S] = {"s", 1e9, 3, 5, 9},
	     [UNIT_MS] = {"ms", 1e6, 3, 2, 6},
	     [UNIT_US] = {"us", 1e3, 2, 2, 3},
	     [UNIT_NS] = {"ns", 1, 0, 0, 0}};

/* Prints a small time as "<0.001", never as zero. */
static void format_time(const struct view *v, uint64_t ns, char *buf, size_t size)
{
	const double value = (double)ns / units[v->unit].ns;
	double least = 1;

	for (int i = 0; i < v->digits; i++)
		least /= 10;
	if (ns && value < least / 2)
		snprintf(buf, size, "<%.*f", v->digits, least);
	else
		snprintf(buf, size, "%.*f", v->digits, value);
}

/* The text of a column in one row. r NULL: its header. */
static const char *format_view(const struct text *x, const struct view *v, const struct row *r,
			       char *buf, size_t size)
{
	const struct column *c = &x->t->columns[v->column];
	char title[TITLE_SIZE];

	if (r && r->cells[v->column].type == CELL_TIME) {
		format_time(v, r->cells[v->column].time_ns, buf, size);
		return buf;
	}
	if (r)
		return text__format_cell(&r->cells[v->column], buf, size);
	if (x->units_below || table__column_type(x->t, v->column) != CELL_TIME)
		return text__title(c, x->brief, buf);
	snprintf(buf, size, "%s (%s)", text__title(c, x->brief, title), units[v->unit].name);
	return buf;
}

static bool same_group(const struct column *a, const struct column *b)
{
	return a->group && b->group && strcmp(a->group, b->group) == 0;
}

static bool in_group(const struct text *x, size_t view, const struct column *c)
{
	return view < x->view_cnt && same_group(c, &x->t->columns[x->views[view].column]);
}

/* Where to put a column: a share comes directly after the total time of its group. */
static size_t place_of(const struct text *x, size_t column)
{
	const struct column *c = &x->t->columns[column];
	size_t first = x->view_cnt;

	while (c->type == CELL_PERCENT && first > 0 && in_group(x, first - 1, c))
		first--;
	if (first < x->view_cnt && x->t->columns[x->views[first].column].type == CELL_TIME)
		return first + 1;
	return x->view_cnt;
}

/* Makes a view for each column that is not left out. */
static void make_views(struct text *x)
{
	x->view_cnt = 0;
	for (size_t i = 0; i < x->t->column_cnt; i++) {
		const size_t at = x->left_out[i] ? 0 : place_of(x, i);

		if (x->left_out[i])
			continue;
		memmove(&x->views[at + 1], &x->views[at], (x->view_cnt - at) * sizeof(*x->views));
		x->views[at] = (struct view){.column = i,
					     .name = table__column_type(x->t, i) == CELL_TEXT};
		x->view_cnt++;
	}
}

static int find_range(const struct row *r, void *ctx)
{
	struct text *x = ctx;

	for (size_t i = 0; i < x->view_cnt; i++) {
		struct view *v = &x->views[i];
		const struct cell *c = &r->cells[v->column];

		if (c->type != CELL_TIME || !c->time_ns)
			continue;
		if (c->time_ns > v->longest)
			v->longest = c->time_ns;
		if (!v->shortest || c->time_ns < v->shortest)
			v->shortest = c->time_ns;
	}
	return 0;
}

/* The largest unit in which the longest time is at least 10. */
static enum time_unit unit_for(uint64_t longest)
{
	const double ns = (double)longest;

	return ns >= 10 * 1e9	       ? UNIT_S
	       : ns >= 10 * 1e6 || !ns ? UNIT_MS
	       : ns >= 1e3	       ? UNIT_US
				       : UNIT_NS;
}

/* As many digits as the shortest time needs to show two significant ones. */
static int digits_for(const struct view *v)
{
	int digits = units[v->unit].least;
	double shown = (double)v->shortest / units[v->unit].ns;

	for (int i = 1; i < digits; i++)
		shown *= 10;
	for (; v->shortest && shown < 1 && digits < units[v->unit].most; shown *= 10)
		digits++;
	return digits;
}

/* One unit for columns that stand side by side. Their times may differ a lot, so the unit shows
 * three digits of each column's longest time. */
static enum time_unit shared_unit(const struct view *views, size_t cnt)
{
	uint64_t longest = 0, least = 0;
	enum time_unit coarse, fine;

	for (size_t i = 0; i < cnt; i++) {
		const uint64_t ns = views[i].longest;

		if (ns > longest)
			longest = ns;
		if (ns && (!least || ns < least))
			least = ns;
	}
	coarse = unit_for(longest);
	fine = unit_for(least * 100);
	return fine > coarse ? fine : coarse;
}

static size_t shared_cnt(const struct text *x, size_t first)
{
	size_t i = first + 1;

	while (i < x->view_cnt && x->t->columns[x->views[i].column].same_unit)
		i++;
	return i - first;
}

static void share_units(struct text *x)
{
	for (size_t i = 0, cnt; i < x->view_cnt; i += cnt) {
		cnt = shared_cnt(x, i);
		for (size_t j = 0; j < cnt; j++)
			x->views[i + j].unit = shared_unit(x->views + i, cnt);
	}
}

static void choose_units(struct text *x)
{
	table__each_row(x->t, x->row_limit, find_range, x);
	if (x->style->suits_unit)
		share_units(x);
	for (size_t i = 0; i < x->view_cnt; i++) {
		struct view *v = &x->views[i];

		if (!x->style->suits_unit)
			v->unit = x->style->unit;
		v->digits = x->style->suits_unit ? units[v->unit].digits : digits_for(v);
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
	}
	return 0;
}

static void measure(struct text *x)
{
	char buf[CELL_SIZE];

	make_views(x);
	choose_units(x);
	for (size_t i = 0; i < x->view_cnt; i++)
		x->views[i].need =
			text__columns(format_view(x, &x->views[i], NULL, buf, sizeof(buf)));
	table__each_row(x->t, x->row_limit, measure_row, x);
	for (size_t i = 0; i < x->view_cnt; i++) {
		struct view *v = &x->views[i];
		const struct column *c = &x->t->columns[v->column];

		int most = !i && x->style->name_width ? x->style->name_width : c->max_width;

		if (most && v->need > most)
			v->need = most;
		v->width = v->need > c->min_width ? v->need : c->min_width;
		if (most && v->width > most)
			v->width = most;
	}
}

/* Reduces the padding of columns by at most `over`. */
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

/* The width to which a name is cut before columns are left out. */
static int kept_width(const struct text *x, const struct view *v)
{
	const int keep = x->t->columns[v->column].keep, fifths = x->style->width * 2 / 5;

	if (keep)
		return keep;
	return fifths < NAME_MIN ? NAME_MIN : fifths < NAME_KEEP ? fifths : NAME_KEEP;
}

/* The widest name that may still be cut, to its kept width or to the minimum. */
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

/* Keeps the columns by which rows are sorted or grouped, because rows mean little without them. */
static bool is_kept(const struct text *x, size_t column)
{
	return x->t->sorted == column + 1 || x->t->columns[column].grouped;
}

static int rank_of(const struct text *x, size_t column)
{
	return is_kept(x, column) ? 0 : x->t->columns[column].rank;
}

/* Leaves out the columns with the highest rank. */
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

/* Leaves out the rightmost column, but never the first. */
static void leave_out_last(struct text *x)
{
	for (int kept = 0; kept < 2; kept++)
		for (size_t i = x->view_cnt; i-- > 1;)
			if (is_kept(x, x->views[i].column) == kept) {
				x->left_out[x->views[i].column] = true;
				return;
			}
}

static bool has_brief_titles(const struct table *t)
{
	for (size_t i = 0; i < t->column_cnt; i++)
		if (t->columns[i].brief)
			return true;
	return false;
}

static bool has_times(const struct table *t)
{
	for (size_t i = 0; i < t->column_cnt; i++)
		if (table__column_type(t, i) == CELL_TIME)
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
		if (!x->units_below && has_times(x->t)) {
			x->units_below = true;
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

static void put_rule(const struct text *x)
{
	for (size_t i = 0; i < x->view_cnt; i++) {
		text__put_repeated(x->out, ' ', i ? 2 : 0);
		text__put_repeated(x->out, '-', x->views[i].width);
	}
	fputc('\n', x->out);
}

static bool has_name(const struct text *x, const struct row *r)
{
	return r && x->view_cnt && x->views[0].name && r->cells[x->views[0].column].text &&
	       r->cells[x->views[0].column].type == CELL_TEXT;
}

static int indent_of(const struct text *x, const struct row *r)
{
	const int half = x->views[0].width / 2;

	return 2 * r->indent < half ? 2 * r->indent : half;
}

static int take_name(const struct row *r, void *ctx)
{
	struct text *x = ctx;

	return has_name(x, r) ? cut_names__add(&x->names, r->cells[x->views[0].column].text,
					       x->views[0].width - indent_of(x, r))
			      : 0;
}

static int cut_names(struct text *x)
{
	long left_out = table__each_row(x->t, x->row_limit, take_name, x);

	return left_out < 0 ? (int)left_out : cut_names__cut(&x->names);
}

/* Returns the number of columns that were printed. */
static int put_text(const struct text *x, const struct view *v, const struct row *r,
		    const char *text, int width)
{
	const bool stack = r && x->t->columns[v->column].stack;

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
			text__put_centred(x, x->t->sections[r->section - 1], '-');
	}
	for (size_t i = 0; i < x->view_cnt; i++) {
		const struct view *v = &x->views[i];
		const char *text = format_view(x, v, r, buf, sizeof(buf));
		const int indent = i || !r ? 0 : indent_of(x, r), room = v->width - indent;
		int before = 0;

		if (!i && has_name(x, r))
			text = x->names.items[x->name++].shown;
		if (i && !v->name)
			before = room - text__columns(text);
		pad += indent + (before > 0 ? before : 0);
		if (*text) {
			text__put_repeated(x->out, ' ', pad);
			pad = -put_text(x, v, r, text, room);
		}
		pad += room - (before > 0 ? before : 0) + 2;
	}
	fputc('\n', x->out);
	return 0;
}

/* Prints a line of units under the titles, if the titles have no room for them. */
static void put_units(const struct text *x)
{
	int column = 0, at = 0;

	for (size_t i = 0; i < x->view_cnt; i++) {
		const struct view *v = &x->views[i];
		const bool is_time = table__column_type(x->t, v->column) == CELL_TIME;

		at += v->width;
		if (is_time)
			column += fprintf(x->out, "%*s", at - column, units[v->unit].name);
		at += 2;
	}
	fputc('\n', x->out);
}

static int put_table(struct text *x)
{
	long left_out;
	int err;

	fit(x);
	err = cut_names(x);
	if (err)
		return err;
	text__put_centred(x, x->t->title, '-');
	put_line(NULL, x);
	if (x->units_below)
		put_units(x);
	put_rule(x);
	left_out = table__each_row(x->t, x->row_limit, put_line, x);
	text__put_notes(x, left_out);
	return 0;
}

int table__print_text(const struct table *t, const struct table_style *style, FILE *out)
{
	struct text x = {.t = t,
			 .style = style,
			 .out = out,
			 .row_limit = t->is_short ? t->short_rows : style->row_limit};
	int err = 0;

	x.views = calloc(t->column_cnt + 1, sizeof(*x.views));
	x.left_out = calloc(t->column_cnt + 1, sizeof(*x.left_out));
	if (!x.views || !x.left_out)
		err = -ENOMEM;
	else if (t->list)
		err = text__put_list(&x);
	else if (t->prose)
		err = text__put_paragraphs(&x);
	else
		err = put_table(&x);
	cut_names__free(&x.names);
	free(x.views);
	free(x.left_out);
	return err;
}
