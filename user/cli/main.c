// SPDX-License-Identifier: BSD-2-Clause
#include "attach/attach.h"
#include "cli/file_limit.h"
#include "common/json_memory.h"
#include "cli/help.h"
#include "cli/opts.h"
#include "common/err.h"
#include "common/own_program.h"
#include "common/util.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int print_help_of(const struct command *cmd)
{
	help__print(commands__all(), cmd, stdout, cli__width(STDOUT_FILENO),
		    cli__colours(STDOUT_FILENO));
	return cli__finish(0);
}

static int print_help(const char *name)
{
	const struct command *cmd = command__find(name);

	return cmd ? print_help_of(cmd) : cli__fail(command__unknown(name));
}

static int run(const struct command *cmd, int argc, char **argv)
{
	const int status =
		cmd->run ? cmd->run(argc, argv) : cmd->run_on_all(commands__all(), argc, argv);

	return status == STATUS_HELP ? print_help_of(cmd) : cli__finish(status);
}

/* The build calls this to install the pages. It is not in the help. */
static int print_page(const char *name)
{
	const struct command *cmd = name ? command__find(name) : NULL;

	if (name && !cmd)
		return cli__fail(command__unknown(name));
	man__print(cmd, stdout);
	return cli__finish(0);
}

/* Messages may be needed before the options are read. Other values have no effect. */
static void choose_messages(void)
{
	const char *format = getenv("PROFTRACE_MESSAGES");

	if (format && strcmp(format, "json") == 0)
		log__set_json(true);
}

/* Moves the command to the front: `proftrace -v report FILE` is `proftrace report -v FILE`. */
static void put_command_first(int argc, char **argv)
{
	char *name;
	int at = 1, words;

	while (at < argc && (words = opts__common_words(argv[at])))
		at += words;
	if (at == 1 || at >= argc || !command__find(argv[at]))
		return;
	name = argv[at];
	memmove(argv + 2, argv + 1, (size_t)(at - 1) * sizeof(*argv));
	argv[1] = name;
}

int main(int argc, char **argv)
{
	const struct command *cmd;

	own_program__name_process();
	choose_messages();
	file_limit__ignore();
	json_memory__watch();
	attach__hush_libbpf();
	if (argc < 2) {
		help__print(commands__all(), command__find(NULL), stderr, 0, false);
		return 2;
	}
	put_command_first(argc, argv);
	if (strcmp(argv[1], "help") == 0)
		return print_help(argc > 2 ? argv[2] : NULL);
	if (strcmp(argv[1], "--man") == 0)
		return print_page(argc > 2 ? argv[2] : NULL);
	if (argv[1][0] == '-')
		return run(command__find(NULL), argc, argv);
	cmd = command__find(argv[1]);
	if (!cmd)
		return cli__fail(command__unknown(argv[1]));
	return run(cmd, argc - 1, argv + 1);
}
