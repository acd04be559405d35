// SPDX-License-Identifier: BSD-2-Clause
/* Which processes help the interpreter, by their command lines. */
#include <criterion/criterion.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "capture/processes/helpers.h"
#include "common/util.h"
#include "target/helper_process.h"

/* Each word of a literal ends with \0. The literal's own NUL ends the last word. */
#define COMMAND(words) ((struct command_line){words, sizeof(words)})
#define SPAWN	       "python\0-c\0from multiprocessing.spawn import spawn_main; spawn_main(tracker_fd=5)\0"
#define SERVER	       "python\0-c\0from multiprocessing.forkserver import main; main(7, 8, ['t'], **{})"

static const struct command_line train = COMMAND("python\0train.py");

Test(helper_process, trackers_and_servers_of_multiprocessing)
{
	static const struct {
		struct command_line own;
		enum helper_kind kind;
	} rows[] = {
		{COMMAND("/usr/bin/python3\0-c\0from multiprocessing.resource_tracker import "
			 "main;main(5)"),
		 HELPER_TRACKER},
		{COMMAND("python\0-s\0-E\0-c\0from multiprocessing.resource_tracker import "
			 "main;main(5)"),
		 HELPER_TRACKER},
		{COMMAND("python3.7\0-c\0from multiprocessing.semaphore_tracker import "
			 "main;main(5)"),
		 HELPER_TRACKER},
		{COMMAND("python\0-c\0from joblib.externals.loky.backend.resource_tracker import "
			 "main; main(9, 0)"),
		 HELPER_TRACKER},
		{COMMAND(SERVER), HELPER_FORKSERVER},
		{COMMAND("python\0/lib/python3/site-packages/torch/_inductor/compile_worker/"
			 "__main__.py\0--workers=8"),
		 HELPER_COMPILER},
		/* that load data, or may */
		{COMMAND(SPAWN "--multiprocessing-fork"), HELPER_NONE},
		{COMMAND("python\0train.py\0from multiprocessing.resource_tracker import "
			 "main;main(5)"),
		 HELPER_NONE},
		{COMMAND("python\0-c\0import multiprocessing.resource_tracker"), HELPER_NONE},
		{COMMAND("python\0-c\0from resource_tracker import main"), HELPER_NONE},
		{COMMAND("python\0-c\0from .resource_tracker"), HELPER_NONE},
		{COMMAND("python\0-c"), HELPER_NONE},
		{COMMAND("python"), HELPER_NONE},
		{COMMAND(""), HELPER_NONE},
		{{NULL, 0}, HELPER_NONE},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		cr_expect_eq(helper_process__kind(rows[i].own, train, HELPER_NONE), rows[i].kind,
			     "row %zu", i);
}

/* A child that a server forks shows the server's command line. */
Test(helper_process, what_a_server_forks_is_no_helper)
{
	const struct command_line server = COMMAND(SERVER);
	const struct command_line compiler =
		COMMAND("python\0/x/torch/_inductor/compile_worker/__main__.py\0--kind=fork");

	cr_expect_eq(helper_process__kind(server, train, HELPER_NONE), HELPER_FORKSERVER);
	cr_expect_eq(helper_process__kind(server, server, HELPER_FORKSERVER), HELPER_NONE);
	cr_expect_eq(helper_process__kind(server, (struct command_line){0}, HELPER_NONE),
		     HELPER_FORKSERVER, "its parent is gone");
	cr_expect_eq(helper_process__kind(train, train, HELPER_NONE), HELPER_NONE);
	cr_expect_eq(helper_process__kind(compiler, compiler, HELPER_COMPILER), HELPER_COMPILER);
	cr_expect_eq(helper_process__kind(COMMAND(SPAWN), compiler, HELPER_COMPILER),
		     HELPER_COMPILER, "it compiles, too");
}

/* A shell that stands still, with a command line that the test chooses. */
static pid_t start_shell(char *word)
{
	pid_t pid = fork();
	int pipe_fd[2];

	if (pid)
		return pid;
	if (pipe(pipe_fd) || dup2(pipe_fd[0], 0) != 0)
		_exit(1);
	execv("/bin/sh",
	      (char *[]){"python", "-s", "/torch/_inductor/compile_worker/x", word, NULL});
	_exit(1);
}

Test(helper_process, a_list_forgets_those_that_have_ended)
{
	struct helper_list list = {0};
	pid_t pid = start_shell("one");
	json_t *taken;

	for (int i = 0; i < 1000 && !list.cnt; i++, usleep(5000))
		cr_assert_eq(helpers__note(&list, pid), 0);
	cr_assert_eq(list.cnt, 1);
	cr_expect_eq(helpers__note(&list, getpid()), 0);
	cr_expect_eq(helpers__note(&list, pid), 0);
	taken = helpers__take(&list);
	cr_assert_eq(json_array_size(taken), 1);
	cr_expect_eq(json_integer_value(json_object_get(json_array_get(taken, 0), "pid")), pid);
	cr_expect_str_eq(json_string_value(json_object_get(json_array_get(taken, 0), "kind")),
			 "compiler");
	json_decref(taken);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	json_decref(helpers__take(&list));
	cr_expect_eq(list.cnt, 0);
	cr_expect_null(helpers__take(&list));
	free(list.items);
}
