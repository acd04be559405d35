// SPDX-License-Identifier: BSD-2-Clause
/* Prints man pages from the command and option tables, in man(7) macros: proftrace.1 and one page
 * per command. */
#include "cli/help.h"
#include "cli/opts.h"
#include "common/util.h"
#include <ctype.h>
#include <string.h>

/* Prints text of one roff line. An unescaped '-' is a hyphen to roff; a leading '.' or ''' is a
 * request. */
static void put_text(FILE *out, const char *text, size_t len)
{
	if (len && (text[0] == '.' || text[0] == '\''))
		fputs("\\&", out);
	for (size_t i = 0; i < len; i++) {
		switch (text[i]) {
		case '-':
			fputs("\\-", out);
			break;
		case '\\':
			fputs("\\e", out);
			break;
		case '\n':
			fputc('\n', out);
			if (text[i + 1] == '.' || text[i + 1] == '\'')
				fputs("\\&", out);
			break;
		default:
			fputc(text[i], out);
		}
	}
}

static void put(FILE *out, const char *text)
{
	put_text(out, text, strlen(text));
}

/* Ends with a full stop, whether or not the table has one. */
static void put_sentence(FILE *out, const char *text, size_t len)
{
	put_text(out, text, len);
	fputs(len && strchr(".?!", text[len - 1]) ? "\n" : ".\n", out);
}

static void put_opt(FILE *out, const struct opt *opt)
{
	fputs(".TP\n\\fB", out);
	if (opt->short_name)
		fprintf(out, "\\-%c\\fR, \\fB", opt->short_name);
	fputs("\\-\\-", out);
	put(out, opt->name);
	fputs("\\fR", out);
	if (opt->arg) {
		fputs(" \\fI", out);
		put(out, opt->arg);
		fputs("\\fR", out);
	}
	fputc('\n', out);
	if (opt->help)
		put_sentence(out, opt->help, strlen(opt->help));
	if (opt->choices) {
		fputs("One of", out);
		for (const char *const *c = opt->choices; *c; c++) {
			fputs(c == opt->choices ? " \\fB" : ", \\fB", out);
			put(out, *c);
			fputs("\\fR", out);
		}
		fputs(".\n", out);
	}
}

static void put_opts(FILE *out, const struct opt *opts)
{
	for (struct opt_iter it = opt_iter__begin(opts); opt_iter__next(&it);) {
		if (it.opt.type == OPT_GROUP) {
			fputs(".PP\n\\fB", out);
			put(out, it.opt.name);
			fputs("\\fR\n", out);
		} else {
			put_opt(out, &it.opt);
		}
	}
}

/* Prints paragraphs. Lines that begin with a blank stay as they are. */
static void put_paragraphs(FILE *out, const char *text)
{
	bool verbatim = false;

	while (*text) {
		size_t len = strcspn(text, "\n");

		if (len == 0) {
			fputs(verbatim ? "" : ".PP\n", out);
		} else {
			if ((text[0] == ' ') != verbatim)
				fputs(verbatim ? ".EE\n.PP\n" : ".EX\n", out);
			verbatim = text[0] == ' ';
			put_text(out, text, len);
			fputc('\n', out);
		}
		text += len + (text[len] == '\n');
	}
	if (verbatim)
		fputs(".EE\n", out);
}

static void put_examples(FILE *out, const char *examples)
{
	while (*examples) {
		size_t len = strcspn(examples, "\n");
		const char *note = memmem(examples, len, "  #", 3);
		size_t command_len = note ? (size_t)(note - examples) : len;

		while (command_len && examples[command_len - 1] == ' ')
			command_len--;
		fputs(".TP\n\\fB", out);
		put_text(out, examples, command_len);
		fputs("\\fR\n", out);
		if (note) {
			size_t skip = 3 + strspn(note + 3, " ");

			put_sentence(out, note + skip, (size_t)(examples + len - note) - skip);
		} else {
			fputs("\\&\n", out);
		}
		examples += len + (examples[len] == '\n');
	}
}

static const char *name_of(const struct command *cmd)
{
	return cmd->name ? cmd->name : "record";
}

static void put_synopsis(FILE *out, const struct command *cmd)
{
	fputs("\\fBproftrace\\fR ", out);
	if (cmd->name)
		fprintf(out, "\\fB%s\\fR ", cmd->name);
	put(out, cmd->usage);
	fputc('\n', out);
}

/* Prints upper case, as titles of pages are. */
static void put_title(FILE *out, const char *command)
{
	fputs(".TH PROFTRACE", out);
	if (command)
		fputs("\\-", out);
	for (const char *c = command; c && *c; c++)
		fputc(toupper((unsigned char)*c), out);
	fprintf(out, " 1 \"\" \"proftrace %s\" \"User Commands\"\n", PROFTRACE_VERSION);
}

static void put_end(FILE *out, const struct command *own)
{
	fputs(".SH EXIT STATUS\n0 on success. 1 on failure. 2 if the command line, or a file named "
	      "on it, was not understood. 3 if a limit of diff \\-\\-fail\\-if is exceeded. run "
	      "passes on the status of its program.\n",
	      out);
	fputs(".SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR\nIf not empty, nothing is coloured.\n"
	      ".TP\n\\fBCOLUMNS\\fR\nThe width of tables that are not printed to a terminal.\n",
	      out);
	fputs(".SH SEE ALSO\n", out);
	if (own)
		fputs("\\fBproftrace\\fR(1), ", out);
	for (const struct command *const *c = commands__all(); *c; c++)
		if (*c != own)
			fprintf(out, "\\fBproftrace\\-%s\\fR(1), ", name_of(*c));
	fputs("\\fBperf\\fR(1)\n", out);
}

static void put_command(FILE *out, const struct command *cmd)
{
	put_title(out, name_of(cmd));
	fprintf(out, ".SH NAME\nproftrace\\-%s \\- ", name_of(cmd));
	put_text(out, cmd->summary, strcspn(cmd->summary, "."));
	fputs("\n.SH SYNOPSIS\n", out);
	put_synopsis(out, cmd);
	fputs(".SH DESCRIPTION\n", out);
	put(out, cmd->summary);
	fputs("\n.PP\n", out);
	if (cmd->details)
		put_paragraphs(out, cmd->details);
	fputs(".SH OPTIONS\n", out);
	put_opts(out, cmd->opts);
	put_opts(out, common_opts);
	if (cmd->examples) {
		fputs(".SH EXAMPLES\n", out);
		put_examples(out, cmd->examples);
	}
	put_end(out, cmd);
}

static void put_overview(FILE *out)
{
	const struct command *main_cmd = command__find(NULL);

	put_title(out, NULL);
	fputs(".SH NAME\nproftrace \\- profile running machine-learning jobs from outside\n", out);
	fputs(".SH SYNOPSIS\n", out);
	for (const struct command *const *c = commands__all(); *c; c++) {
		put_synopsis(out, *c);
		fputs(".br\n", out);
	}
	fputs(".SH DESCRIPTION\n", out);
	put(out, main_cmd->summary);
	fputs("\n.PP\n", out);
	if (main_cmd->details)
		put_paragraphs(out, main_cmd->details);
	fputs(".SH COMMANDS\n", out);
	for (const struct command *const *c = commands__all(); *c; c++) {
		fprintf(out, ".TP\n\\fBproftrace\\-%s\\fR(1)\n", name_of(*c));
		put(out, (*c)->summary);
		fputc('\n', out);
	}
	fputs(".SH EXAMPLES\n", out);
	for (const struct command *const *c = commands__all(); *c; c++)
		if ((*c)->examples)
			put_examples(out, (*c)->examples);
	put_end(out, NULL);
}

void man__print(const struct command *cmd, FILE *out)
{
	if (cmd)
		put_command(out, cmd);
	else
		put_overview(out);
}
