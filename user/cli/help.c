// SPDX-License-Identifier: BSD-2-Clause
#include "cli/help.h"
#include "cli/opts.h"
#include "common/util.h"
#include <string.h>

enum {
	DEFAULT_WIDTH = 80,
	MIN_WIDTH = 40,
	MAX_WIDTH = 100,  /* longer lines are hard to read */
	NAMES_WIDTH = 28, /* columns for the names of options, before their text */
};

struct page {
	FILE *out;
	size_t width;
	const char *bold, *dim, *plain; /* escape sequences, "" without colours */
};

/* Columns of UTF-8 text in which each character takes one column. */
static size_t columns(const char *text, size_t len)
{
	size_t cnt = 0;

	for (size_t i = 0; i < len; i++)
		cnt += ((unsigned char)text[i] & 0xc0) != 0x80;
	return cnt;
}

static void pad(FILE *out, size_t cnt)
{
	fprintf(out, "%*s", (int)cnt, "");
}

/* Fills text between indent and the page's width. column: where the cursor is. Ends the last
 * line. */
static void fill(const struct page *page, const char *text, size_t indent, size_t column)
{
	bool at_start = true;

	pad(page->out, indent > column ? indent - column : 0);
	column = indent;
	while (*(text += strspn(text, " \n"))) {
		size_t len = strcspn(text, " \n"), cols = columns(text, len);

		if (!at_start && column + 1 + cols > page->width) {
			fputc('\n', page->out);
			pad(page->out, indent);
			column = indent;
			at_start = true;
		}
		if (!at_start)
			fputc(' ', page->out);
		fwrite(text, 1, len, page->out);
		column += cols + !at_start;
		at_start = false;
		text += len;
	}
	fputc('\n', page->out);
}

static void heading(const struct page *page, const char *text)
{
	fprintf(page->out, "\n%s%s%s\n", page->bold, text, page->plain);
}

static void print_opt(const struct page *page, const struct opt *opt)
{
	char names[128];
	size_t column;
	int len;

	if (opt->short_name)
		len = snprintf(names, sizeof(names), "  -%c, --%s", opt->short_name, opt->name);
	else
		len = snprintf(names, sizeof(names), "      --%s", opt->name);
	fprintf(page->out, "%s%s%s", page->bold, names, page->plain);
	column = (size_t)len;
	if (opt->arg) {
		fprintf(page->out, " %s", opt->arg);
		column += 1 + columns(opt->arg, strlen(opt->arg));
	}
	if (!opt->help) {
		fputc('\n', page->out);
		return;
	}
	if (column + 2 > NAMES_WIDTH) {
		fputc('\n', page->out);
		column = 0;
	}
	fill(page, opt->help, NAMES_WIDTH, column);
	if (opt->choices) {
		char list[512];
		size_t used = 0;

		for (const char *const *c = opt->choices; *c && used < sizeof(list); c++)
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
						 used ? ", " : "One of: ", *c);
		fill(page, list, NAMES_WIDTH, 0);
	}
}

static void print_opts(const struct page *page, const struct opt *opts)
{
	bool has_heading = false;

	for (struct opt_iter it = opt_iter__begin(opts); opt_iter__next(&it);) {
		if (it.opt.type == OPT_GROUP)
			heading(page, it.opt.name);
		else if (!has_heading)
			heading(page, "Options");
		if (it.opt.type != OPT_GROUP)
			print_opt(page, &it.opt);
		has_heading = true;
	}
}

/* Fills paragraphs. Lines that begin with a blank stay as they are. */
static void print_text(const struct page *page, const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		const char *end = strstr(text, "\n\n");
		auto_free char *paragraph = NULL;

		if (len == 0) {
			fputc('\n', page->out);
			text++;
			continue;
		}
		if (text[0] == ' ') {
			fprintf(page->out, "%.*s\n", (int)len, text);
			text += len + (text[len] == '\n');
			continue;
		}
		len = end ? (size_t)(end - text) : strlen(text);
		paragraph = strndup(text, len);
		if (!paragraph)
			return;
		fill(page, paragraph, 0, 0);
		text += len + (text[len] == '\n');
	}
}

/* "command  # what it does" per line. */
static void print_examples(const struct page *page, const char *examples)
{
	heading(page, "Examples");
	while (*examples) {
		size_t len = strcspn(examples, "\n");
		const char *note = memmem(examples, len, "  #", 3);
		size_t command_len = note ? (size_t)(note - examples) : len;

		fprintf(page->out, "  %.*s", (int)command_len, examples);
		if (note)
			fprintf(page->out, "%s%.*s%s", page->dim, (int)(len - command_len), note,
				page->plain);
		fputc('\n', page->out);
		examples += len + (examples[len] == '\n');
	}
}

static void print_commands(const struct page *page, const struct command *const *all)
{
	heading(page, "Commands");
	for (const struct command *const *c = all; *c; c++) {
		if (!(*c)->name)
			continue;
		fprintf(page->out, "  %s%-12s%s", page->bold, (*c)->name, page->plain);
		fill(page, (*c)->summary, 16, 14);
	}
	fill(page, "proftrace COMMAND --help says more about each.", 2, 0);
}

void help__print(const struct command *const *all, const struct command *cmd, FILE *out, int width,
		 bool colours)
{
	struct page page = {
		.out = out,
		.width = width > 0 ? (size_t)width : DEFAULT_WIDTH,
		.bold = colours ? "\033[1m" : "",
		.dim = colours ? "\033[2m" : "",
		.plain = colours ? "\033[0m" : "",
	};

	if (page.width < MIN_WIDTH)
		page.width = MIN_WIDTH;
	if (page.width > MAX_WIDTH)
		page.width = MAX_WIDTH;
	fprintf(out, "%sUsage:%s proftrace %s%s%s\n", page.bold, page.plain,
		cmd->name ? cmd->name : "", cmd->name ? " " : "", cmd->usage);
	if (!cmd->name)
		fprintf(out, "       proftrace COMMAND [options] ...\n");
	fputc('\n', out);
	fill(&page, cmd->summary, 0, 0);
	if (!cmd->name)
		print_commands(&page, all);
	if (cmd->details) {
		fputc('\n', out);
		print_text(&page, cmd->details);
	}
	print_opts(&page, cmd->opts);
	print_opts(&page, common_opts);
	if (cmd->examples)
		print_examples(&page, cmd->examples);
}
