// SPDX-License-Identifier: BSD-2-Clause
#include "common/refused_link.h"
#include <limits.h>
#include "common/util.h"

#define PATH_SHOWN 600 /* bytes */

static _Thread_local char text[REFUSED_LINK_TEXT];

/* Puts "DIRECTORY/", without links in it, into path. "" if /proc is not mounted. */
static void find_directory(int dir, char path[PATH_MAX])
{
	char own[32];
	ssize_t len;

	snprintf(own, sizeof(own), "/proc/self/fd/%d", dir);
	len = readlink(own, path, PATH_MAX - 2);
	if (len > 0 && path[len - 1] != '/')
		path[len++] = '/';
	path[len > 0 ? len : 0] = '\0';
}

/* Removes each "../" from the begin of the target, and with each the directory's last component. */
static const char *leave(char *directory, const char *target)
{
	while (*directory && !strncmp(target, "../", 3)) {
		size_t len = strlen(directory) - 1;

		while (len && directory[len - 1] != '/')
			len--;
		directory[len ? len : 1] = '\0';
		target += 3;
	}
	return target;
}

void refused_link__set(int dir, const char *name)
{
	char directory[PATH_MAX], target[PATH_MAX];
	const ssize_t len = readlinkat(dir, name, target, sizeof(target) - 1);
	const char *rest = target;
	int used;

	target[len > 0 ? len : 0] = '\0';
	find_directory(dir, directory);
	used = snprintf(text, sizeof(text),
			"%.*s%s is a symbolic link, and proftrace writes through none that others "
			"may have made or moved; name what it leads to: ",
			PATH_SHOWN, directory, name);
	if (*target == '/')
		*directory = '\0';
	else
		rest = leave(directory, target);
	if (used < (int)sizeof(text))
		snprintf(text + used, sizeof(text) - (size_t)used, "%.*s%s", PATH_SHOWN, directory,
			 rest);
}

void refused_link__forget(void)
{
	text[0] = '\0';
}

const char *refused_link__text(void)
{
	return text;
}

void refused_link__take(const char *other)
{
	snprintf(text, sizeof(text), "%s", other);
}
