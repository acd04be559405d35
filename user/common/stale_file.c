// SPDX-License-Identifier: BSD-2-Clause
#include "common/stale_file.h"
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include "common/out_path.h"
#include "common/util.h"

#define ENTRIES_MAX 65536 /* another user may own the directory, and may have filled it */

bool stale_file__hold(int fd)
{
	struct stat st;

	if (flock(fd, LOCK_EX | LOCK_NB))
		return errno != EWOULDBLOCK; /* the file system has no locks, so nobody sweeps
						there */
	return fstat(fd, &st) || st.st_nlink || fcntl(fd, F_GETFL) & (O_TMPFILE & ~O_DIRECTORY);
}

static bool is_ours(const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_nlink == 1 && out_path__is_trusted(st);
}

static void remove_if_stale(int dir, const char *name)
{
	auto_close int fd = -1;
	struct stat st, opened;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) || !is_ours(&st))
		return;
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &opened) || opened.st_ino != st.st_ino ||
	    opened.st_dev != st.st_dev)
		return;
	if (!flock(fd, LOCK_EX | LOCK_NB))
		unlinkat(dir, name, 0);
}

void stale_file__sweep(int dir, bool (*is_temporary)(const char *name))
{
	DIR *entries = dir__entries(dir);
	const struct dirent *entry;

	if (!entries)
		return;
	for (int i = 0; i < ENTRIES_MAX && (entry = readdir(entries)); i++)
		if (is_temporary(entry->d_name))
			remove_if_stale(dir, entry->d_name);
	closedir(entries);
}
