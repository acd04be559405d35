// SPDX-License-Identifier: BSD-2-Clause
/* The column that rows are sorted by is there, however narrow the terminal. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/order.h"
#include "model_synth.h"

TestSuite(report_order);

static char *report_of(const struct recording *r, const struct report_opts *opts)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	cr_assert_eq(report__print(r, opts, out), 0);
	fclose(out);
	return text;
}

/* Returns "GPU Max" as in the note on columns left out. */
static void title_of(const struct recording *r, const char *table, const char *key, char *title,
		     size_t size)
{
	const struct report_opts opts = {.tables = table, .style = {.format = TABLE_GRID}};
	char *text = report_of(r, &opts);
	json_t *grid = json_loads(text, 0, NULL), *one, *column;
	size_t i, k;

	title[0] = '\0';
	json_array_foreach(grid, i, one)
	{
		if (strcmp(json_string_value(json_object_get(one, "key")), table) != 0 ||
		    !json_array_size(json_object_get(one, "rows")))
			continue;
		json_array_foreach(json_object_get(one, "columns"), k, column)
		{
			const char *name = json_string_value(json_object_get(column, "key"));
			const char *group = json_string_value(json_object_get(column, "group"));

			if (strncmp(name, key, strlen(key)) == 0 &&
			    (!name[strlen(key)] || !strcmp(name + strlen(key), "_ns") ||
			     !strcmp(name + strlen(key), "_bytes")))
				snprintf(title, size, "%s%s%s", group ? group : "",
					 group ? " " : "",
					 json_string_value(json_object_get(column, "title")));
		}
	}
	json_decref(grid);
	free(text);
}

/* Was the line broken here, the next word not fitting? */
static bool is_broken(const char *line, const char *end, int width)
{
	return *end && (int)(end - line) + 1 + (int)strcspn(end + 1, " \n") > width;
}

/* Returns the list in the note on columns left out, such as " GPU Max, GPU Min,". Empty if there is
 * no note. */
static void left_out(const struct recording *r, const char *table, const char *word, int width,
		     char *list, size_t size)
{
	static const char head[] = "left out, the terminal is too narrow:";
	const struct report_opts opts = {
		.tables = table,
		.sort_word = word,
		.style = {.width = width, .unit = UNIT_US, .row_limit = 3}};
	char *text = report_of(r, &opts), *note = strstr(text, head), *end = note;
	const char *line = note;

	list[0] = '\0';
	for (; note && (end = strchr(line, '\n')) && is_broken(line, end, width); line = end + 1)
		*end = ' ';
	if (note)
		snprintf(list, size, "%.*s,", (int)(end - note) - (int)strlen(head),
			 note + strlen(head));
	free(text);
}

static void expect_shown(const struct recording *r, const char *table, const struct order_word *w)
{
	char title[64], list[2048], item[70];

	title_of(r, table, w->column, title, sizeof(title));
	if (!*title)
		return; /* nothing of the kind was recorded */
	snprintf(item, sizeof(item), " %s,", title);
	for (int width = 120; width >= 40; width -= 10) {
		left_out(r, table, w->word, width, list, sizeof(list));
		cr_expect_null(strstr(list, item), "%s by %s at %d columns leaves out%s", table,
			       w->word, width, list);
	}
}

Test(report_order, the_column_of_each_order_is_shown)
{
	static const char *const recordings[] = {"tests/golden/simgpu.ptrec",
						 "tests/golden/cpu.ptrec"};
	size_t cnt, words = 0;
	const struct table_def *defs = report__tables(&cnt);

	for (size_t i = 0; i < 2; i++) {
		struct recording *r;

		cr_assert_eq(recording__open(recordings[i], &r), 0);
		for (size_t k = 0; k < cnt; k++)
			for (const struct order_word *w = defs[k].words; w && w->word; w++) {
				if (w->column)
					expect_shown(r, defs[k].key, w);
				words++;
			}
		recording__close(r);
	}
	cr_expect_gt(words, 100);
}

/* Every column that an order names is one of the table's. */
Test(report_order, the_column_of_each_order_is_known)
{
	struct recording *r;
	size_t cnt;
	const struct table_def *defs = report__tables(&cnt);

	cr_assert_eq(recording__open("tests/golden/simgpu.ptrec", &r), 0);
	for (size_t k = 0; k < cnt; k++)
		for (const struct order_word *w = defs[k].words; w && w->word; w++) {
			char title[64];

			if (!w->column)
				continue;
			title_of(r, defs[k].key, w->column, title, sizeof(title));
			/* It has no shapes, and no collective of the host. */
			cr_expect(*title || !strcmp(w->word, "flops") || defs[k].words == order_cpu,
				  "%s by %s: no column %s", defs[k].key, w->word, w->column);
		}
	recording__close(r);
}
