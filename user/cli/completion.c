// SPDX-License-Identifier: BSD-2-Clause
/*
 * Completion scripts from the command and option tables. The shells differ only in syntax. So each
 * shell is a few functions that write one option, one command, a begin and an end.
 */
#include "cli/help.h"
#include "cli/opts.h"
#include "common/err.h"
#include "cli/message_table.h"
#include "common/util.h"
#include <string.h>

/* How the value of an option, or a positional argument, is completed. */
enum value_kind {
	VALUE_FREE,
	VALUE_CHOICES,
	VALUE_LIST, /* words, separated by commas */
	VALUE_FILES,
	VALUE_PIDS,
	VALUE_COMMAND,
};

static enum value_kind opt_kind(const struct opt *opt)
{
	if (opt->choices)
		return VALUE_CHOICES;
	if (opt->word)
		return VALUE_LIST;
	if (opt->file_arg)
		return VALUE_FILES;
	if (opt->arg && strncmp(opt->arg, "PID", 3) == 0)
		return VALUE_PIDS;
	return VALUE_FREE;
}

static enum value_kind positional_kind(const struct command *cmd)
{
	if (strstr(cmd->usage, "FILE"))
		return VALUE_FILES;
	if (strstr(cmd->usage, "-- "))
		return VALUE_COMMAND;
	return strchr(cmd->usage, '|') ? VALUE_CHOICES : VALUE_FREE;
}

/* Prints the words that the option's value can be or contain, separated by blanks. */
static void put_words(FILE *out, const struct opt *opt)
{
	const char *word;

	for (size_t i = 0; (word = opt->choices ? opt->choices[i] : opt->word(i)); i++)
		fprintf(out, "%s%s", i ? " " : "", word);
}

/* Prints the words of a command whose usage is "a|b". */
static void put_positionals(FILE *out, const struct command *cmd)
{
	for (const char *c = cmd->usage; *c; c++)
		fputc(*c == '|' ? ' ' : *c, out);
}

/* Prints help text inside single quotes, without characters that have a meaning in a zsh
 * specification. */
static void put_quoted(FILE *out, const char *text, const char *escaped)
{
	for (; text && *text; text++) {
		if (*text == '\'')
			fputs("'\\''", out);
		else if (strchr(escaped, *text))
			fprintf(out, "\\%c", *text);
		else
			fputc(*text, out);
	}
}

/* ---- bash ---- */

static const char *const bash_reply[] = {
	[VALUE_FREE] = "return",
	[VALUE_FILES] = "COMPREPLY=($(compgen -f -- \"$cur\")); return",
	[VALUE_PIDS] =
		"COMPREPLY=($(compgen -W \"$(cd /proc && echo [0-9]*)\" -- \"$cur\")); return",
	[VALUE_COMMAND] = "COMPREPLY=($(compgen -c -- \"$cur\")); return",
};

static void bash_names(FILE *out, const struct opt *opts)
{
	for (struct opt_iter it = opt_iter__begin(opts); opt_iter__next(&it);)
		if (it.opt.type != OPT_GROUP)
			fprintf(out, " --%s", it.opt.name);
}

static void bash_value(FILE *out, const struct opt *opt)
{
	enum value_kind kind = opt_kind(opt);

	fprintf(out, "\t\t--%s", opt->name);
	if (opt->short_name)
		fprintf(out, " | -%c", opt->short_name);
	fputs(") ", out);
	if (kind == VALUE_CHOICES) {
		fputs("COMPREPLY=($(compgen -W '", out);
		put_words(out, opt);
		fputs("' -- \"$cur\")); return", out);
	} else if (kind == VALUE_LIST) {
		fputs("_proftrace_list '", out);
		put_words(out, opt);
		fputs("'; return", out);
	} else {
		fputs(bash_reply[kind], out);
	}
	fputs(" ;;\n", out);
}

static void bash_command(FILE *out, const struct command *cmd)
{
	enum value_kind kind = positional_kind(cmd);

	fprintf(out, "\t%s)\n\t\tcase $prev in\n", cmd->name ? cmd->name : "''");
	for (struct opt_iter it = opt_iter__begin(cmd->opts); opt_iter__next(&it);)
		if (opt__takes_value(&it.opt))
			bash_value(out, &it.opt);
	fputs("\t\tesac\n\t\tnames='", out);
	bash_names(out, cmd->opts);
	bash_names(out, common_opts);
	if (kind == VALUE_CHOICES) {
		fputc(' ', out);
		put_positionals(out, cmd);
	}
	fputs("'\n", out);
	if (bash_reply[kind] && kind != VALUE_FREE)
		fprintf(out, "\t\tif [[ $cur != -* ]]; then %s; fi\n", bash_reply[kind]);
	fputs("\t\t;;\n", out);
}

static void bash_print(const struct command *const *all, FILE *out)
{
	fputs("# bash completion for proftrace\n"
	      "_proftrace_list() {\n"
	      "\tlocal done=${cur%\"${cur##*,}\"}\n"
	      "\tcompopt -o nospace 2>/dev/null # a comma may follow\n"
	      "\tCOMPREPLY=($(compgen -P \"$done\" -W \"$1\" -- \"${cur##*,}\"))\n"
	      "}\n"
	      "_proftrace() {\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} cmd= names=\n"
	      "\t# --option=value: bash splits words at '='\n"
	      "\tif [[ $cur == = ]]; then cur=; "
	      "elif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
	      "\t[[ $COMP_CWORD -gt 1 && ${COMP_WORDS[1]} != -* ]] && cmd=${COMP_WORDS[1]}\n"
	      "\tCOMPREPLY=()\n"
	      "\tcase $cmd in\n",
	      out);
	for (const struct command *const *c = all; *c; c++)
		bash_command(out, *c);
	fputs("\thelp) names='", out);
	for (const struct command *const *c = all; *c; c++)
		if ((*c)->name)
			fprintf(out, " %s", (*c)->name);
	fputs("' ;;\n\tesac\n\t[[ -z $cmd && $cur != -* ]] && names='help", out);
	for (const struct command *const *c = all; *c; c++)
		if ((*c)->name)
			fprintf(out, " %s", (*c)->name);
	fputs("'\n\tCOMPREPLY=($(compgen -W \"$names\" -- \"$cur\"))\n"
	      "}\n"
	      "complete -o filenames -F _proftrace proftrace\n",
	      out);
}

/* ---- zsh ---- */

static const char *const zsh_action[] = {
	[VALUE_FREE] = " ",
	[VALUE_FILES] = "_files",
	[VALUE_PIDS] = "_pids",
	[VALUE_COMMAND] = "_normal",
};

static void zsh_spec(FILE *out, const struct opt *opt)
{
	fputs("\t\t", out);
	if (opt->short_name)
		fprintf(out, "'(-%c --%s)'{-%c,--%s}'", opt->short_name, opt->name, opt->short_name,
			opt->name);
	else
		fprintf(out, "'--%s", opt->name);
	if (opt__takes_value(opt) && !opt->short_name)
		fputc('=', out);
	fputc('[', out);
	put_quoted(out, opt->help, "[]:\\");
	fputc(']', out);
	if (opt__takes_value(opt)) {
		enum value_kind kind = opt_kind(opt);

		fputc(':', out);
		put_quoted(out, opt->arg ? opt->arg : "value", "[]:\\");
		fputc(':', out);
		if (kind == VALUE_CHOICES) {
			fputc('(', out);
			put_words(out, opt);
			fputc(')', out);
		} else if (kind == VALUE_LIST) {
			fputs("_values -s , name ", out);
			put_words(out, opt);
		} else {
			fputs(zsh_action[kind], out);
		}
	}
	fputs("' \\\n", out);
}

static void zsh_specs(FILE *out, const struct opt *opts)
{
	for (struct opt_iter it = opt_iter__begin(opts); opt_iter__next(&it);)
		if (it.opt.type != OPT_GROUP)
			zsh_spec(out, &it.opt);
}

static void zsh_command(FILE *out, const struct command *cmd)
{
	enum value_kind kind = positional_kind(cmd);

	fprintf(out, "\t%s)\n\t\t_arguments -s \\\n", cmd->name ? cmd->name : "''");
	zsh_specs(out, cmd->opts);
	zsh_specs(out, common_opts);
	if (kind == VALUE_CHOICES) {
		fputs("\t\t'1: :(", out);
		put_positionals(out, cmd);
		fputs(")'\n", out);
	} else if (kind != VALUE_FREE) {
		fprintf(out, "\t\t'*%s: :%s'\n", kind == VALUE_COMMAND ? ":" : "",
			zsh_action[kind]);
	} else {
		fputs("\t\t&& return\n", out);
	}
	fputs("\t\t;;\n", out);
}

static void zsh_print(const struct command *const *all, FILE *out)
{
	fputs("#compdef proftrace\n"
	      "_proftrace() {\n"
	      "\tlocal cmd=\n"
	      "\tlocal -a commands\n"
	      "\tcommands=(\n",
	      out);
	for (const struct command *const *c = all; *c; c++) {
		if (!(*c)->name)
			continue;
		fprintf(out, "\t\t'%s:", (*c)->name);
		put_quoted(out, (*c)->summary, ":\\");
		fputs("'\n", out);
	}
	fputs("\t\t'help:Help of a command'\n\t)\n"
	      "\tif (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n"
	      "\t\t_describe command commands\n\t\treturn\n\tfi\n"
	      "\tif [[ $words[2] != -* ]]; then\n"
	      "\t\tcmd=$words[2]\n\t\tshift words\n\t\t(( CURRENT-- ))\n\tfi\n"
	      "\tcase $cmd in\n",
	      out);
	for (const struct command *const *c = all; *c; c++)
		zsh_command(out, *c);
	fputs("\thelp) _describe command commands ;;\n"
	      "\tesac\n"
	      "}\n"
	      "compdef _proftrace proftrace\n",
	      out);
}

/* ---- fish ---- */

static const char *const fish_value[] = {
	[VALUE_FREE] = " -x",
	[VALUE_FILES] = " -rF",
	[VALUE_PIDS] = " -xa '(__fish_complete_pids)'",
	[VALUE_COMMAND] = "",
};

/* condition: a fish test that must be true, inside single quotes. */
static void fish_opt(FILE *out, const char *condition, const struct opt *opt)
{
	enum value_kind kind = opt_kind(opt);

	fprintf(out, "complete -c proftrace%s -l %s", condition, opt->name);
	if (opt->short_name)
		fprintf(out, " -s %c", opt->short_name);
	if (kind == VALUE_CHOICES) {
		fputs(" -xa '", out);
		put_words(out, opt);
		fputc('\'', out);
	} else if (kind == VALUE_LIST) {
		fputs(" -xa '(__fish_complete_list , \"string split \\\" \\\" \\\"", out);
		put_words(out, opt);
		fputs("\\\"\")'", out);
	} else if (opt__takes_value(opt)) {
		fputs(fish_value[kind], out);
	}
	fputs(" -d '", out);
	put_quoted(out, opt->help, "\\");
	fputs("'\n", out);
}

static void fish_opts(FILE *out, const char *condition, const struct opt *opts)
{
	for (struct opt_iter it = opt_iter__begin(opts); opt_iter__next(&it);)
		if (it.opt.type != OPT_GROUP)
			fish_opt(out, condition, &it.opt);
}

static void fish_command(FILE *out, const struct command *cmd)
{
	char condition[128];

	if (!cmd->name) {
		fish_opts(out, " -n __fish_use_subcommand", cmd->opts);
		return;
	}
	fprintf(out, "complete -c proftrace -n __fish_use_subcommand -a %s -d '", cmd->name);
	put_quoted(out, cmd->summary, "\\");
	fputs("'\n", out);
	snprintf(condition, sizeof(condition), " -n '__fish_seen_subcommand_from %s'", cmd->name);
	fish_opts(out, condition, cmd->opts);
	if (positional_kind(cmd) == VALUE_FILES)
		fprintf(out, "complete -c proftrace%s -F\n", condition);
	if (positional_kind(cmd) == VALUE_COMMAND)
		fprintf(out, "complete -c proftrace%s -a '(__fish_complete_subcommand)'\n",
			condition);
	if (positional_kind(cmd) == VALUE_CHOICES) {
		fprintf(out, "complete -c proftrace%s -a '", condition);
		put_positionals(out, cmd);
		fputs("'\n", out);
	}
}

static void fish_print(const struct command *const *all, FILE *out)
{
	fputs("# fish completion for proftrace\ncomplete -c proftrace -f\n", out);
	for (const struct command *const *c = all; *c; c++)
		fish_command(out, *c);
	fish_opts(out, "", common_opts);
}

static const struct {
	const char *name;
	void (*print)(const struct command *const *all, FILE *out);
} shells[] = {{"bash", bash_print}, {"zsh", zsh_print}, {"fish", fish_print}};

int completion__print(const struct command *const *all, const char *shell, FILE *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(shells); i++) {
		if (strcmp(shells[i].name, shell) == 0) {
			shells[i].print(all, out);
			return 0;
		}
	}
	return err__set(-EINVAL, MESSAGE_COMPLETION_SHELL_UNKNOWN, shell);
}
