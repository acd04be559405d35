// SPDX-License-Identifier: BSD-2-Clause
#include "cli/opts.h"
#include "common/suggest.h"
#include "common/err.h"
#include "cli/message_table.h"
#include "common/message_table.h"
#include "common/util.h"
#include <string.h>

struct parser {
	const struct command *cmd;
	char **argv;
	int argc;
	int next; /* the argument to look at next */
	void *base;
};

/* " report", or "" for the default command: the part between "proftrace" and "--help". */
static const char *see_help(const struct command *cmd)
{
	static _Thread_local char text[128];

	snprintf(text, sizeof(text), "see proftrace %s%s--help", cmd->name ? cmd->name : "",
		 cmd->name ? " " : "");
	return text;
}

static void offer_names(struct suggestion *s, const struct opt *opts)
{
	for (struct opt_iter it = opt_iter__begin(opts); opt_iter__next(&it);)
		if (it.opt.type != OPT_GROUP)
			suggest__offer(s, it.opt.name);
}

static int unknown_long(const struct parser *p, const char *name, size_t len)
{
	struct suggestion near = {.word = name, .len = len};

	offer_names(&near, p->cmd->opts);
	offer_names(&near, common_opts);
	if (near.best)
		return err__set(-EINVAL, MESSAGE_OPTION_UNKNOWN_SUGGESTED, (int)len, name,
				near.best);
	return err__set(-EINVAL, MESSAGE_OPTION_UNKNOWN, (int)len, name, see_help(p->cmd));
}

static int set_message_format(const struct opt *opt, const char *value)
{
	int choice = 0, err = opt__set(opt, value, &choice);

	if (!err)
		log__set_json(choice);
	return err;
}

/* 0, HELP_WANTED or -EINVAL */
static int apply_common(const struct opt *opt, const char *value)
{
	switch (opt->short_name) {
	case 'h':
		return HELP_WANTED;
	case 'V':
		printf("proftrace %s\n", PROFTRACE_VERSION);
		exit(cli__finish(0));
	case 'v':
		log_level = 2;
		break;
	case 'q':
		log_level = 0;
		break;
	default:
		return set_message_format(opt, value);
	}
	return 0;
}

/* Applies the value. If value is NULL and the option needs one, it takes the next argument. */
static int apply(struct parser *p, const struct opt *opt, bool is_common, const char *value)
{
	if (!value && opt__takes_value(opt)) {
		if (p->next >= p->argc)
			return err__set(-EINVAL, MESSAGE_OPTION_NEEDS_VALUE, opt->name,
					opt->arg ? opt->arg : "VALUE", see_help(p->cmd));
		value = p->argv[p->next++];
	}
	return is_common ? apply_common(opt, value) : opt__set(opt, value, p->base);
}

static int parse_long(struct parser *p, const char *text)
{
	size_t len = strcspn(text, "=");
	const char *value = text[len] ? text + len + 1 : NULL;
	bool is_own, is_known;
	struct opt opt;

	is_own = opt__by_name(p->cmd->opts, text, len, &opt);
	is_known = is_own || opt__by_name(common_opts, text, len, &opt);
	if (!is_known)
		return unknown_long(p, text, len);
	if (value && !opt__takes_value(&opt))
		return err__set(-EINVAL, MESSAGE_OPTION_TAKES_NO_VALUE, opt.name, value);
	return apply(p, &opt, !is_own, value);
}

int opts__common_words(const char *text)
{
	struct opt opt;
	size_t len;

	if (text[0] != '-' || !text[1])
		return 0;
	if (text[1] != '-')
		return !text[2] && opt__by_short(common_opts, text[1], &opt);
	text += 2;
	len = strcspn(text, "=");
	if (!opt__by_name(common_opts, text, len, &opt))
		return 0;
	return opt__takes_value(&opt) && !text[len] ? 2 : 1;
}

/* For example -v, -vq, -p42, -vp 42. */
static int parse_shorts(struct parser *p, const char *text)
{
	for (; *text; text++) {
		bool is_own, is_known;
		struct opt opt;
		int err;

		is_own = opt__by_short(p->cmd->opts, *text, &opt);
		is_known = is_own || opt__by_short(common_opts, *text, &opt);
		if (!is_known)
			return err__set(-EINVAL, MESSAGE_OPTION_LETTER_UNKNOWN, *text,
					see_help(p->cmd));
		/* With a file option, "=" would be part of the name. */
		if (opt__takes_value(&opt) && text[1] == '=')
			return err__set(-EINVAL, MESSAGE_OPTION_LETTER_WITH_EQUALS, *text, text + 1,
					*text,
					text[2]	  ? text + 2
					: opt.arg ? opt.arg
						  : "VALUE",
					opt.name, text + 1);
		if (opt__takes_value(&opt))
			return apply(p, &opt, !is_own, text[1] ? text + 1 : NULL);
		err = apply(p, &opt, !is_own, NULL);
		if (err)
			return err;
	}
	return 0;
}

/* Moves the positionals after the options and keeps both in order. Returns where they begin. */
static int permute(char **argv, int argc, const bool *is_positional, char **sorted)
{
	int cnt = 1, rest;

	sorted[0] = argv[0];
	for (int i = 1; i < argc; i++)
		if (!is_positional[i])
			sorted[cnt++] = argv[i];
	rest = cnt;
	for (int i = 1; i < argc; i++)
		if (is_positional[i])
			sorted[cnt++] = argv[i];
	memcpy(argv, sorted, (size_t)argc * sizeof(*argv));
	return rest;
}

/* Applies the options and marks the positionals. */
static int parse_all(struct parser *p, bool stop_at_positional, bool *is_positional)
{
	while (p->next < p->argc) {
		const char *text = p->argv[p->next];
		int err;

		if (text[0] != '-' || text[1] == '\0') {
			if (stop_at_positional)
				break;
			is_positional[p->next++] = true;
			continue;
		}
		p->next++;
		if (strcmp(text, "--") == 0)
			break;
		err = text[1] == '-' ? parse_long(p, text + 2) : parse_shorts(p, text + 1);
		if (err)
			return err;
	}
	while (p->next < p->argc)
		is_positional[p->next++] = true;
	return 0;
}

int opts__parse(const struct command *cmd, int argc, char **argv, void *base,
		bool stop_at_positional, int *rest)
{
	struct parser p = {.cmd = cmd, .argv = argv, .argc = argc, .next = 1, .base = base};
	auto_free bool *is_positional = calloc((size_t)argc + 1, sizeof(*is_positional));
	auto_free char **sorted = calloc((size_t)argc + 1, sizeof(*sorted));
	int err;

	if (!is_positional || !sorted)
		return err__set(-ENOMEM, MESSAGE_OUT_OF_MEMORY);
	err = parse_all(&p, stop_at_positional, is_positional);
	if (err)
		return err;
	*rest = argc > 0 ? permute(argv, argc, is_positional, sorted) : 0;
	return 0;
}
