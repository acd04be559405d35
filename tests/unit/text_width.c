// SPDX-License-Identifier: BSD-2-Clause
/* Text of any script in the columns of a terminal. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/render/tables_print.h"
#include "analysis/render/cut_names.h"
#include "analysis/render/text_width.h"
#include "common/util.h"

TestSuite(text_width);

Test(text_width, columns_of_characters)
{
	cr_expect_eq(text__columns("conv1"), 5);
	cr_expect_eq(text__columns("Gr\u00f6\u00dfe"), 5);
	cr_expect_eq(text__columns("\u5377\u79ef"), 4, "East Asian ones have two");
	cr_expect_eq(text__columns("\U0001f600!"), 3, "emoji too");
	cr_expect_eq(text__columns("e\u0301"), 1, "an accent has none of its own");
	cr_expect_eq(text__columns("\xff\xfe"), 2, "what is no UTF-8 has one for each byte");
	cr_expect_eq(text__columns("\xe5\x8d"), 2, "nor has a character that is cut off");
}

Test(text_width, a_character_that_the_end_cuts_is_dropped)
{
	static const char *const cases[][2] = {
		{"conv1", "conv1"},
		{"Gr\u00f6", "Gr\u00f6"},
		{"\u5377\u79ef", "\u5377\u79ef"},
		{"\U0001f600", "\U0001f600"},
		{"Gr\xc3", "Gr"},
		{"\u5377\xe7\xa7", "\u5377"},
		{"\u5377\xe7", "\u5377"},
		{"a\xf0\x9f\x98", "a"},
		{"\xbf\xbf\xbf\xbf", "\xbf\xbf\xbf\xbf"}, /* bytes that are not UTF-8 stay */
		{"\xe7", ""},
		{"", ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[32];

		snprintf(text, sizeof(text), "%s", cases[i][0]);
		text__drop_cut_char(text);
		cr_expect_str_eq(text, cases[i][1], "%s", cases[i][0]);
	}
}

static char *print(int (*put)(FILE *out, const char *text, int width), const char *text, int width,
		   int *cols)
{
	char *printed;
	size_t len;
	FILE *out = open_memstream(&printed, &len);

	*cols = put(out, text, width);
	fclose(out);
	return printed;
}

static char *cut(const char *text, int width, int *cols)
{
	return print(text__put_cut, text, width, cols);
}

Test(text_width, cutting_keeps_the_width)
{
	static const char text[] = "\u5377\u79ef\u5c42\u524d\u5411\u8ba1\u7b97\u7ed3\u679c";

	for (int width = 1; width < 20; width++) {
		int cols;
		auto_free char *printed = cut(text, width, &cols);

		cr_expect_eq(cols, width < 18 ? width : 18);
		cr_expect_eq(text__columns(printed), cols, "%d: '%s'", width, printed);
	}
}

Test(text_width, of_a_stack_the_innermost_stays)
{
	static const char stack[] = "/srv/model.py(12): forward < /srv/train.py(9): step";
	static const struct {
		int width;
		const char *shown;
	} cases[] = {
		{60, stack},
		{40, "/srv/model.py(12): forward < /srv/tra..."},
		{27, "/srv/model.py(12): forward"},
		{26, "/srv/model.py(12): forward"},
		{24, "...model.py(12): forward"},
		{18, "...py(12): forward"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int cols;
		auto_free char *printed = print(text__put_stack, stack, cases[i].width, &cols);

		cr_expect_str_eq(printed, cases[i].shown);
		cr_expect_eq(cols, text__columns(printed));
	}
}

Test(text_width, control_characters_are_not_printed)
{
	int cols;
	auto_free char *printed = cut("a\033[2J\xc2\x85"
				      "b",
				      20, &cols);

	cr_expect_str_eq(printed, "a?[2J?b");
}

/* On a terminal of 8 bits the byte 0x9b begins a sequence, like ESC [. */
Test(text_width, bytes_that_are_no_utf_8_are_not_printed)
{
	int cols;
	auto_free char *printed = cut("a\x9b"
				      "2J\xff",
				      20, &cols);

	cr_expect_str_eq(printed, "a?2J?");
	cr_expect_eq(cols, 5);
}

Test(text_width, characters_that_reorder_or_hide_are_not_printed)
{
	static const char *const formats[] = {
		"\u061c",     "\u200b",	    "\u200e",	  "\u200f",    "\u2028",     "\u202a",
		"\u202e",     "\u2066",	    "\u2069",	  "\u206f",    "\ufeff",     "\ufff9",
		"\U000e0001", "\U000e007f", "\u00ad",	  "\u034f",    "\u180e",     "\U000e0100",
		"\U000e01ef", "\u115f",	    "\u1160",	  "\u17b4",    "\u17b5",     "\u180f",
		"\u3164",     "\uffa0",	    "\ufff0",	  "\ufff8",    "\U0001bca0", "\U0001d17a",
		"\U000e0000", "\U000e0002", "\U000e0080", "\U000e0fff"};

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		char text[16];
		int cols;
		auto_free char *printed = NULL;

		snprintf(text, sizeof(text), "a%sb", formats[i]);
		printed = cut(text, 20, &cols);
		cr_expect_str_eq(printed, "a?b", "%zu", i);
		cr_expect_eq(cols, 3);
		cr_expect_eq(text__columns(text), 3);
	}
}

Test(text_width, what_honest_names_have_is_printed)
{
	/* A heart as an emoji and as a letter, a family, a Mongolian letter's variant. */
	static const char *const names[] = {"\u2764\ufe0f", "\u2764\ufe0e",
					    "\U0001f468\u200d\U0001f467", "\u1820\u180b",
					    "\u0645\u06cc\u200c\u062e"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		int cols;
		auto_free char *printed = cut(names[i], 20, &cols);

		cr_expect_str_eq(printed, names[i], "%zu", i);
	}
}

Test(text_width, a_message_keeps_its_lines)
{
	auto_free char *printed = NULL;
	size_t size;
	FILE *out = open_memstream(&printed, &size);

	text__put_lines(out, "process 7 (\033]0;\ax\u202e): gone;\n\ttry \u00e9\n");
	fclose(out);
	cr_expect_str_eq(printed, "process 7 (?]0;?x?): gone;\n\ttry \u00e9\n");
}

Test(text_width, a_line_has_no_line_breaks)
{
	auto_free char *printed = NULL;
	size_t size;
	FILE *out = open_memstream(&printed, &size);

	text__put_line(out, "a\nproftrace: b\r\tc");
	fclose(out);
	cr_expect_str_eq(printed, "a?proftrace: b??c");
}

Test(text_width, rows_for_a_terminal_keep_the_ends_of_lines)
{
	char text[] = "name,\033]0;x\a\u202e\r\n\rb\t\0\u00e9\n.";
	const size_t len = text__clean(text, sizeof(text) - 2);

	text[len] = '\0';
	cr_expect_str_eq(text, "name,?]0;x??\r\n?b\t?\u00e9\n");
}

Test(text_width, characters_that_join_are_text)
{
	int cols;
	auto_free char *printed = cut("a\u200d\u200cb", 20, &cols);

	cr_expect_str_eq(printed, "a\u200d\u200cb");
	cr_expect_eq(cols, 2);
}

Test(text_width, json_and_csv_have_names_as_they_are)
{
	static const char name[] = "a\u202eb";
	const struct column column = {"name", "Name", 0, NULL, CELL_TEXT};
	const struct cell cell = {.type = CELL_TEXT, .text = name};

	for (enum table_format format = TABLE_TEXT; format <= TABLE_CSV; format++) {
		const struct table_style style = {.format = format};
		struct table *t = table__new("t", "T");
		auto_free char *text = NULL;
		size_t len;
		FILE *out = open_memstream(&text, &len);

		cr_assert_eq(table__add_column(t, &column), 0);
		cr_assert_eq(table__add_row(t, 0, &cell), 0);
		cr_assert_eq(tables__print(&t, 1, &style, out), 0);
		fclose(out);
		cr_expect_eq(strstr(text, name) == NULL, format == TABLE_TEXT, "%s", text);
		table__free(t);
	}
}

Test(text_width, columns_of_a_table_stay_in_line)
{
	const struct column columns[] = {{"name", "Name", 0, NULL, CELL_TEXT},
					 {"calls", "Calls", 0, NULL, CELL_COUNT}};
	static const char *const names[] = {"\u6570\u636e\u52a0\u8f7d", "load \U0001f680", "plain"};
	const struct table_style style = {.format = TABLE_TEXT};
	struct table *t = table__new("t", "T");
	char *printed;
	size_t len;
	FILE *out = open_memstream(&printed, &len);

	table__add_columns(t, columns, 2);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		table__add_row(t, 0,
			       (struct cell[]){{.type = CELL_TEXT, .text = names[i]},
					       {.type = CELL_COUNT, .count = 7}});
	cr_assert_eq(tables__print(&t, 1, &style, out), 0);
	fclose(out);
	cr_expect_not_null(strstr(printed, "\n\u6570\u636e\u52a0\u8f7d      7\n"), "%s", printed);
	cr_expect_not_null(strstr(printed, "\nload \U0001f680       7\n"), "%s", printed);
	cr_expect_not_null(strstr(printed, "\nplain         7\n"), "%s", printed);
	free(printed);
	table__free(t);
}

/* Text that repeats itself looks alike wherever it is cut. */
Test(text_width, different_names_are_never_cut_to_one)
{
	enum { NAMES = 24, WIDTH = 40 };
	static char text[NAMES][4100];
	struct cut_names names = {0};

	for (size_t i = 0; i < NAMES; i++) {
		const size_t len = i < 4 ? 38 + i : 100 + 170 * i;

		for (size_t at = 0; at < len; at++)
			text[i][at] = "layer/"[at % 6];
		text[i][len] = i % 2 ? 'f' : 's';
		cr_assert_eq(cut_names__add(&names, text[i], WIDTH), 0);
	}
	cr_assert_eq(cut_names__add(&names, text[9], WIDTH), 0);
	cr_assert_eq(cut_names__cut(&names), 0);
	for (size_t i = 0; i < NAMES; i++) {
		cr_expect_leq(text__columns(names.items[i].shown), WIDTH);
		for (size_t j = 0; j < i; j++)
			cr_expect_str_neq(names.items[i].shown, names.items[j].shown);
	}
	cr_expect_str_eq(names.items[9].shown, names.items[NAMES].shown, "the same name");
	cut_names__free(&names);
}
