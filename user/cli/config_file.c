// SPDX-License-Identifier: BSD-2-Clause
#include "cli/config_file.h"
#include <ctype.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/opts.h"
#include "common/err.h"
#include "cli/message_table.h"
#include "common/out_path.h"
#include "common/regular_file.h"
#include "common/suggest.h"
#include "common/util.h"

#define CONFIG_BYTES_MAX (1u << 20)
/* Only these characters of a file are quoted in messages, because the user may not be allowed to
 * read the file. */
#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyz-_"

static char *trim(char *text)
{
	char *end = text + strlen(text);

	while (isspace((unsigned char)*text))
		text++;
	while (end > text && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return text;
}

/* Options that name files of options are for the command line alone. */
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
	if (near.best)
		return err__set(-EINVAL, MESSAGE_CONFIG_OPTION_UNKNOWN_SUGGESTED,
				(int)strspn(name, NAME_CHARACTERS), name, near.best);
	return err__set(-EINVAL, MESSAGE_CONFIG_OPTION_UNKNOWN, (int)strspn(name, NAME_CHARACTERS),
			name);
}

/* A quotation mark is an error. Other files allow it, but here it would become part of a pattern
 * that never matches. */
static int check_value(const char *name, const char *value)
{
	if (*value == '"' || *value == '\'')
		return err__set(-EINVAL, MESSAGE_CONFIG_VALUE_QUOTED, name);
	for (const char *at = value; *at; at++)
		if (at > value && (*at == '#' || *at == ';') && isspace((unsigned char)at[-1]))
			return err__set(-EINVAL, MESSAGE_CONFIG_COMMENT_BEHIND_VALUE, name);
	return 0;
}

static int set(const struct command *cmd, char *line, void *base)
{
	char *equals = strchr(line, '='), *name, *value;
	struct opt opt;
	int err;

	if (!equals)
		return err__set(-EINVAL, MESSAGE_CONFIG_LINE_INVALID,
				(int)strspn(line, NAME_CHARACTERS), line);
	*equals = '\0';
	name = trim(line);
	if (!opt__by_name(cmd->opts, name, strlen(name), &opt) || !is_settable(&opt))
		return unknown(cmd, name);
	value = trim(equals + 1);
	err = check_value(name, value);
	return err ? err : opt__set(&opt, value, base);
}

static int take_section(const struct command *cmd, const char *line)
{
	const size_t len = strlen(cmd->name);

	if (!strncmp(line + 1, cmd->name, len) && !strcmp(line + 1 + len, "]"))
		return 0;
	return err__set(-EINVAL, MESSAGE_CONFIG_SECTION_UNKNOWN, cmd->name,
			(int)strspn(line + 1, NAME_CHARACTERS), line + 1);
}

static int take_line(const struct command *cmd, char *line, void *base)
{
	line = trim(line);
	if (!*line || *line == '#' || *line == ';')
		return 0;
	return *line == '[' ? take_section(cmd, line) : set(cmd, line, base);
}

/* Root follows this file. Who can change it could make root remove recordings of any directory. */
static int check_owner(const char *path, int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return err__set(-errno, MESSAGE_CONFIG_UNREADABLE, path, strerror(errno));
	if (geteuid() || (out_path__is_trusted(&st) && !(st.st_mode & 022)))
		return 0;
	return err__set(-EPERM, MESSAGE_CONFIG_WRITABLE_BY_OTHERS, path);
}

static int read_text(const char *path, char **text)
{
	auto_close int fd = regular_file__open(path);
	char name[32];
	bool cut = false;
	size_t len = 0;
	int err;

	if (fd < 0)
		return err__set(fd, MESSAGE_CONFIG_UNREADABLE, path,
				fd == -EINVAL ? "it is no file" : strerror(-fd));
	err = check_owner(path, fd);
	if (err)
		return err;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	*text = file__read_up_to(name, CONFIG_BYTES_MAX, &len, &cut);
	if (!*text)
		return err__set(-errno, MESSAGE_CONFIG_UNREADABLE, path, strerror(errno));
	if (cut)
		return err__set(-EFBIG, MESSAGE_CONFIG_TOO_LARGE, path);
	return strlen(*text) == len ? 0 : err__set(-EINVAL, MESSAGE_CONFIG_BINARY, path);
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
		err__set(err, MESSAGE_CONFIG_LINE, path, number, why);
	}
	return err;
}
