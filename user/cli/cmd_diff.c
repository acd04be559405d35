// SPDX-License-Identifier: BSD-2-Clause
/* proftrace diff A B: what became slower or faster between two recordings. */
#include <errno.h>
#include <unistd.h>
#include "analysis/diff.h"
#include "cli/cli.h"
#include "cli/raw_csv.h"
#include "common/err.h"
#include "cli/message_table.h"
#include "common/util.h"
#include "privilege/output_process.h"

#define MAX_LIMITS 32
#define EXCEEDED   3 /* exit status */

struct diff_command {
	const char *limits[MAX_LIMITS];
	size_t limit_cnt;
	int format, unit;
	uint64_t row_limit, width;
	bool raw_times, raw_csv;
};

static const char *const formats[] = {"table", "json", "csv", NULL};
static const char *const units[] = {"s", "ms", "us", "ns", NULL};

static int parse_limit(const char *value, void *dest)
{
	struct diff_command *cmd = dest;

	if (cmd->limit_cnt == MAX_LIMITS)
		return err__set(-EINVAL, MESSAGE_LIMITS_TOO_MANY, MAX_LIMITS);
	cmd->limits[cmd->limit_cnt++] = value;
	return diff_limit__check(value);
}

#define ARG(field) offsetof(struct diff_command, field)

static const struct opt opts[] = {
	{OPT_CUSTOM, "fail-if", 0, "LIMIT",
	 "Exit with status 3 if a median grew by more and chance does not explain it, or if the "
	 "name is new: step>5%, backward>10%, operator:NAME>20%, kernel:NAME>3%. May be repeated.",
	 0, .parse = parse_limit},
	{OPT_UINT, "row-limit", 0, "N", "Rows per table; 0: all (default 20).", ARG(row_limit)},
	{OPT_FLAG, "raw-times", 0, NULL, "Leave the cost of the probes in the times.",
	 ARG(raw_times)},
	{OPT_CHOICE, "format", 'f', "FORMAT", "How to print (default table).", ARG(format),
	 .choices = formats},
	RAW_CSV_OPT(ARG(raw_csv)),
	{OPT_CHOICE, "time-unit", 0, "UNIT", "Unit of times in text (default ms).", ARG(unit),
	 .choices = units},
	{OPT_UINT, "width", 0, "COLUMNS",
	 "Width of text, 40 or more (default: the terminal's; in a pipe that of COLUMNS; 0: "
	 "unlimited).",
	 ARG(width), .min = WIDTH_MIN, .max = WIDTH_MAX, .zero = "unlimited"},
	{OPT_END},
};

struct diff_run {
	const char *before, *behind;
	const struct diff_opts *opts;
};

static int make_output(void *ctx)
{
	const struct diff_run *run = ctx;
	size_t exceeded;
	int err = diff__print(run->before, run->behind, run->opts, stdout, &exceeded);

	return cli__finish(err ? cli__fail(err) : exceeded ? EXCEEDED : 0);
}

/* Allows the list as one file, and each part of it as a file. Which files exist decides later. */
static int add_side(struct file_places *places, const char *paths)
{
	int err = file_places__add_read(places, paths);

	for (const char *path = paths, *end; path && !err; path = *end ? end + 1 : NULL) {
		auto_free char *one = NULL;

		end = strchrnul(path, ',');
		one = strndup(path, (size_t)(end - path));
		err = one ? file_places__add_read(places, one) : -ENOMEM;
	}
	return err;
}

static int in_process_without_rights(struct diff_run *run)
{
	struct file_places places = {0};
	int err = add_side(&places, run->before), status;

	if (!err)
		err = add_side(&places, run->behind);
	status = err ? cli__fail(err) : output_process__run(make_output, run, &places);
	file_places__free(&places);
	return status;
}

const struct command command_diff;

static int run(int argc, char **argv)
{
	struct diff_command cmd = {
		.unit = UNIT_MS, .row_limit = 20, .width = (uint64_t)cli__width(STDOUT_FILENO)};
	struct diff_opts diff;
	int rest, err;

	err = opts__parse(&command_diff, argc, argv, &cmd, false, &rest);
	if (!err && argc - rest != 2)
		err = err__set(-EINVAL, MESSAGE_DIFF_RECORDINGS_MISSING);
	if (err)
		return cli__fail(err);
	diff = (struct diff_opts){
		.raw_times = cmd.raw_times,
		.limits = cmd.limits,
		.limit_cnt = cmd.limit_cnt,
		.style = {.format = (enum table_format)cmd.format,
			  .unit = (enum time_unit)cmd.unit,
			  .width = (int)cmd.width,
			  .colours = !cmd.format && cli__colours(STDOUT_FILENO),
			  .row_limit = cmd.row_limit,
			  .raw_csv = cmd.raw_csv},
	};
	return in_process_without_rights(&(struct diff_run){argv[rest], argv[rest + 1], &diff});
}

const struct command command_diff = {
	.name = "diff",
	.usage = "[options] BEFORE AFTER",
	.summary = "Compares two recordings: what became slower or faster.",
	.details =
		"Compares steps, phases, operators and kernels by their time in a step: medians, "
		"their difference, and whether chance explains it. Each side is one recording or "
		"several, separated by commas. The machine is slower or faster for seconds at a "
		"time. So one short window of each side finds only large changes; the report says "
		"how large. A step counts as slower only if it is also slower without the time its "
		"thread waited for a processor. Operators without a probe are estimated (~) and "
		"get no verdict: record both sides with the same options, best with --no-prune.",
	.examples = "proftrace diff monday.ptrec today.ptrec\n"
		    "proftrace diff a1.ptrec,a2.ptrec,a3.ptrec b1.ptrec,b2.ptrec,b3.ptrec  # three "
		    "of each\n"
		    "proftrace diff --fail-if 'step>5%' main.ptrec branch.ptrec  # in CI: status 3 "
		    "if the step is slower",
	.opts = opts,
	.run = run,
};
