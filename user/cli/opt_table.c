// SPDX-License-Identifier: BSD-2-Clause
/* Iterates over option tables. */
#include "cli/opts.h"
#include <assert.h>
#include <string.h>

static const char *const message_formats[] = {"text", "json", NULL};

const struct opt common_opts[] = {
	{OPT_GROUP, "Common"},
	{OPT_FLAG, "help", 'h', .help = "Print this help and exit."},
	{OPT_FLAG, "version", 'V', .help = "Print the version and exit."},
	{OPT_FLAG, "verbose", 'v', .help = "Say more on stderr about what is done and found."},
	{OPT_FLAG, "quiet", 'q', .help = "Warnings and errors only on stderr."},
	{OPT_CHOICE, "messages", .arg = "FORMAT", .choices = message_formats,
	 .help = "Messages on stderr as text (default) or as json, an object with a key on each "
		 "line. PROFTRACE_MESSAGES=json does the same from the first message on."},
	{OPT_END},
};

struct opt_iter opt_iter__begin(const struct opt *opts)
{
	struct opt_iter it = {.depth = opts ? 1 : 0};

	it.level[0].next = opts;
	return it;
}

bool opt_iter__next(struct opt_iter *it)
{
	while (it->depth) {
		const struct opt *row = it->level[it->depth - 1].next++;
		size_t offset = it->level[it->depth - 1].offset;

		if (row->type == OPT_END) {
			it->depth--;
		} else if (row->type == OPT_INCLUDE) {
			assert(it->depth < OPT_MAX_DEPTH);
			it->level[it->depth].next = row->include;
			it->level[it->depth++].offset = offset + row->offset;
		} else {
			it->opt = *row;
			it->opt.offset += offset;
			return true;
		}
	}
	return false;
}

static bool is_name(const char *own, const char *name, size_t len)
{
	return own && strncmp(own, name, len) == 0 && own[len] == '\0';
}

bool opt__by_name(const struct opt *opts, const char *name, size_t len, struct opt *found)
{
	for (struct opt_iter it = opt_iter__begin(opts); opt_iter__next(&it);) {
		*found = it.opt;
		if (found->type != OPT_GROUP &&
		    (is_name(found->name, name, len) || is_name(found->old_name, name, len)))
			return true;
	}
	return false;
}

bool opt__by_short(const struct opt *opts, char short_name, struct opt *found)
{
	for (struct opt_iter it = opt_iter__begin(opts); opt_iter__next(&it);) {
		*found = it.opt;
		if (found->type != OPT_GROUP && found->short_name == short_name)
			return true;
	}
	return false;
}
