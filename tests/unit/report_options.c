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
		       "it is for key_averages");
	expect_refused(report__check_uses(NULL, OPTS(.group_by = GROUP_BY_STACK)), "--group-by");
	expect_refused(report__check_uses(NULL, OPTS(.state = STATE_GPU)), "it is for classic");
	expect_refused(report__check_uses("model", OPTS(.batch_size = 8)), "--batch-size");
	expect_refused(report__check_uses("steps", OPTS(.ascending = true)), "--ascending");
	expect_refused(report__check_uses("key_averages", OPTS(.stack_depth = 3)), "--stack-depth");
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
