// SPDX-License-Identifier: BSD-2-Clause
#include "cli/config_file.h"
#include <ctype.h>
#include <string.h>
#include "cli/opts.h"
#include "common/err.h"
#include "common/regular_file.h"
#include "common/suggest.h"
#include "common/util.h"

#define CONFIG_BYTES_MAX (1u << 20)

static char *trim(char *text)
{
	char *end = text + strlen(text);

	while (isspace((unsigned char)*text))
		text++;
	while (end > text && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return text;
}

/* What says where options come from is for the command line alone. */
static bool is_settable(const struct opt *opt)
{
	return opt__takes_value(opt) && strcmp(opt->name, "config") != 0;
}

static int unknown(const struct command *cmd, const char *name)
{
	struct suggestion near = {.word = name, .len = strlen(name)};

	for (struct opt_iter it = opt_iter__begin(cmd->opts); opt_iter__next(&it);)
		if (it.opt.type != OPT_GROUP && is_settable(&it.opt))
			suggest__offer(&near, it.opt.name);
	return err__set(-EINVAL, "unknown option %s%s%s%s", name,
			near.best ? "; did you mean " : "", near.best ? near.best : "",
			near.best ? "?" : "");
}

static int set(const struct command *cmd, char *line, void *base)
{
	char *equals = strchr(line, '='), *name;
	struct opt opt;

	if (!equals)
		return err__set(-EINVAL, "give a line NAME = VALUE, not '%s'", line);
	*equals = '\0';
	name = trim(line);
	if (!opt__by_name(cmd->opts, name, strlen(name), &opt) || !is_settable(&opt))
		return unknown(cmd, name);
	return opt__set(&opt, trim(equals + 1), base);
}

static int take_section(const struct command *cmd, const char *line)
{
	const size_t len = strlen(cmd->name);

	if (!strncmp(line + 1, cmd->name, len) && !strcmp(line + 1 + len, "]"))
		return 0;
	return err__set(-EINVAL, "no section but [%s] is known, not %s", cmd->name, line);
}

static int take_line(const struct command *cmd, char *line, void *base)
{
	line = trim(line);
	if (!*line || *line == '#' || *line == ';')
		return 0;
	return *line == '[' ? take_section(cmd, line) : set(cmd, line, base);
}

static int read_text(const char *path, char **text)
{
	auto_close int fd = regular_file__open(path);
	char name[32];
	bool cut = false;

	if (fd < 0)
		return err__set(fd, "--config %s: %s", path,
				fd == -EINVAL ? "it is no file" : strerror(-fd));
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	*text = file__read_up_to(name, CONFIG_BYTES_MAX, NULL, &cut);
	if (!*text)
		return err__set(-errno, "--config %s: %s", path, strerror(errno));
	return cut ? err__set(-EFBIG, "--config %s: it has more than 1 MiB", path) : 0;
}

int config_file__read(const char *path, const struct command *cmd, void *base, char **text)
{
	int err = read_text(path, text), number = 0;

	for (char *line = *text, *next; !err && line; line = next) {
		char why[512];

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		number++;
		err = take_line(cmd, line, base);
		if (!err)
			continue;
		snprintf(why, sizeof(why), "%s", err__take(err));
		err__set(err, "%s, line %d: %s", path, number, why);
	}
	return err;
}
