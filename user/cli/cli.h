/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands and options as data. One option table drives the parser, the help text, the man page and
 * the shell completion. A command is one file here and one row in commands.c.
 */
#ifndef PROFTRACE_CLI_H
#define PROFTRACE_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum opt_type {
	OPT_END = 0,
	OPT_GROUP,    /* a heading in the help */
	OPT_INCLUDE,  /* all rows of another table; offset is where its struct lies */
	OPT_FLAG,     /* bool */
	OPT_STRING,   /* const char * */
	OPT_UINT,     /* uint64_t, min..max; k, M, G suffixes where `unit` is "bytes" */
	OPT_DURATION, /* uint64_t nanoseconds; "5s", "200ms", "1m"; plain numbers are seconds */
	OPT_CHOICE,   /* int: index into choices */
	OPT_CUSTOM,   /* parse() */
};

struct opt {
	enum opt_type type;
	const char *name;  /* long name without dashes; OPT_GROUP: the heading */
	char short_name;   /* 0 if none */
	const char *arg;   /* name of the argument in the help ("PID", "A:B"), NULL for flags */
	const char *help;  /* sentences, which name the default */
	size_t offset;	   /* of the destination in the command's options struct */
	uint64_t min, max; /* OPT_UINT; max 0: no limit. OPT_DURATION: min 1 refuses 0 */
	const char *zero;  /* OPT_UINT: what the value 0 means; 0 is allowed even if it is less
			      than min */
	const char *unit;
	const char *const *choices; /* OPT_CHOICE, NULL-terminated */
	/* OPT_CUSTOM whose value is a comma-separated list: the words for completion; NULL after
	 * the last. */
	const char *(*word)(size_t index);
	const char *once; /* OPT_UINT: "one process": refused if given again or as a list */
	/* OPT_CUSTOM: parses value into dest, which is base + offset. 0, or a negative errno with
	 * err__set. */
	int (*parse)(const char *value, void *dest);
	bool file_arg;		   /* completion offers files */
	const struct opt *include; /* OPT_INCLUDE: the other table */
	const char *old_name;	   /* an earlier name, still accepted and never shown; NULL: none */
};

struct command {
	const char *name;     /* NULL: the default command, `proftrace -p PID ...` */
	const char *usage;    /* "[options] FILE" */
	const char *summary;  /* one line */
	const char *details;  /* help and man page, paragraphs */
	const char *examples; /* lines "command  # what it does" */
	const struct opt *opts;
	int (*run)(int argc, char **argv); /* exit status */
	/* Replaces run in commands that print about all commands. */
	int (*run_on_all)(const struct command *const *all, int argc, char **argv);
};

/*
 * Parses argv (argv[0] is skipped) into base. Stops at "--" or, if stop_at_positional, at the first
 * positional. *rest gets the index of the first positional (positionals are moved behind options).
 * Handles --version itself (prints, exits 0). HELP_WANTED for --help: end with cli__fail(), and main
 * prints it. -EINVAL with err__set otherwise: unknown options come with the nearest known one.
 */
#define HELP_WANTED 1
int opts__parse(const struct command *cmd, int argc, char **argv, void *base,
		bool stop_at_positional, int *rest);

/* Prints "proftrace: <remembered message>" and returns the exit status for the error:
 * 1 failure, 2 usage. For HELP_WANTED it prints nothing and returns STATUS_HELP. */
#define STATUS_HELP (-1)
int cli__fail(int err);

/* Flushes standard output. Returns the exit status for a command that would end with status; or 1
 * with a message, if its output could not be written (a full disk behind a redirection). */
int cli__finish(int status);

/* --width: a narrower table loses its figures. */
#define WIDTH_MIN 40
#define WIDTH_MAX 10000
/* Columns of a terminal. For anything else: COLUMNS, or 0. colours: a terminal and no NO_COLOR. */
int cli__width(int fd);
bool cli__colours(int fd);

#endif
