// SPDX-License-Identifier: BSD-2-Clause
/* --allow and --deny of the monitor. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "common/err.h"
#include "monitor/process_facts.h"
#include "monitor/rules.h"

TestSuite(monitor_rules);

static bool matches(const char *rule, const char *command, uid_t uid, const char *cgroup)
{
	struct rules rules = {0};
	bool does;

	cr_assert_eq(rules__add(&rules, "allow", rule), 0, "%s", rule);
	does = rules__match(&rules, &(struct rule_subject){.pid = 4242,
							   .command = command,
							   .program = "train.py",
							   .uid = uid,
							   .cgroup = cgroup});
	rules__free(&rules);
	return does;
}

Test(monitor_rules, by_command_user_and_cgroup)
{
	static const char cgroup[] = "1:cpu:/slurm/job_7\n0::/slurm/job_7/step_0\n";

	cr_expect(matches("command:python*", "python3", 0, ""));
	cr_expect_not(matches("command:python", "python3", 0, ""));
	cr_expect(matches("program:train*", "python3", 0, ""));
	cr_expect_not(matches("program:python*", "python3", 0, ""));
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
	const struct rule_subject python = {4242, "python", "x.py", 0, "", 0};
	struct rules rules = {0};

	cr_expect_not(rules__match(&rules, &python));
	cr_assert_eq(rules__add(&rules, "deny", "command:java"), 0);
	cr_assert_eq(rules__add(&rules, "deny", "command:python"), 0);
	cr_expect(rules__match(&rules, &python));
	rules__free(&rules);
}

Test(monitor_rules, a_job_is_one_process_and_not_its_number)
{
	struct rules rules = {0};
	struct process_facts self, parent;
	uint64_t jobs;
	char text[32];

	cr_assert_eq(process_facts__read(getpid(), &self), 0);
	cr_assert_eq(process_facts__read(getppid(), &parent), 0);
	snprintf(text, sizeof(text), "job:%d", getppid());
	cr_assert_eq(rules__add(&rules, "allow", text), 0);
	snprintf(text, sizeof(text), "job:%d", getpid());
	cr_assert_eq(rules__add(&rules, "allow", text), 0);
	jobs = rules__jobs_of(&rules, getpid(), self.start_ticks);
	cr_expect_neq(jobs, 0);
	cr_expect_eq(rules__jobs_of(&rules, getpid(), self.start_ticks + 1), 0,
		     "its pid is reused");
	cr_expect_eq(jobs & rules__jobs_of(&rules, getppid(), parent.start_ticks), 0);
	cr_expect(rules__match(&rules, &(struct rule_subject){4242, "x", "x", 0, "", jobs}));
	cr_expect_not(rules__match(&rules, &(struct rule_subject){getpid(), "x", "x", 0, "", 0}));
	rules__free(&rules);
}

Test(monitor_rules, a_job_needs_its_launcher)
{
	const pid_t gone = fork();
	struct rules rules = {0};
	char text[32];

	if (!gone)
		_exit(0);
	waitpid(gone, NULL, 0);
	snprintf(text, sizeof(text), "job:%d", gone);
	cr_expect_eq(rules__add(&rules, "allow", text), -ESRCH);
	cr_expect(strstr(err__take(-ESRCH), "no such process"));
	snprintf(text, sizeof(text), "job:%d", getpid());
	for (int i = 0; i < RULES_JOBS; i++)
		cr_expect_eq(rules__add(&rules, "allow", text), 0);
	cr_expect_eq(rules__add(&rules, "allow", text), -E2BIG);
	err__take(-E2BIG);
	rules__free(&rules);
}

Test(monitor_rules, what_is_none_is_refused)
{
	static const char *const none[] = {
		"", "python", "command:", "group:x", "user:no-such-user", "job:", "job:x", "job:0"};
	struct rules rules = {0};

	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
		cr_expect_eq(rules__add(&rules, "deny", none[i]), -EINVAL, "%s", none[i]);
		cr_expect(strstr(err__take(-EINVAL), "--deny"));
	}
	cr_expect_eq(rules.cnt, 0);
}

static void expect_program(const char *arguments, size_t len, const char *program)
{
	char text[32];

	process_facts__program_of(arguments, len, text, sizeof(text));
	cr_expect_str_eq(text, program);
}

/* A literal's own NUL ends the last argument. */
#define ARGUMENTS(text) text, sizeof(text)

Test(monitor_rules, a_program_is_the_script_that_a_python_runs)
{
	expect_program(ARGUMENTS("/usr/bin/java\0-jar\0x"), "java");
	expect_program(ARGUMENTS("/v/bin/python3\0train.py\0--x"), "train.py");
	expect_program(ARGUMENTS("python\0-u\0-X\0dev\0-W\0ignore\0/a/b/train.py"), "train.py");
	expect_program(ARGUMENTS("python\0-m\0ipykernel_launcher\0-f\0/x.json"),
		       "ipykernel_launcher");
	expect_program(ARGUMENTS("python3.11\0-c\0import torch"), "python3.11");
	expect_program(ARGUMENTS("python\0-m"), "python");
	expect_program(ARGUMENTS("python\0-X"), "python");
	expect_program(ARGUMENTS("python"), "python");
	expect_program("", 0, "");
}

Test(monitor_rules, a_name_that_no_process_can_have_is_refused)
{
	struct rules rules = {0};

	cr_expect_lt(rules__add(&rules, "deny", "command:jupyter-notebook-server"), 0);
	cr_expect(strstr(err__take(-EINVAL), "program:jupyter-notebook-server"));
	cr_expect_eq(rules__add(&rules, "deny", "command:jupyter-notebook*"), 0);
	cr_expect_eq(rules__add(&rules, "deny", "command:fifteen-letters"), 0);
	rules__free(&rules);
}
