// SPDX-License-Identifier: BSD-2-Clause
/* proftrace report FILE: the tables of a recording. */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "analysis/job/job.h"
#include "cli/html_page.h"
#include "cli/owner.h"
#include "cli/report_options.h"
#include "common/err.h"
#include "cli/message_table.h"
#include "common/util.h"
#include "privilege/output_process.h"
#include "recording/recording.h"

struct report_command {
	struct report_args args;
	const char *html, *op;
	uint64_t step; /* UINT64_MAX: none was chosen */
	bool list;
	char **paths; /* of the recordings */
	int path_cnt;
};

static const struct opt opts[] = {
	{OPT_INCLUDE, .include = report_arg_opts, .offset = offsetof(struct report_command, args)},
	{OPT_STRING, "html", 0, "FILE",
	 "Write one HTML file instead, which needs no network: findings, tables, charts, a flame "
	 "graph and the timeline of three steps. - is standard output.",
	 offsetof(struct report_command, html), .file_arg = true},
	OWNER_OPT,
	{OPT_UINT, "step", 0, "N", "With --html: also include the timeline of this step.",
	 offsetof(struct report_command, step)},
	{OPT_STRING, "op", 0, "NAME",
	 "Only rows with this name, or that match a pattern like '*conv*'. It applies to tables of "
	 "--table with named rows: operators, kernels, ranges, system calls (default: operator, "
	 "with --op-detail).",
	 offsetof(struct report_command, op)},
	{OPT_FLAG, "list-tables", 0, NULL, "List the tables and exit.",
	 offsetof(struct report_command, list)},
	{OPT_END},
};

static int list_tables(void)
{
	size_t cnt;
	const struct table_def *defs = report__tables(&cnt);

	for (size_t i = 0; i < cnt; i++)
		printf("%-16s %s%s\n", defs[i].key, defs[i].summary,
		       defs[i].by_default ? "" : " (on request)");
	return 0;
}

static int print(const char *path, const struct report_command *cmd)
{
	struct report_opts report = report_args__opts(&cmd->args, STDOUT_FILENO);
	struct recording *r;
	int err = recording__open(path, &r);

	if (err)
		return err;
	report.only = cmd->op;
	report.style.alone = true;
	err = report__print(r, &report, stdout);
	recording__close(r);
	return err;
}

static int write_page(const char *path, const struct report_command *cmd)
{
	struct report_opts report = report_args__opts(&cmd->args, STDOUT_FILENO);
	struct recording *r;
	int err = recording__open(path, &r);

	if (err)
		return err;
	report.page_step = cmd->step == UINT64_MAX ? NULL : &cmd->step;
	err = html_page__write(r, &report, cmd->html);
	recording__close(r);
	return err;
}

static int print_job(const char *const *paths, int cnt, const struct report_args *args)
{
	const struct report_opts report = report_args__opts(args, STDOUT_FILENO);

	return job__print(paths, (size_t)cnt, &report, stdout);
}

static int check_page(const struct report_command *cmd, int files, char **paths)
{
	if (cmd->html && cmd->args.format != TABLE_TEXT)
		return err__set(-EINVAL, MESSAGE_PAGE_EXCLUDES_FORMAT);
	if (cmd->html && files == 1 && file__is_same(paths[0], cmd->html))
		return err__set(-EINVAL, MESSAGE_PAGE_IS_RECORDING, cmd->html);
	return 0;
}

static int choose_op(struct report_command *cmd, int files)
{
	if (!cmd->op)
		return 0;
	if (cmd->html || files > 1)
		return err__set(-EINVAL, MESSAGE_OP_NEEDS_TABLES);
	if (!cmd->args.tables) {
		cmd->args.tables = "operator";
		cmd->args.op_detail = true;
	}
	return 0;
}

/* Without --table a page has all tables, and the report of several recordings has no tables of
 * single ranks. */
static int check_tables(const struct report_command *cmd, int files)
{
	const struct report_opts only = {.only = cmd->op};
	auto_free char *all = cmd->html ? report__all_tables() : NULL;
	int err;

	if (cmd->html && !all)
		return -ENOMEM;
	if (files > 1)
		return report_args__check_job(&cmd->args);
	err = report_args__check(&cmd->args, cmd->args.tables ? cmd->args.tables : all);
	return err ? err : report__check_uses(cmd->args.tables, &only);
}

static int make_output(void *ctx)
{
	const struct report_command *cmd = ctx;
	int err;

	if (cmd->html)
		err = write_page(cmd->paths[0], cmd);
	else if (cmd->path_cnt == 1)
		err = print(cmd->paths[0], cmd);
	else
		err = print_job((const char *const *)cmd->paths, cmd->path_cnt, &cmd->args);
	return cli__finish(err ? cli__fail(err) : 0);
}

static int in_process_without_rights(struct report_command *cmd)
{
	struct file_places places = {0};
	int err = file_places__add_write(&places, cmd->html, false), status;

	for (int i = 0; i < cmd->path_cnt && !err; i++)
		err = file_places__add_read(&places, cmd->paths[i]);
	status = err ? cli__fail(err) : output_process__run(make_output, cmd, &places);
	file_places__free(&places);
	return status;
}

const struct command command_report;

static int run(int argc, char **argv)
{
	struct report_command cmd = {.step = UINT64_MAX};
	int rest, err;

	report_args__init(&cmd.args);
	err = opts__parse(&command_report, argc, argv, &cmd, false, &rest);
	if (err)
		return cli__fail(err);
	if (cmd.list)
		return list_tables();
	err = check_page(&cmd, argc - rest, argv + rest);
	if (!err)
		err = choose_op(&cmd, argc - rest);
	if (!err)
		err = check_tables(&cmd, argc - rest);
	if (err)
		return cli__fail(err);
	if (rest == argc)
		return cli__fail(err__set(-EINVAL, MESSAGE_REPORT_RECORDING_MISSING));
	if (cmd.html && rest != argc - 1)
		return cli__fail(err__set(-EINVAL, MESSAGE_PAGE_OF_SEVERAL));
	if (!cmd.html && cmd.step != UINT64_MAX)
		return cli__fail(err__set(-EINVAL, MESSAGE_STEP_NEEDS_PAGE));
	cmd.paths = argv + rest;
	cmd.path_cnt = argc - rest;
	return in_process_without_rights(&cmd);
}

const struct command command_report = {
	.name = "report",
	.usage = "[options] FILE [FILE...]",
	.summary = "Prints the tables of a recording, or of the ranks of a job side by side.",
	.details = "Needs neither the target, nor root, nor the machine that made the recording. "
		   "Several recordings are taken for the ranks of one job: the report shows where "
		   "each rank spends its steps, and which rank the others wait for. With --table "
		   "it prints the tables of each.",
	.examples =
		"proftrace report job.ptrec  # the short report: findings, phases, operators, "
		"cost\n"
		"proftrace report --table all job.ptrec  # every table with content\n"
		"proftrace report --table operator --sorted-by cpu_avg --row-limit 20 job.ptrec"
		"  # the operators with the longest calls\n"
		"proftrace report --op aten::conv2d job.ptrec  # one operator, and what it called\n"
		"proftrace report host_*.ptrec  # the ranks of a job\n"
		"proftrace report --html job.html job.ptrec  # to look at in a browser\n"
		"proftrace report --format json job.ptrec  # for programs",
	.opts = opts,
	.run = run,
};
