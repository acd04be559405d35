// SPDX-License-Identifier: BSD-2-Clause
#include "cli/place.h"
#include "common/err.h"
#include "cli/message_table.h"
#include "common/util.h"
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SHOWN 200 /* bytes shown of a path that is too long */

static int refuse(int err, const char *path, const char *what)
{
	const char *cut = strlen(path) > SHOWN ? "..." : "";
	const char *why = strerror(err);

	switch (err) {
	case ENOENT:
		return err__set(-err, MESSAGE_PLACE_DIRECTORY_MISSING, what, SHOWN, path, cut, why);
	case ENOTDIR:
		return err__set(-err, MESSAGE_PLACE_IN_FILE, what, SHOWN, path, cut, why);
	case ENAMETOOLONG:
		return err__set(-err, MESSAGE_PLACE_NAME_TOO_LONG, what, SHOWN, path, cut, why);
	default:
		return err__set(-err, MESSAGE_PLACE_NOT_WRITABLE, what, SHOWN, path, cut, why);
	}
}

bool place__is_directory(const char *path)
{
	struct stat st;

	return path[0] &&
	       (path[strlen(path) - 1] == '/' || (!stat(path, &st) && S_ISDIR(st.st_mode)));
}

int place__mark_directory(const char *path, char **out)
{
	const bool add = path && place__is_directory(path) && path[strlen(path) - 1] != '/';

	*out = NULL;
	if (!path)
		return 0;
	if (asprintf(out, "%s%s", path, add ? "/" : "") < 0) {
		*out = NULL;
		return -ENOMEM;
	}
	return 0;
}

/* The resolved directory of path; NULL if it does not exist. Owned. */
static char *directory_of(const char *path)
{
	char copy[PATH_MAX];

	snprintf(copy, sizeof(copy), "%s", path);
	return realpath(dirname(copy), NULL);
}

static bool is_same_name(const char *a, const char *b)
{
	char x[PATH_MAX], y[PATH_MAX];

	snprintf(x, sizeof(x), "%s", a);
	snprintf(y, sizeof(y), "%s", b);
	return !strcmp(basename(x), basename(y));
}

bool place__is_same(const char *a, const char *b)
{
	auto_free char *x = a && b ? directory_of(a) : NULL;
	auto_free char *y = x ? directory_of(b) : NULL;

	return text__is(a, b) || (y && !strcmp(x, y) && is_same_name(a, b)) ||
	       (y && file__is_same(a, b));
}

int place__check(const char *path, const char *what, const char *option)
{
	char copy[PATH_MAX];
	const char *place = path;
	struct stat st;

	if (!stat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return err__set(-EINVAL, MESSAGE_PLACE_NOT_READABLE, option, path, what);
	if (stat(path, &st)) {
		/* A directory named with a slash at its end is made: directory__make. */
		if (errno != ENOENT)
			return refuse(errno, path, what);
		snprintf(copy, sizeof(copy), "%s", path);
		place = dirname(copy);
	}
	return access(place, W_OK) ? refuse(errno, path, what) : 0;
}
