// SPDX-License-Identifier: BSD-2-Clause
/* The same table as text, JSON and CSV. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/render/cut_names.h"
#include "analysis/render/tables_print.h"
#include "analysis/render/text_width.h"
#include "model_synth.h"

TestSuite(table_render);

static struct table *sample(void)
{
	static const struct column columns[] = {
		{"name", "Name", 10, NULL, CELL_TEXT},
		{"calls", "Calls", 0, NULL, CELL_COUNT},
		{"cpu_total", "Total", 0, "CPU", CELL_TIME},
		{"cpu_ratio", "Ratio(%)", 0, "CPU", CELL_PERCENT},
	};
	struct table *t = table__new("ops", "Operators");
	const struct cell rows[][4] = {
		{{CELL_TEXT, {.text = "a,\"b\""}},
		 {CELL_COUNT, {.count = 3}},
		 {CELL_TIME, {.time_ns = 1234567}},
		 {CELL_PERCENT, {.number = 75}}},
		{{CELL_TEXT, {.text = "at::native::vectorized_elementwise_kernel"}},
		 {CELL_COUNT, {.count = 1}},
		 {CELL_NONE, {.text = "not measured"}},
		 {CELL_PERCENT, {.number = 25}}},
		{{CELL_TEXT, {.text = "\033[2Jh\xc3\xb6her\xff"}},
		 {CELL_COUNT, {.count = 1}},
		 {CELL_TIME, {.time_ns = 0}},
		 {CELL_PERCENT, {.number = 0}}},
	};

	for (size_t i = 0; i < 4; i++)
		cr_assert_eq(table__add_column(t, &columns[i]), 0);
	cr_assert_eq(table__add_section(t, "All"), 0);
	cr_assert_eq(table__add_row(t, 0, rows[0]), 0);
	cr_assert_eq(table__add_row(t, 1, rows[1]), 0);
	cr_assert_eq(table__add_row(t, 0, rows[2]), 0);
	cr_assert_eq(table__add_note(t, "a note that says several things"), 0);
	return t;
}

static char *print(const struct table_style *style)
{
	struct table *t = sample();
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	cr_assert_eq(tables__print(&t, 1, style, out), 0);
	fclose(out);
	table__free(t);
	return text;
}

Test(table_render, text)
{
	const struct table_style style = {.unit = UNIT_MS};

	synth__expect(
		print(&style),
		"-----------------------------------Operators------------------------------------\n"
		"Name                                         Calls  CPU Total (ms)  CPU Ratio(%)\n"
		"-------------------------------------------  -----  --------------  ------------\n"
		"--------------------------------------All---------------------------------------\n"
		"a,\"b\"                                            3            1.23         "
		"75.00\n"
		"  at::native::vectorized_elementwise_kernel      1               -         25.00\n"
		"?[2Jh\xc3\xb6her?                                       1            0.00         "
		" 0.00\n"
		"a note that says several things\n");
}

/* Compares with the blanks. */
static void expect_exact(const char *text, const char *line)
{
	char *want;

	cr_assert_geq(asprintf(&want, "\n%s\n", line), 0);
	cr_expect_not_null(strstr(text, want), "no '%s' in:\n%s", line, text);
	free(want);
}

/* Expects columns of these times, one row below the other. */
static void expect_columns(const struct table_style *style, const uint64_t ns[2][3], bool same_unit,
			   const char *const lines[3])
{
	static const char *const titles[] = {"A", "B", "C"};
	struct table *t = table__new("times", "Times");
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (size_t i = 0; i < 3; i++) {
		const struct column c = {.key = titles[i],
					 .title = titles[i],
					 .type = CELL_TIME,
					 .same_unit = same_unit};

		cr_assert_eq(table__add_column(t, &c), 0);
	}
	for (size_t row = 0; row < 2; row++) {
		struct cell cells[3];

		for (size_t i = 0; i < 3; i++)
			cells[i] = (struct cell){CELL_TIME, {.time_ns = ns[row][i]}};
		cr_assert_eq(table__add_row(t, 0, cells), 0);
	}
	cr_assert_eq(tables__print(&t, 1, style, out), 0);
	fclose(out);
	table__free(t);
	for (size_t i = 0; i < 3; i++)
		expect_exact(text, lines[i]);
	free(text);
}

static void expect_times(const struct table_style *style, const uint64_t ns[2][3],
			 const char *const lines[3])
{
	expect_columns(style, ns, false, lines);
}

Test(table_render, columns_side_by_side_share_a_unit)
{
	const struct table_style style = {.suits_unit = true};
	static const uint64_t near[2][3] = {{8753720, 11006290, 6501150}, {673650, 708020, 639280}};
	static const uint64_t far[2][3] = {{8753720, 11006290, 90000}, {673650, 0, 639}};
	static const uint64_t none[2][3] = {{0, 11006290, 0}, {0, 0, 0}};

	expect_columns(&style, near, true,
		       (const char *const[]){"A (ms)  B (ms)  C (ms)", "8.754   11.006   6.501",
					     "0.674    0.708   0.639"});
	expect_columns(&style, far, true,
		       (const char *const[]){"A (us)     B (us)  C (us)",
					     "8753.72  11006.29   90.00",
					     "673.65       0.00    0.64"});
	expect_columns(&style, none, true,
		       (const char *const[]){"A (ms)  B (ms)  C (ms)", "0.000   11.006   0.000",
					     "0.000    0.000   0.000"});
}

Test(table_render, a_unit_suits_its_column)
{
	static const uint64_t ns[2][3] = {{12345678, 9999999, 400}, {400, 1234, 0}};
	static const uint64_t long_ns[2][3] = {{12345678901, 999, 1000}, {499999, 0, 1}};

	expect_times(&(struct table_style){.suits_unit = true}, ns,
		     (const char *const[]){"A (ms)    B (us)  C (ns)", "12.346  10000.00     400",
					   "<0.001      1.23       0"});
	expect_times(&(struct table_style){.suits_unit = true}, long_ns,
		     (const char *const[]){"A (s)   B (ns)  C (us)", "12.346     999    1.00",
					   "<0.001       0   <0.01"});
}

Test(table_render, a_unit_that_was_chosen_has_the_digits_that_the_column_needs)
{
	static const uint64_t ns[2][3] = {{12345678, 9999999, 400}, {456000, 1234, 0}};

	expect_times(&(struct table_style){.unit = UNIT_MS}, ns,
		     (const char *const[]){"A (ms)   B (ms)   C (ms)", "12.35   10.0000  0.00040",
					   "0.46     0.0012  0.00000"});
	expect_times(&(struct table_style){.unit = UNIT_S}, ns,
		     (const char *const[]){"A (s)        B (s)       C (s)",
					   "0.01235  0.0100000  0.00000040",
					   "0.00046  0.0000012  0.00000000"});
	expect_times(&(struct table_style){.unit = UNIT_US}, ns,
		     (const char *const[]){"A (us)      B (us)  C (us)",
					   "12345.68  10000.00    0.40",
					   "456.00        1.23    0.00"});
	expect_times(&(struct table_style){.unit = UNIT_NS}, ns,
		     (const char *const[]){"A (ns)     B (ns)  C (ns)", "12345678  9999999     400",
					   "456000       1234       0"});
}

Test(table_render, units_go_below_the_titles_before_columns_are_left_out)
{
	static const uint64_t ns[2][3] = {{12345678, 9999999, 400}, {400, 1234, 0}};

	expect_times(&(struct table_style){.suits_unit = true, .width = 22}, ns,
		     (const char *const[]){"A              B    C", "    ms        us   ns",
					   "12.346  10000.00  400"});
}

static int widest(const char *text)
{
	int widest = 0;

	while (*text) {
		int len = (int)strcspn(text, "\n"), columns = 0;

		for (int i = 0; i < len; i++)
			columns += ((unsigned char)text[i] & 0xc0) != 0x80;
		widest = columns > widest ? columns : widest;
		text += len + (text[len] == '\n');
	}
	return widest;
}

Test(table_render, text_fits_any_width)
{
	for (int width = 10; width < 100; width++) {
		const struct table_style style = {.unit = UNIT_MS, .width = width};
		char *text = print(&style);

		/* Below 20 not even the headings of the narrowest form fit. */
		cr_expect_leq(widest(text), width < 20 ? 20 : width, "width %d:\n%s", width, text);
		free(text);
	}
}

Test(table_render, names_are_cut_before_columns)
{
	const struct table_style style = {.unit = UNIT_US, .width = 50};
	char *text = print(&style);

	expect_exact(text, "  at::...se_kernel      1          -         25.00");
	expect_exact(text, "a,\"b\"                   3    1234.57         75.00");
	free(text);
}

Test(table_render, columns_that_do_not_fit_are_said)
{
	const struct table_style style = {.unit = UNIT_MS, .width = 30};
	char *text = print(&style);

	synth__expect_line(text, "Name                     Calls");
	cr_expect_not_null(strstr(text, "narrow: CPU Total"), "%s", text);
	free(text);
}

Test(table_render, a_row_limit_says_what_it_left_out)
{
	const struct table_style style = {.unit = UNIT_MS, .row_limit = 1};
	char *text = print(&style);

	cr_expect_not_null(strstr(text, "vectorized"), "details of a kept row are kept");
	cr_expect_null(strstr(text, "her"));
	synth__expect_line(text, "1 more row left out (--row-limit 0 prints all)");
	free(text);
}

Test(table_render, csv_is_rfc_4180)
{
	const struct table_style style = {.format = TABLE_CSV};

	synth__expect(print(&style), "# Operators\r\n"
				     "name,calls,cpu_total_ns,cpu_ratio_percent,depth,section\r\n"
				     "\"a,\"\"b\"\"\",3,1234567,75,0,All\r\n"
				     "at::native::vectorized_elementwise_kernel,1,,25,1,All\r\n"
				     "\033[2Jh\xc3\xb6her\xff,1,0,0,0,All\r\n"
				     "# a note that says several things\r\n");
}

Test(table_render, csv_of_one_table_alone_is_its_rows)
{
	const struct table_style style = {.format = TABLE_CSV, .alone = true, .row_limit = 1};

	synth__expect(print(&style), "name,calls,cpu_total_ns,cpu_ratio_percent,depth,section\r\n"
				     "\"a,\"\"b\"\"\",3,1234567,75,0,All\r\n"
				     "at::native::vectorized_elementwise_kernel,1,,25,1,All\r\n");
}

Test(table_render, a_comment_of_csv_opens_no_field)
{
	const struct table_style style = {.format = TABLE_CSV};
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	csv__put_comment("a,b\nc", &style, out);
	csv__put_comment("a,\"b\" c", &style, out);
	fclose(out);
	synth__expect(text, "# a,b c\r\n\"# a,\"\"b\"\" c\"\r\n");
}

Test(table_render, json)
{
	const struct table_style style = {.format = TABLE_JSON, .row_limit = 1};
	char *text = print(&style);
	json_error_t error;
	json_t *got = json_loads(text, 0, &error);
	json_t *want = json_loads(
		"{\"schema_version\": 1, \"ops\": {\"title\": \"Operators\", \"left_out\": 1,"
		" \"notes\": [\"a note that says several things\"], \"rows\": ["
		"{\"section\": \"All\", \"depth\": 0, \"name\": \"a,\\\"b\\\"\", \"calls\": 3,"
		" \"cpu_total_ns\": 1234567, \"cpu_ratio_percent\": 75.0},"
		"{\"section\": \"All\", \"depth\": 1,"
		" \"name\": \"at::native::vectorized_elementwise_kernel\", \"calls\": 1,"
		" \"cpu_total_ns\": null, \"cpu_ratio_percent\": 25.0,"
		" \"why\": {\"cpu_total_ns\": \"not measured\"}}]}}",
		0, NULL);

	cr_assert_not_null(got, "%s\n%s", error.text, text);
	cr_expect(json_equal(got, want), "%s", text);
	json_decref(got);
	json_decref(want);
	free(text);
}

Test(table_render, values_of_a_list_take_the_lines_they_need)
{
	static const struct column columns[] = {
		{"command", "command", 0, NULL, CELL_TEXT},
		{"time", "time", 0, NULL, CELL_TIME},
	};
	const struct cell cells[] = {
		{CELL_TEXT, {.text = "python /a/path/without/a/blank/train.py --model cnn"}},
		{CELL_TIME, {.time_ns = 1500000}},
	};
	const struct table_style style = {.unit = UNIT_MS, .width = 20};
	struct table *t = table__new("list", "List");
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	table__set_list(t);
	for (size_t i = 0; i < 2; i++)
		cr_assert_eq(table__add_column(t, &columns[i]), 0);
	cr_assert_eq(table__add_row(t, 0, cells), 0);
	cr_assert_eq(tables__print(&t, 1, &style, out), 0);
	fclose(out);
	table__free(t);
	synth__expect(text, "command: python\n"
			    "  /a/path/without/a/\n"
			    "  blank/train.py\n"
			    "  --model cnn\n"
			    "time: 1.500 ms\n");
}

static char *cut(const char *name, int width)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	text__put_cut(out, name, width);
	fclose(out);
	return text;
}

Test(table_render, what_tells_least_of_a_name_is_cut_first)
{
	static const char kernel[] =
		"void at::native::(anonymous namespace)::apply<4, at::Fill<float>, "
		"std::array<char*, 1ul> >(int, at::Fill<float>)";

	synth__expect(cut("autograd::engine::evaluate_function: AddmmBackward0", 30),
		      "autograd:...on: AddmmBackward0");
	synth__expect(cut("Memcpy HtoD (Pageable -> Device)", 32),
		      "Memcpy HtoD (Pageable -> Device)");
	synth__expect(cut("Memcpy HtoD (Pageable -> Device)", 24), "Memcpy HtoD (Pageable...");
	synth__expect(cut(kernel, 93),
		      "at::native::(anonymous namespace)::apply<4, at::Fill<float>, "
		      "std::array<char*, 1ul> >");
	synth__expect(cut(kernel, 48), "apply<4, Fill<float>, array<char*, 1ul> >");
	synth__expect(cut(kernel, 24), "apply<4, Fill<float>,...");
	synth__expect(cut("void f<g<int>::operator()(int)::{lambda(int)#1}>(a)", 20),
		      "f<g<int>::operato...");
	synth__expect(cut("void vectorized_elementwise_kernel<4>(int)", 16), "vect...se_kernel");
}

Test(table_render, columns_are_left_out_by_rank)
{
	static const struct column columns[] = {
		{.key = "name", .title = "Name", .type = CELL_TEXT},
		{.key = "total", .title = "Total", .group = "GPU", .type = CELL_COUNT},
		{.key = "max", .title = "Max", .group = "GPU", .type = CELL_COUNT, .rank = 2},
		{.key = "ratio", .title = "Ratio", .group = "GPU", .type = CELL_COUNT},
		{.key = "size",
		 .title = "Shared Memory",
		 .brief = "Shared",
		 .type = CELL_COUNT,
		 .rank = 1},
	};
	const struct cell cells[] = {{CELL_TEXT, {.text = "a_kernel_with_a_name"}},
				     {CELL_COUNT, {.count = 1}},
				     {CELL_COUNT, {.count = 2}},
				     {CELL_COUNT, {.count = 3}},
				     {CELL_COUNT, {.count = 4}}};
	struct table *t = table__new("t", "T");

	for (size_t i = 0; i < 5; i++)
		cr_assert_eq(table__add_column(t, &columns[i]), 0);
	cr_assert_eq(table__add_row(t, 0, cells), 0);
	for (int width = 50; width >= 40; width -= 10) {
		const struct table_style style = {.width = width};
		char *text;
		size_t len;
		FILE *out = open_memstream(&text, &len);

		cr_assert_eq(tables__print(&t, 1, &style, out), 0);
		fclose(out);
		synth__expect_line(
			text, width == 50 ? "Name                  GPU Total  GPU Ratio  Shared"
					  : "Name                GPU Total  GPU Ratio");
		cr_expect_not_null(strstr(text, width == 50 ? "narrow: GPU Max\n"
							    : "narrow:\nGPU Max, Shared Memory\n"),
				   "%s", text);
		free(text);
	}
	table__free(t);
}

Test(table_render, the_column_that_rows_are_sorted_by_is_left_out_last)
{
	static const struct column columns[] = {
		{.key = "name", .title = "Name", .type = CELL_TEXT},
		{.key = "total", .title = "Total", .group = "GPU", .type = CELL_COUNT},
		{.key = "max", .title = "Max", .group = "GPU", .type = CELL_COUNT, .rank = 2},
		{.key = "min", .title = "Min", .group = "GPU", .type = CELL_COUNT, .rank = 2},
		{.key = "calls", .title = "Calls", .type = CELL_COUNT, .rank = 1},
	};
	static const struct {
		int width;
		const char *head;
	} lines[] = {
		{60, "Name                  GPU Total  GPU Max  GPU Min  Calls"},
		{49, "Name                  GPU Total  GPU Max  Calls"},
		{40, "Name                  GPU Total  GPU Max"},
		{30, "Name                  GPU Max"},
		{25, "Name              GPU Max"},
		{24, "Name"},
	};
	const struct cell cells[] = {{CELL_TEXT, {.text = "a_kernel_with_a_name"}},
				     {CELL_COUNT, {.count = 1}},
				     {CELL_COUNT, {.count = 2}},
				     {CELL_COUNT, {.count = 3}},
				     {CELL_COUNT, {.count = 4}}};
	struct table *t = table__new("t", "T");

	for (size_t i = 0; i < 5; i++)
		cr_assert_eq(table__add_column(t, &columns[i]), 0);
	table__set_sorted(t, "max");
	cr_assert_eq(table__add_row(t, 0, cells), 0);
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		const struct table_style style = {.width = lines[i].width};
		char *text;
		size_t len;
		FILE *out = open_memstream(&text, &len);

		cr_assert_eq(tables__print(&t, 1, &style, out), 0);
		fclose(out);
		synth__expect_line(text, lines[i].head);
		free(text);
	}
	table__free(t);
}

/* Expects the names as a table of this width shows them, one per line. */
static void expect_names(const char *const *names, size_t cnt, int width, const char *want)
{
	struct cut_names n = {0};
	char *got;
	size_t len;
	FILE *out = open_memstream(&got, &len);

	for (size_t i = 0; i < cnt; i++)
		cr_assert_eq(cut_names__add(&n, names[i], width), 0);
	cr_assert_eq(cut_names__cut(&n), 0);
	for (size_t i = 0; i < cnt; i++) {
		cr_expect_leq(text__columns(n.items[i].shown), width);
		fprintf(out, "%s\n", n.items[i].shown);
	}
	fclose(out);
	cut_names__free(&n);
	synth__expect(got, want);
}

Test(table_render, different_names_are_cut_differently)
{
	static const char *const kernels[] = {
		"void at::native::apply_kernel<at::native::Metadata<2>, at::native::Plus<float>>"
		"(int)",
		"void at::native::apply_kernel<at::native::Metadata<2>, at::native::Times<float>>"
		"(int)",
		"void at::native::apply_kernel<at::native::Metadata<3>, at::native::Plus<float>>"
		"(int)",
		"gemm_nn",
		"void at::native::apply_kernel<at::native::Metadata<2>, at::native::Plus<float>>"
		"(int)",
	};
	static const char *const overloads[] = {
		"void copy_kernel<float>(long, float const*)",
		"void copy_kernel<float>(long, double const*)",
	};
	static const char *const middles[] = {
		"autograd::engine::evaluate_function: AddmmBackward0",
		"autograd::engine::evaluate_functiom: AddmmBackward0",
	};

	expect_names(kernels, 5, 28,
		     "apply_kernel<...>, Plus<f...\n"
		     "apply_kernel<...>, Times<...\n"
		     "apply_kernel<Metadata<3>,...\n"
		     "gemm_nn\n"
		     "apply_kernel<...>, Plus<f...\n");
	expect_names(kernels, 5, 60,
		     "apply_kernel<Metadata<2>, Plus<float>>\n"
		     "apply_kernel<Metadata<2>, Times<float>>\n"
		     "apply_kernel<Metadata<3>, Plus<float>>\n"
		     "gemm_nn\n"
		     "apply_kernel<Metadata<2>, Plus<float>>\n");
	expect_names(overloads, 2, 40,
		     "void copy_kernel<...(long, float const*)\n"
		     "void copy_kernel<...long, double const*)\n");
	expect_names(middles, 2, 30,
		     "autograd:...on: AddmmBackward0\n"
		     "autograd:...om: AddmmBackward0\n");
}
