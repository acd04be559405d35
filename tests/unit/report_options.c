// SPDX-License-Identifier: BSD-2-Clause
/* Which options of a report fit which tables. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/report.h"
#include "common/err.h"
#include "common/util.h"

static void expect_refused(int err, const char *answer)
{
	const char *text = err__take(err);

	cr_expect_eq(err, -EINVAL, "%s", answer);
	cr_expect_not_null(strstr(text, answer), "%s", text);
}

Test(report_options, an_empty_name_is_no_table)
{
	static const char *const bad[] = {"", ",", "operator,", ",operator", "operator,,kernel"};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		expect_refused(report__check_tables(bad[i]), "a name is empty");
	cr_expect_eq(report__check_tables("operator"), 0);
	cr_expect_eq(report__check_tables("operator,kernel"), 0);
	expect_refused(report__check_tables("operator,nosuch"), "unknown table 'nosuch'");
	cr_expect_eq(report__check_tables("all"), 0);
}

Test(report_options, a_wrong_name_is_answered_with_one_that_works)
{
	expect_refused(report__check_tables("operators"), "'operators'; did you mean operator?");
	expect_refused(report__check_tables("model,kernels"), "'kernels'; did you mean kernel?");
	expect_refused(report__check_tables("gpu"), "did you mean kernel?");
	expect_refused(report__check_order(NULL, "cuda"), "; did you mean gpu_total? known: ");
	expect_refused(report__check_order("kernel", "cuda_time"),
		       "; did you mean gpu_total? known: ");
	expect_refused(report__check_order("kernel", "device_max"),
		       "; did you mean gpu_max? known: ");
	expect_refused(report__check_order("operator", "cpu_totl"),
		       "; did you mean cpu_total? known: ");
	expect_refused(report__check_order(NULL, "flops"), "; --table key_averages is; ");
}

Test(report_options, an_order_is_of_a_column_that_a_table_has)
{
	cr_expect_eq(report__check_order("kernel", "gpu_max"), 0);
	cr_expect_eq(report__check_order("kernel,operator", "cpu_max"), 0, "one has it");
	cr_expect_eq(report__check_order(NULL, "cpu_max"), 0);
	expect_refused(report__check_order("kernel", "cpu_max"),
		       "no table to be printed is sorted by 'cpu_max'; --table operator is; did "
		       "you mean gpu_max? known: "
		       "kernel by gpu_total, "
		       "gpu_avg, gpu_max, gpu_min, calls");
	expect_refused(report__check_order("collectives", "gpu_total"),
		       "collectives by cpu_total, cpu_avg, cpu_max, cpu_min, calls");
	expect_refused(report__check_order("calls", "gpu_max"),
		       "calls by cpu_total, cpu_avg, cpu_max, cpu_min, calls, gpu_total");
	expect_refused(report__check_order("kernel,aggregate", "cpu_max"), "aggregate by total");
	expect_refused(report__check_order(NULL, "flops"), "operator by cpu_total");
	expect_refused(report__check_order("steps", "cpu_max"), "steps has one order");
}

#define OPTS(...) (&(const struct report_opts){__VA_ARGS__})

Test(report_options, what_no_table_heeds_is_refused)
{
	expect_refused(report__check_uses("operator", OPTS(.by_device = true)),
		       "--by-device has no effect on the tables to be printed; it is for device, "
		       "distributed, kernel, manipulation");
	expect_refused(report__check_uses("kernel", OPTS(.by_thread = true)), "--by-thread");
	expect_refused(report__check_uses("kernel,steps", OPTS(.op_detail = true)), "--op-detail");
	expect_refused(report__check_uses("classic", OPTS(.group_by = GROUP_BY_SHAPE)),
		       "it is for key_averages (--table)");
	expect_refused(report__check_uses(NULL, OPTS(.group_by = GROUP_BY_STACK)), "--group-by");
	expect_refused(report__check_uses(NULL, OPTS(.state = STATE_GPU)), "it is for classic");
	expect_refused(report__check_uses("model", OPTS(.batch_size = 8)), "--batch-size");
	expect_refused(report__check_uses("steps", OPTS(.ascending = true)), "--ascending");
	expect_refused(report__check_uses("key_averages", OPTS(.stack_depth = 3)), "--stack-depth");
	expect_refused(report__check_uses("steps", OPTS(.only = "aten::mm")),
		       "--op has no effect on the tables to be printed; it is for operator, "
		       "kernel, collectives, manipulation, calls, userdefined, pipeline, counters, "
		       "memory, sched, syscalls, key_averages, classic, aggregate, op_type, "
		       "op_detail, activity");
	expect_refused(report__check_uses("model,overview,device", OPTS(.only = "x")), "--op");
	expect_refused(report__check_uses("nosuch", OPTS(.ascending = true)), "unknown table");
}

Test(report_options, what_one_table_heeds_is_taken)
{
	cr_expect_eq(report__check_uses(NULL, OPTS(.by_thread = true, .by_device = true,
						   .op_detail = true, .batch_size = 4,
						   .ascending = true)),
		     0);
	cr_expect_eq(report__check_uses("steps,key_averages",
					OPTS(.group_by = GROUP_BY_STACK, .by_thread = true)),
		     0);
	cr_expect_eq(report__check_uses("steps,kernel", OPTS(.only = "gemm")), 0);
	cr_expect_eq(report__check_uses("classic", OPTS(.state = STATE_CPU)), 0);
	cr_expect_eq(report__check_uses("model", OPTS(.raw_times = true)), 0);
}

Test(report_options, all_tables_are_known)
{
	auto_free char *all = report__all_tables();

	cr_assert_not_null(all);
	cr_expect_eq(report__check_tables(all), 0);
	cr_expect_eq(report__check_uses(all, OPTS(.group_by = GROUP_BY_STACK, .state = STATE_GPU)),
		     0);
}
