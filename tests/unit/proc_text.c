// SPDX-License-Identifier: BSD-2-Clause
/* Texts of /proc that their process made long. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include "common/util.h"
#include "in_child.h"

#define PROCESSES 5
#define VARIABLES 10
#define LENGTH	  120000

TestSuite(proc_text, .init = make_dir, .fini = remove_dir, .timeout = 60);

static pid_t start_long(void)
{
	static char text[LENGTH];
	char *env[VARIABLES + 1] = {NULL}, *args[] = {"sleep", "100", NULL};
	int ready[2];
	pid_t pid;
	char c;

	memset(text, 'x', sizeof(text) - 1);
	for (int i = 0; i < VARIABLES; i++)
		env[i] = text;
	cr_assert_eq(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		execve("/bin/sleep", args, env);
		_exit(1);
	}
	close(ready[1]);
	cr_assert_eq(read(ready[0], &c, 1), 0); /* closed by exec */
	close(ready[0]);
	return pid;
}

static pid_t pids[PROCESSES];

static int read_all(void)
{
	const int to = open(in("said"), O_WRONLY | O_CREAT, 0600);

	WANT(to >= 0 && dup2(to, STDERR_FILENO) >= 0);
	for (int i = 0; i < 2 * PROCESSES; i++) {
		auto_free char *text = proc__text(pids[i % PROCESSES], "environ", NULL);

		WANT(text && strlen(text) == LENGTH - 1);
	}
	exit(0);
}

static size_t count(const char *text, const char *part)
{
	size_t cnt = 0;

	for (; (text = strstr(text, part)); text++)
		cnt++;
	return cnt;
}

Test(proc_text, a_flood_of_long_ones_is_named_three_times_and_counted)
{
	auto_free char *said = NULL;

	for (int i = 0; i < PROCESSES; i++)
		pids[i] = start_long();
	cr_expect_eq(in_child(read_all), 0);
	for (int i = 0; i < PROCESSES; i++)
		kill(pids[i], SIGKILL);
	said = file__read(in("said"), NULL);
	cr_expect_eq(count(said, "its environ is longer than 1024 KiB"), 3, "%s", said);
	cr_expect_eq(count(said, "were longer than 1024 KiB 4 times"), 1, "%s", said);
	cr_expect_eq(count(said, "warning:"), 4, "%s", said);
}
