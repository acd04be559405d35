// SPDX-License-Identifier: BSD-2-Clause
/* Estimated rows (~): functions that had no probe in the window, in the order of the recorded ones.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include "common/util.h"
#include "model_synth.h"

TestSuite(report_estimates);

#define US	  1000ull
#define OPTS(...) ((struct report_opts){.style.unit = UNIT_US, __VA_ARGS__})

/* Reports on a step in which these had no probe. */
static char *report_without(const char *dropped, const struct report_opts *opts)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");
	char summary[512], *text;

	synth__span(&s, s.main, CAT_OPERATOR, "aten::mm", 20 * US, 60 * US);
	synth__step(&s, 0, 0, 100 * US);
	snprintf(summary, sizeof(summary), "{\"dropped_probes\": [%s]}", dropped);
	synth__open(&s, summary);
	text = synth__report(&s, opts);
	synth__free(&s);
	return text;
}

static void expect_left_out(const char *dropped, bool is_there)
{
	char *text = report_without(dropped, &OPTS(.tables = "operator"));

	cr_expect_eq(!!strstr(text, "~: estimated"), is_there, "%s", text);
	cr_expect_null(strstr(text, "torch.ops"), "%s", text);
	cr_expect_eq(!!strstr(text, "aten::add_"), is_there, "%s", text);
	free(text);
}

Test(report_estimates, what_was_hardly_called_is_not_missed)
{
	static const char never[] = "{\"name\": \"torch.ops\", \"calls_per_step\": 0.25,"
				    " \"avg_ns\": 9000.0, \"steps\": 4}";
	static const char often[] = "{\"name\": \"aten::add_\", \"calls_per_step\": 2.0,"
				    " \"avg_ns\": 9000.0, \"steps\": 4}";
	char both[400];

	snprintf(both, sizeof(both), "%s, %s", never, often);
	expect_left_out(never, false);
	expect_left_out(both, true);
}

static void expect_first_left_out(const char *sorted_by, const char *first, const char *second)
{
	char *text = report_without(
		"{\"name\": \"often\", \"calls_per_step\": 9.0, \"avg_ns\": 100.0, \"steps\": 4},"
		" {\"name\": \"long\", \"calls_per_step\": 2.0, \"avg_ns\": 9000.0, \"steps\": 4}",
		&OPTS(.tables = "operator", .sort_word = sorted_by));

	cr_expect(strstr(text, first) < strstr(text, second), "%s: %s", sorted_by, text);
	free(text);
}

Test(report_estimates, what_was_left_out_is_sorted_like_the_rest)
{
	expect_first_left_out(NULL, "\n~long", "\n~often");
	expect_first_left_out("calls", "\n~often", "\n~long");
	expect_first_left_out("cpu_avg", "\n~long", "\n~often");
}

Test(report_estimates, functions_of_one_operator_that_were_left_out_are_one_row)
{
	struct report_opts opts = {.tables = "operator", .style = {.format = TABLE_CSV}};
	char *text = report_without(
		"{\"name\": \"aten::item\", \"calls_per_step\": 16.0, \"avg_ns\": 3000.0,"
		" \"steps\": 3}, {\"name\": \"aten::item\", \"calls_per_step\": 3.0,"
		" \"avg_ns\": 1000.0, \"steps\": 3}",
		&opts);
	const char *first = strstr(text, "aten::item,19,51000,");

	cr_assert_not_null(first, "%s", text);
	cr_expect_null(strstr(first + 1, "aten::item"), "%s", text);
	free(text);
}

/* The recording has the window's steps, whatever they contain. */
Test(report_estimates, what_was_measured_by_time_is_the_windows)
{
	struct report_opts opts = {.tables = "operator", .style = {.format = TABLE_CSV}};
	char *text = report_without("{\"name\": \"aten::mul\", \"calls\": 10.0, \"avg_ns\": 2000.0,"
				    " \"inner_calls\": 8.0, \"inner_avg_ns\": 1000.0,"
				    " \"measured_ns\": 69000000}",
				    &opts);

	cr_expect_not_null(strstr(text, "aten::mul,2,12000,"), "%s", text);
	free(text);
	opts.style.format = TABLE_TEXT;
	text = report_without("{\"name\": \"aten::mul\", \"calls\": 10.0, \"avg_ns\": 2000.0,"
			      " \"measured_ns\": 69000000}",
			      &opts);
	cr_expect_not_null(
		strstr(text,
		       "estimated from the 69 ms before the window, by the job's pace then; "),
		"%s", text);
	free(text);
}

/* Of ten calls in a step, eight are hooks in backward nodes, whose time includes them. */
Test(report_estimates, calls_that_have_no_row_are_not_estimated_either)
{
	struct report_opts opts = {.tables = "operator", .style = {.format = TABLE_CSV}};
	char *text = report_without(
		"{\"name\": \"aten::mul\", \"calls_per_step\": 10.0, \"avg_ns\": 2000.0,"
		" \"inner_calls_per_step\": 8.0, \"inner_avg_ns\": 1000.0, \"steps\": 3},"
		" {\"name\": \"aten::abs\", \"calls_per_step\": 4.0, \"avg_ns\": 2000.0,"
		" \"inner_calls_per_step\": 4.0, \"inner_avg_ns\": 2000.0, \"steps\": 3}",
		&opts);

	cr_expect_not_null(strstr(text, "aten::mul,2,12000,"), "%s", text);
	cr_expect_null(strstr(text, "aten::abs"), "%s", text);
	free(text);
}

Test(report_estimates, the_overview_has_the_operators_that_were_recorded)
{
	static const char note[] = "Operator: those that were recorded;";
	const struct report_opts opts = OPTS(.tables = "overview");
	char *some = report_without("{\"name\": \"aten::add_\", \"calls_per_step\": 4.0,"
				    " \"avg_ns\": 5000.0, \"steps\": 3}",
				    &opts);
	char *all = report_without("", &opts);

	cr_expect_not_null(strstr(some, note), "%s", some);
	cr_expect_null(strstr(all, note), "%s", all);
	free(some);
	free(all);
}

/* mm takes 40 us, one estimated operator more, one less. */
#define LONG_AND_SHORT                                                                             \
	"{\"name\": \"short\", \"calls_per_step\": 10.0, \"avg_ns\": 1000.0, \"steps\": 4},"       \
	"{\"name\": \"long\", \"calls_per_step\": 5.0, \"avg_ns\": 10000.0, \"steps\": 4}"

Test(report_estimates, recorded_and_estimated_rows_have_one_order_and_one_base)
{
	char *text = report_without(LONG_AND_SHORT, &OPTS(.tables = "operator"));
	const char *first = strstr(text, "~long "), *second = strstr(text, "aten::mm "),
		   *third = strstr(text, "~short ");

	cr_assert(first && second && third && first < second && second < third, "%s", text);
	synth__expect_line(text, "~long                                                 5       "
				 "50.00  50.00  10.00  -  -");
	synth__expect_line(text, "aten::mm                                              1       "
				 "40.00  40.00  40.00  40.00  40.00");
	synth__expect_line(text, "Ratios: of all operators of the section, recorded and "
				 "estimated.");
	synth__expect_line(text, "~: estimated from 4 earlier steps; it had no probe in the window "
				 "(--no-prune leaves out none).");
	free(text);
}

Test(report_estimates, what_is_not_known_of_an_estimated_row_comes_last)
{
	static const char *const words[] = {"cpu_max", "cpu_min"};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		char *text = report_without(LONG_AND_SHORT,
					    &OPTS(.tables = "operator", .sort_word = words[i]));

		cr_expect(strstr(text, "aten::mm ") < strstr(text, "~long "), "%s", text);
		free(text);
	}
}

Test(report_estimates, json_and_csv_have_the_name_and_a_mark_apart)
{
	struct report_opts opts = {.tables = "operator", .style = {.format = TABLE_CSV}};
	char *csv = report_without(LONG_AND_SHORT, &opts), *text;
	json_t *json, *rows;

	cr_expect_not_null(strstr(csv, "\nlong,5,50000,10000,,,50,0,"), "%s", csv);
	cr_expect_not_null(strstr(csv, ",section,estimated\r\n"), "%s", csv);
	cr_expect_null(strstr(csv, "~long"), "%s", csv);
	free(csv);
	opts.style.format = TABLE_JSON;
	text = report_without(LONG_AND_SHORT, &opts);
	json = json_loads(text, 0, NULL);
	rows = json_object_get(json_object_get(json, "operator"), "rows");
	cr_assert_eq(json_array_size(rows), 3, "%s", text);
	for (size_t i = 0; i < 3; i++) {
		static const char *const names[] = {"long", "aten::mm", "short"};
		const json_t *row = json_array_get(rows, i);

		cr_expect_str_eq(json_string_value(json_object_get(row, "name")), names[i]);
		cr_expect_eq(json_is_true(json_object_get(row, "estimated")), i != 1);
	}
	json_decref(json);
	free(text);
}

Test(report_estimates, an_operator_is_chosen_by_its_name_without_the_mark)
{
	char *text = report_without(LONG_AND_SHORT, &OPTS(.tables = "operator", .only = "long"));

	cr_expect_not_null(strstr(text, "~long "), "%s", text);
	cr_expect_null(strstr(text, "aten::mm "), "%s", text);
	free(text);
}

Test(report_estimates, threads_have_sections_of_their_own_and_estimates_too)
{
	char *text = report_without(LONG_AND_SHORT, &OPTS(.tables = "operator", .by_thread = true));
	const char *section = strstr(text, "Of threads that are not known");

	cr_assert(section && strstr(section, "~long ") && strstr(text, "aten::mm ") < section, "%s",
		  text);
	free(text);
}

Test(report_estimates, only_estimated_rows_make_a_table_too)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");
	char *text;

	synth__step(&s, 0, 0, 100 * US);
	synth__open(&s, "{\"dropped_probes\": [" LONG_AND_SHORT "]}");
	text = synth__report(&s, &OPTS(.tables = "operator,key_averages"));
	synth__expect_line(text, "~long                                                 5       "
				 "50.00  83.33  10.00  -  -");
	synth__free(&s);
	free(text);
}

/* In key_averages nested calls count, and their time is part of the outer call's. */
Test(report_estimates, key_averages_have_all_calls)
{
	char *text = report_without(
		"{\"name\": \"aten::mul\", \"calls_per_step\": 10.0, \"avg_ns\": 2000.0,"
		" \"inner_calls_per_step\": 8.0, \"inner_avg_ns\": 1000.0, \"steps\": 3}",
		&OPTS(.tables = "key_averages"));

	synth__expect_line(text, "~aten::mul  33.33       20.00     33.33        20.00      "
				 "2.00          10");
	synth__expect_line(text, "aten::mm    66.67       40.00     66.67        40.00      "
				 "40.00         1");
	synth__expect_line(text, "Self CPU time total: 40.00 us");
	synth__expect_line(text, "Shares: of that and of 20.00 us of estimated rows (~), whose "
				 "time is in what is around or before them, too.");
	free(text);
}

Test(report_estimates, tables_without_them_say_how_many_are_missing)
{
	static const char *const tables[] = {"op_type", "op_detail", "classic", "aggregate"};

	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		char *text = report_without(LONG_AND_SHORT, &OPTS(.tables = tables[i]));

		synth__expect_line(text, "Not in this table: 2 operators without a probe, about "
					 "60.00 us. The operator table estimates them (~).");
		free(text);
	}
}

/* A node lasts until the next recorded one begins. */
static char *nodes_of(const char *summary)
{
	struct synth s = synth__new("{}");
	char *text;

	synth__span(&s, s.main, CAT_BACKWARD_NODE, "AddmmBackward0", 20 * US, 60 * US);
	synth__span(&s, s.main, CAT_BACKWARD_NODE, "TBackward0", 60 * US, 75 * US);
	synth__span(&s, s.main, CAT_OPERATOR, "aten::mm", 80 * US, 90 * US);
	synth__step(&s, 0, 0, 100 * US);
	synth__open(&s, summary);
	text = synth__report(&s, &OPTS(.tables = "operator"));
	synth__free(&s);
	return text;
}

#define LEFT_OUT_OF(name, is_node)                                                                 \
	"{\"dropped_probes\": [{\"name\": \"" name "\", \"is_node\": " is_node                     \
	", \"calls_per_step\": 4.0, \"avg_ns\": 5000.0, \"steps\": 3}]}"

Test(report_estimates, recorded_nodes_have_a_range)
{
	char *text = nodes_of(LEFT_OUT_OF("AccumulateGrad", "true"));

	synth__expect_line(text, "AddmmBackward0                                        1       "
				 "40.00  61.54  40.00  40.00  40.00     20.00");
	synth__expect_line(text, "TBackward0                                            1       "
				 "15.00  23.08  15.00  15.00  15.00     0.00");
	synth__expect_line(text, "aten::mm                                              1       "
				 "10.00  15.38  10.00  10.00  10.00     -");
	cr_expect_not_null(strstr(text, "At Least: less 20.00 us, the estimate of"), "%s", text);
	free(text);
}

Test(report_estimates, nodes_have_no_range_where_all_are_recorded)
{
	char *texts[] = {nodes_of(LEFT_OUT_OF("aten::add_", "false")), nodes_of("{}")};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		cr_expect_null(strstr(texts[i], "At Least"), "%s", texts[i]);
		free(texts[i]);
	}
}
