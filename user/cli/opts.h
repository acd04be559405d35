/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parser, the help, the man page and the completion share about option tables. */
#ifndef PROFTRACE_OPTS_H
#define PROFTRACE_OPTS_H

#include "cli/cli.h"

/* --help, --version, --verbose, --quiet, --messages: each command has them. Ends with OPT_END. */
extern const struct opt common_opts[];
/* If this argument begins an option of all commands: how many arguments the option takes, else
 * 0. */
int opts__common_words(const char *text);

#define OPT_MAX_DEPTH 4 /* depth of tables that include tables */

/* Iterates over a table and the tables that it includes: for (struct opt_iter it =
 * opt_iter__begin(opts); opt_iter__next(&it);) use(&it.opt); */
struct opt_iter {
	struct opt opt; /* the current row; its offset counts from the outermost table's struct */
	struct {
		const struct opt *next;
		size_t offset;
	} level[OPT_MAX_DEPTH];
	int depth; /* levels in use */
};

/* opts may be NULL: no rows. */
struct opt_iter opt_iter__begin(const struct opt *opts);
/* False after the last row. Visits options and headings. */
bool opt_iter__next(struct opt_iter *it);

/* Finds the row of a long name (len bytes, may be unterminated). False if there is none. */
bool opt__by_name(const struct opt *opts, const char *name, size_t len, struct opt *found);
bool opt__by_short(const struct opt *opts, char short_name, struct opt *found);

static inline bool opt__takes_value(const struct opt *opt)
{
	return opt->type != OPT_FLAG && opt->type != OPT_GROUP;
}

/* Parses value and stores it at base + offset. value is NULL for a flag. 0 or -EINVAL with err__set
 * (for OPT_CUSTOM: what parse() returns). */
int opt__set(const struct opt *opt, const char *value, void *base);

#endif
