// SPDX-License-Identifier: BSD-2-Clause
/* Texts of a stranger's in a file that a spreadsheet opens. */
#include <criterion/criterion.h>
#include "common/csv_cell.h"
#include "common/util.h"

TestSuite(csv_cell);

static void put(void *ctx, const char *text, size_t len)
{
	fwrite(text, 1, len, ctx);
}

static void expect(const char *text, bool raw, bool comment, const char *want)
{
	auto_free char *got = NULL;
	size_t len;
	FILE *out = open_memstream(&got, &len);

	cr_assert(out);
	(comment ? csv_cell__write_comment : csv_cell__write)(text, raw, put, out);
	fclose(out);
	cr_expect_str_eq(got, want, "%s", text);
}

struct row {
	const char *text, *cell, *raw;
};

Test(csv_cell, what_a_spreadsheet_would_run_gets_an_apostrophe)
{
	static const struct row rows[] = {
		{"=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0", "=cmd|' /C calc'!A0"},
		{"+1+cmd", "'+1+cmd", "+1+cmd"},
		{"-2+3", "'-2+3", "-2+3"},
		{"@SUM(1)", "'@SUM(1)", "@SUM(1)"},
		{"\t=1", "\"'\t'=1\"", "\t=1"},
		{"\r=1", "\"'\r'=1\"", "\"\r=1\""},
		{"\n=1", "\"'\n'=1\"", "\"\n=1\""},
		{"=1,2", "\"'=1,2\"", "\"=1,2\""},
		{"=\"a\"", "\"'=\"\"a\"\"\"", "\"=\"\"a\"\"\""},
		{"a;=1", "\"a;'=1\"", "a;=1"},
		{"a\t@b", "\"a\t'@b\"", "a\t@b"},
		{"\uff1d1", "'\uff1d1", "\uff1d1"},
		{"-", "-", "-"},
		{"-12", "-12", "-12"},
		{"-1.5e-3", "-1.5e-3", "-1.5e-3"},
		{"-1-1", "'-1-1", "-1-1"},
		{"-inf", "'-inf", "-inf"},
		{"aten::add", "aten::add", "aten::add"},
		{"a=b", "a=b", "a=b"},
		{"a,b", "\"a,b\"", "\"a,b\""},
		{"", "", ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		expect(rows[i].text, false, false, rows[i].cell);
		expect(rows[i].text, true, false, rows[i].raw);
	}
}

Test(csv_cell, a_comment_ends_at_commas_for_a_spreadsheet)
{
	expect("of a,=1+1\nand \"b\"", false, true, "of a,'=1+1 and \"\"b\"\"");
	expect("of a,=1+1", true, true, "of a,=1+1");
	expect("a, -2", false, true, "a, -2");
}

/* For formats that have quotation marks around each value. */
Test(csv_cell, quoted_always_and_guarded_all_the_same)
{
	static const struct row rows[] = {
		{"net:weight", "\"net:weight\"", "\"net:weight\""},
		{"=cmd|' /C calc'!A0", "\"'=cmd|' /C calc'!A0\"", "\"=cmd|' /C calc'!A0\""},
		{"a\"b", "\"a\"\"b\"", "\"a\"\"b\""},
		{"", "\"\"", "\"\""},
	};

	for (size_t i = 0; i < 2 * ARRAY_SIZE(rows); i++) {
		const struct row *row = &rows[i / 2];
		const bool raw = i % 2;
		auto_free char *got = NULL;
		size_t len;
		FILE *out = open_memstream(&got, &len);

		cr_assert(out);
		csv_cell__write_quoted(row->text, raw, put, out);
		fclose(out);
		cr_expect_str_eq(got, raw ? row->raw : row->cell, "%s", row->text);
	}
}
