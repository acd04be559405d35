// SPDX-License-Identifier: BSD-2-Clause
#include "cli/cli.h"
#include "cli/opts.h"
#include "common/err.h"
#include "common/message.h"
#include "common/util.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

struct values {
	bool by_thread;
	bool detail;
	const char *output;
	uint64_t pid, ring_bytes, duration_ns;
	int sorted_by;
	int first, last;
	struct {
		bool raw;
		struct {
			uint64_t width;
		} page;
	} report;
};

static int parse_span(const char *value, void *dest)
{
	struct values *v = dest;

	if (sscanf(value, "%d:%d", &v->first, &v->last) != 2)
		return err__set(-EINVAL, MESSAGE("test.range-invalid", "--record: '%s' is not A:B"),
				value);
	return 0;
}

static const char *const keys[] = {"cpu_total", "cpu_avg", "calls", NULL};

/* Two tables deep, each with offsets in its own struct. */
static const struct opt page_opts[] = {
	{OPT_UINT, "width", 'w', "N", "Width"},
	{OPT_END},
};

static const struct opt report_opts[] = {
	{OPT_INCLUDE, .include = page_opts, .offset = sizeof(uint64_t)},
	{OPT_FLAG, "raw", 'r', NULL, "Raw"},
	{OPT_END},
};

static const struct opt opts[] = {
	{OPT_GROUP, "What"},
	{OPT_UINT, "pid", 'p', "PID", "Process", offsetof(struct values, pid), .min = 1,
	 .max = 4194304, .once = "one process"},
	{OPT_CUSTOM, "record", 0, "A:B", "Steps", 0, .parse = parse_span},
	{OPT_DURATION, "duration", 'd', "TIME", "Time", offsetof(struct values, duration_ns),
	 .min = 1},
	{OPT_GROUP, "How"},
	{OPT_UINT, "ring-size", 0, "SIZE", "Ring", offsetof(struct values, ring_bytes),
	 .unit = "bytes"},
	{OPT_FLAG, "by-thread", 't', NULL, "Threads", offsetof(struct values, by_thread)},
	{OPT_FLAG, "op-detail", 'D', NULL, "Detail", offsetof(struct values, detail)},
	{OPT_STRING, "output", 'o', "FILE", "File", offsetof(struct values, output)},
	{OPT_CHOICE, "sorted-by", 0, "KEY", "Order", offsetof(struct values, sorted_by),
	 .choices = keys},
	{OPT_INCLUDE, .include = report_opts, .offset = offsetof(struct values, report)},
	{OPT_FLAG, "last", 0, NULL, "Behind what is included", offsetof(struct values, detail),
	 .old_name = "latest"},
	{OPT_END},
};

static const struct command command = {.name = "try", .usage = "[options]", .opts = opts};

/* The words of one command line; opts__parse reorders them. */
struct line {
	char text[256];
	char *argv[32];
	int argc, rest;
	struct values v;
};

static int parse(struct line *l, const char *text, bool stop_at_positional)
{
	memset(l, 0, sizeof(*l));
	snprintf(l->text, sizeof(l->text), "try %s", text);
	for (char *word = strtok(l->text, " "); word; word = strtok(NULL, " "))
		l->argv[l->argc++] = word;
	return opts__parse(&command, l->argc, l->argv, &l->v, stop_at_positional, &l->rest);
}

static void expect_error(const char *text, const char *message)
{
	struct line l;
	int err = parse(&l, text, false);

	cr_expect(eq(int, err, -EINVAL), "%s", text);
	cr_expect(eq(str, (char *)err__take(err), (char *)message));
}

extern const struct command command_record;

Test(cli_opts, old_names_are_understood_and_not_shown)
{
	struct opt opt;

	cr_assert(opt__by_name(opts, "latest", 6, &opt));
	cr_expect_str_eq(opt.name, "last");
	cr_expect_not(opt__by_name(opts, "late", 4, &opt), "a part of it");
	cr_assert(opt__by_name(command_record.opts, "keep-all", 8, &opt));
	cr_expect_str_eq(opt.name, "no-prune");
	cr_assert(opt__by_name(command_record.opts, "vouch", 5, &opt));
	cr_expect_str_eq(opt.name, "allow-return-probe");
}

Test(cli_opts, long_and_short_forms_with_and_without_equals)
{
	static const char *const lines[] = {"-p 42 -o x", "-p42 -ox", "--pid 42 --output x",
					    "--pid=42 --output=x"};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct line l;

		cr_assert(zero(int, parse(&l, lines[i], false)), "%s", lines[i]);
		cr_expect(eq(u64, l.v.pid, 42));
		cr_expect(eq(str, (char *)l.v.output, "x"));
		cr_expect(eq(int, l.rest, l.argc));
	}
}

Test(cli_opts, short_flags_combine_and_the_last_may_take_a_value)
{
	struct line l;

	cr_assert(zero(int, parse(&l, "-tDp 7", false)));
	cr_expect(l.v.by_thread && l.v.detail);
	cr_expect(eq(u64, l.v.pid, 7));
}

Test(cli_opts, an_empty_value_is_refused_and_not_taken_from_the_next_argument)
{
	struct line l;

	cr_expect(eq(int, parse(&l, "--output= file", false), -EINVAL));
	cr_expect_not_null(strstr(err__take(-EINVAL), "--output: its value is empty; give FILE"));
}

Test(cli_opts, positionals_move_behind_options_in_their_order)
{
	struct line l;

	cr_assert(zero(int, parse(&l, "one -p 42 two - --by-thread three", false)));
	cr_expect(eq(int, l.argc - l.rest, 4));
	cr_expect(eq(str, l.argv[l.rest], "one"));
	cr_expect(eq(str, l.argv[l.rest + 1], "two"));
	cr_expect(eq(str, l.argv[l.rest + 2], "-"));
	cr_expect(eq(str, l.argv[l.rest + 3], "three"));
	cr_expect(eq(u64, l.v.pid, 42));
	cr_expect(l.v.by_thread);
}

Test(cli_opts, two_dashes_end_the_options)
{
	struct line l;

	cr_assert(zero(int, parse(&l, "-t -- -p --record", false)));
	cr_expect(eq(int, l.argc - l.rest, 2));
	cr_expect(eq(str, l.argv[l.rest], "-p"));
	cr_expect(l.v.by_thread);
	cr_expect(zero(u64, l.v.pid));
}

Test(cli_opts, a_command_to_run_keeps_its_own_options)
{
	static const char *const lines[] = {"-t python train.py -p 3",
					    "-t -- python train.py -p 3"};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct line l;

		cr_assert(zero(int, parse(&l, lines[i], true)));
		cr_expect(eq(int, l.argc - l.rest, 4));
		cr_expect(eq(str, l.argv[l.rest], "python"));
		cr_expect(eq(str, l.argv[l.rest + 2], "-p"));
		cr_expect(zero(u64, l.v.pid));
	}
}

Test(cli_opts, durations_and_sizes_have_units)
{
	static const struct {
		const char *line;
		uint64_t ns;
	} durations[] = {
		{"-d 5", 5000000000},	  {"-d 5s", 5000000000},
		{"-d 200ms", 200000000},  {"-d 1m", 60000000000},
		{"-d 2h", 7200000000000}, {"-d 1.5s", 1500000000},
		{"-d 250us", 250000},	  {"-d 9ns", 9},
	};
	static const struct {
		const char *line;
		uint64_t bytes;
	} sizes[] = {
		{"--ring-size 4096", 4096},
		{"--ring-size 64k", 65536},
		{"--ring-size 16M", 16777216},
		{"--ring-size 2G", 2147483648},
	};
	struct line l;

	for (size_t i = 0; i < ARRAY_SIZE(durations); i++) {
		cr_assert(zero(int, parse(&l, durations[i].line, false)));
		cr_expect(eq(u64, l.v.duration_ns, durations[i].ns), "%s", durations[i].line);
	}
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		cr_assert(zero(int, parse(&l, sizes[i].line, false)));
		cr_expect(eq(u64, l.v.ring_bytes, sizes[i].bytes), "%s", sizes[i].line);
	}
}

Test(cli_opts, choices_and_custom_values)
{
	struct line l;

	cr_assert(zero(int, parse(&l, "--sorted-by calls --record 2:10", false)));
	cr_expect(eq(int, l.v.sorted_by, 2));
	cr_expect(eq(int, l.v.first, 2));
	cr_expect(eq(int, l.v.last, 10));
}

Test(cli_opts, included_tables_are_as_if_their_rows_stood_here)
{
	struct line l;

	cr_assert(zero(int, parse(&l, "--width 72 --raw --last", false)));
	cr_expect(eq(u64, l.v.report.page.width, 72));
	cr_expect(eq(int, l.v.report.raw &&l.v.detail, 1));
	cr_assert(zero(int, parse(&l, "-rw 9", false)));
	cr_expect(eq(u64, l.v.report.page.width, 9));
	cr_expect(eq(int, l.v.report.raw && !l.v.detail, 1));
	expect_error("--widht 9", "unknown option --widht; did you mean --width?");
}

Test(cli_opts, values_that_are_not_wholly_understood_are_refused)
{
	static const char *const lines[] = {
		"-p x",
		"-p 12x",
		"-p -3",
		"-p +3",
		"-p 0",
		"-p 4194305",
		"-p 0x10",
		"-d 5x",
		"-d nan",
		"-d inf",
		"-d -1s",
		"-d 1e3",
		"-d .",
		"-d 1.2.3",
		"-d 0x5s",
		"-d 9999999999h",
		"--pid=",
		"-p 99999999999999999999999",
		"--ring-size 64q",
		"--ring-size 99999999999999G",
		"--record 2",
		"--sorted-by cpu",
		"--by-thread=yes",
		"--pid",
		"-p",
		"--",
	};
	struct line l;

	for (size_t i = 0; i + 1 < ARRAY_SIZE(lines); i++)
		cr_expect(eq(int, parse(&l, lines[i], false), -EINVAL), "%s", lines[i]);
	cr_expect(zero(int, parse(&l, lines[ARRAY_SIZE(lines) - 1], false)));
}

Test(cli_opts, messages_name_the_option_and_the_next_step)
{
	expect_error("--recrod 2:10", "unknown option --recrod; did you mean --record?");
	expect_error("--recrod=2:10", "unknown option --recrod; did you mean --record?");
	expect_error("--sort x", "unknown option --sort; did you mean --sorted-by?");
	expect_error("--hlep", "unknown option --hlep; did you mean --help?");
	expect_error("--zebra", "unknown option --zebra; see proftrace try --help");
	expect_error("-tz", "unknown option -z; see proftrace try --help");
	expect_error("--pid", "--pid needs a value (PID); see proftrace try --help");
	expect_error("-p abc", "--pid: 'abc' is not a whole number");
	expect_error("-p 0", "--pid: 0 is less than 1, the least allowed");
	expect_error("-p 4 -p 5", "--pid 5: give one process only");
	expect_error("-p 4,5", "--pid 4,5: give one process only");
	expect_error("--duration 0.0ms", "--duration: must be longer than 0");
	expect_error("--duration 5x", "--duration: '5x' is not a duration (5s, 200ms, 1m)");
	expect_error("--by-thread=1", "--by-thread takes no value, but was given '1'");
	expect_error("--sorted-by cal",
		     "--sorted-by: 'cal' is not one of cpu_total, cpu_avg, calls; "
		     "did you mean calls?");
}

Test(cli_opts, verbose_and_quiet_are_understood_everywhere)
{
	struct line l;

	cr_assert(zero(int, parse(&l, "--verbose", false)));
	cr_expect(eq(int, log_level, 2));
	cr_assert(zero(int, parse(&l, "-q", false)));
	cr_expect(eq(int, log_level, 0));
}
