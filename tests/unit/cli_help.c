// SPDX-License-Identifier: BSD-2-Clause
#include "cli/help.h"
#include "cli/opts.h"
#include "common/util.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

static const char *const keys[] = {"cpu_total", "calls", NULL};

static const struct opt opts[] = {
	{OPT_GROUP, "What is recorded"},
	{OPT_UINT, "pid", 'p', "PID", "Process to attach to"},
	{OPT_CHOICE, "sorted-by", 0, "KEY", "Order of the rows (default cpu_total)",
	 .choices = keys},
	{OPT_FLAG, "a-long-flag-name-that-fills", 0, NULL,
	 "Its text starts on a line of its own, and wraps where the line is full"},
	{OPT_END},
};

static const struct command command = {
	.name = "try",
	.usage = "[options] FILE",
	.summary = "Tries things.",
	.details =
		"One paragraph that is longer than the narrow page of this test.\n\n  kept as is",
	.examples = "proftrace try x  # tries x",
	.opts = opts,
};

static char *help(const struct command *cmd, int width, bool colours)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	help__print(commands__all(), cmd, out, width, colours);
	fclose(out);
	return text;
}

Test(cli_help, is_made_of_the_table)
{
	static const char head[] = "Usage: proftrace try [options] FILE\n"
				   "\n"
				   "Tries things.\n"
				   "\n"
				   "One paragraph that is longer than the narrow page of this\n"
				   "test.\n"
				   "\n"
				   "  kept as is\n"
				   "\n"
				   "What is recorded\n"
				   "  -p, --pid PID             Process to attach to\n"
				   "      --sorted-by KEY       Order of the rows (default\n"
				   "                            cpu_total)\n"
				   "                            One of: cpu_total, calls\n"
				   "      --a-long-flag-name-that-fills\n"
				   "                            Its text starts on a line of its\n"
				   "                            own, and wraps where the line is\n"
				   "                            full\n"
				   "\n"
				   "Common\n";
	static const char tail[] = "\nExamples\n  proftrace try x  # tries x\n";
	auto_free char *text = help(&command, 60, false);
	size_t len = strlen(text);

	cr_assert(gt(sz, len, sizeof(head) + sizeof(tail)));
	cr_expect(zero(int, strncmp(text, head, sizeof(head) - 1)), "%s", text);
	cr_expect(eq(str, text + len - (sizeof(tail) - 1), (char *)tail));
}

static size_t longest_line(const char *text)
{
	size_t longest = 0;

	while (*text) {
		size_t len = strcspn(text, "\n");

		longest = len > longest ? len : longest;
		text += len + (text[len] == '\n');
	}
	return longest;
}

Test(cli_help, every_command_fits_the_terminal)
{
	for (const struct command *const *c = commands__all(); *c; c++) {
		struct command without_examples = **c;
		auto_free char *text = NULL;

		/* Commands to copy are not broken, and verbatim lines are the author's. */
		without_examples.examples = NULL;
		without_examples.details = NULL;
		without_examples.usage = "";
		text = help(&without_examples, 80, false);
		cr_expect(le(sz, longest_line(text), 80), "%s", text);
	}
}

Test(cli_help, colours_only_where_asked_for)
{
	auto_free char *plain = help(&command, 80, false);
	auto_free char *coloured = help(&command, 80, true);

	cr_expect(eq(int, strchr(plain, '\033') != NULL, 0));
	cr_expect(eq(int, strstr(coloured, "\033[1m") != NULL, 1));
}

static size_t rows_named(const struct opt *table, const struct opt *as)
{
	size_t cnt = 0;

	for (struct opt_iter it = opt_iter__begin(table); opt_iter__next(&it);)
		if (it.opt.type != OPT_GROUP)
			cnt += !strcmp(it.opt.name, as->name) ||
			       (as->short_name && it.opt.short_name == as->short_name);
	return cnt;
}

/* An option without a word of help, or two with one name, is a mistake in a table. */
static void expect_whole(const struct command *cmd, const struct opt *opt)
{
	const char *command_name = cmd->name ? cmd->name : "(default)";
	size_t len = opt->help ? strlen(opt->help) : 0;

	cr_assert(gt(sz, len, 1), "%s --%s has no help", command_name, opt->name);
	cr_expect(eq(chr, opt->help[len - 1], '.'), "%s --%s", command_name, opt->name);
	cr_expect(eq(int, opt__takes_value(opt), opt->arg != NULL), "%s --%s", command_name,
		  opt->name);
	cr_expect(eq(sz, rows_named(cmd->opts, opt) + rows_named(common_opts, opt), 1),
		  "%s --%s or its letter appears twice", command_name, opt->name);
}

Test(cli_help, tables_are_whole)
{
	for (const struct command *const *c = commands__all(); *c; c++) {
		cr_expect(eq(int, (*c)->usage && (*c)->summary, 1));
		cr_expect(eq(int, !(*c)->run, !!(*c)->run_on_all));
		for (struct opt_iter it = opt_iter__begin((*c)->opts); opt_iter__next(&it);) {
			cr_assert(ne(ptr, (void *)it.opt.name, NULL));
			if (it.opt.type != OPT_GROUP)
				expect_whole(*c, &it.opt);
		}
	}
}

static char *page(const struct command *cmd)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	man__print(cmd, out);
	fclose(out);
	return text;
}

Test(cli_help, a_man_page_has_every_option_of_its_command)
{
	auto_free char *first = page(NULL);

	cr_expect(zero(int, strncmp(first, ".TH PROFTRACE 1 ", 16)));
	for (const struct command *const *c = commands__all(); *c; c++) {
		auto_free char *text = page(*c);

		cr_expect(zero(int, strncmp(text, ".TH PROFTRACE\\-", 15)));
		for (struct opt_iter it = opt_iter__begin((*c)->opts); opt_iter__next(&it);) {
			char escaped[128] = "\\-\\-", *end = escaped + 4;

			if (it.opt.type == OPT_GROUP)
				continue;
			for (const char *n = it.opt.name; *n; n++)
				end += sprintf(end, *n == '-' ? "\\-" : "%c", *n);
			cr_expect(eq(int, strstr(text, escaped) != NULL, 1), "--%s", it.opt.name);
		}
	}
}
