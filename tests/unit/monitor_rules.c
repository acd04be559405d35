// SPDX-License-Identifier: BSD-2-Clause
/* --allow and --deny of the monitor. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include "common/err.h"
#include "monitor/rules.h"

TestSuite(monitor_rules);

static bool matches(const char *rule, const char *command, uid_t uid, const char *cgroup)
{
	struct rules rules = {0};
	bool does;

	cr_assert_eq(rules__add(&rules, "allow", rule), 0, "%s", rule);
	does = rules__match(&rules, 4242, command, uid, cgroup);
	rules__free(&rules);
	return does;
}

Test(monitor_rules, by_command_user_and_cgroup)
{
	static const char cgroup[] = "1:cpu:/slurm/job_7\n0::/slurm/job_7/step_0\n";

	cr_expect(matches("command:python*", "python3", 0, ""));
	cr_expect_not(matches("command:python", "python3", 0, ""));
	cr_expect(matches("pid:4242", "x", 0, ""));
	cr_expect_not(matches("pid:424", "x", 0, ""));
	cr_expect(matches("user:root", "x", 0, ""));
	cr_expect(matches("user:1234", "x", 1234, ""));
	cr_expect_not(matches("user:1234", "x", 0, ""));
	cr_expect(matches("cgroup:/slurm/*/step_0", "x", 0, cgroup));
	cr_expect_not(matches("cgroup:/slurm", "x", 0, cgroup), "the whole path");
}

Test(monitor_rules, one_of_several_is_enough)
{
	struct rules rules = {0};

	cr_expect_not(rules__match(&rules, 4242, "python", 0, ""));
	cr_assert_eq(rules__add(&rules, "deny", "command:java"), 0);
	cr_assert_eq(rules__add(&rules, "deny", "command:python"), 0);
	cr_expect(rules__match(&rules, 4242, "python", 0, ""));
	rules__free(&rules);
}

Test(monitor_rules, what_is_none_is_refused)
{
	static const char *const none[] = {"", "python", "command:", "group:x",
					   "user:no-such-user"};
	struct rules rules = {0};

	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
		cr_expect_eq(rules__add(&rules, "deny", none[i]), -EINVAL, "%s", none[i]);
		cr_expect(strstr(err__take(-EINVAL), "--deny"));
	}
	cr_expect_eq(rules.cnt, 0);
}
