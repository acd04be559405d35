// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/window_store.h"
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include "common/err.h"
#include "monitor/message_table.h"
#include "common/out_path.h"
#include "common/util.h"

#define MAY_CHANGE_S 120

struct kept {
	char *name;
	uint64_t bytes;
	struct timespec changed;
};

struct kept_list {
	struct kept *items;
	size_t cnt, cap;
	uint64_t bytes;
};

int window_store__open(const char *path)
{
	struct stat st;
	int fd;

	if (mkdir(path, 0700) && errno != EEXIST)
		return err__set(-errno, MESSAGE_STORE_NOT_MADE, path, strerror(errno));
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return err__set(-errno, MESSAGE_STORE_UNREADABLE, path, strerror(errno));
	if (!fstat(fd, &st) && st.st_uid == geteuid() && !(st.st_mode & 022))
		return fd;
	close(fd);
	return err__set(-EPERM, MESSAGE_STORE_WRITABLE_BY_OTHERS, path);
}

bool window_store__take(int dir, const char *name, uint64_t bytes_max)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) || (uint64_t)st.st_size <= bytes_max)
		return true;
	unlinkat(dir, name, 0);
	return false;
}

double window_store__written_s(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW)
		       ? 0
		       : (double)st.st_mtim.tv_sec + (double)st.st_mtim.tv_nsec / 1e9;
}

bool window_store__has_room(int dir, uint64_t bytes)
{
	struct statvfs fs;

	return fstatvfs(dir, &fs) || fs.f_bavail * fs.f_frsize >= bytes;
}

/* Removes "_" and at least `least` of these characters from the end. The rest must not be empty. */
static bool drop_field(char *name, const char *characters, size_t least)
{
	char *at = strrchr(name, '_');
	const size_t len = at ? strlen(at + 1) : 0;

	if (!at || at == name || len < least || strspn(at + 1, characters) != len)
		return false;
	*at = '\0';
	return true;
}

/* JOB_PID_TIME.ptrec and JOB_PID_TIME.N.ptrec, with TIME in hexadecimal seconds since 1970. Other
 * files in the directory are left alone. */
static bool is_recording(const char *file)
{
	char name[NAME_MAX + 1];
	char *dot;

	snprintf(name, sizeof(name), "%s", file);
	dot = strrchr(name, '.');
	if (!dot || strcmp(dot, ".ptrec") != 0)
		return false;
	*dot = '\0';
	dot = strrchr(name, '.');
	if (dot && dot[1] && !dot[1 + strspn(dot + 1, "0123456789")])
		*dot = '\0';
	return drop_field(name, "0123456789abcdef", 8) && drop_field(name, "0123456789", 1);
}

static bool is_ours(const struct stat *st)
{
	uid_t uid;
	gid_t gid;

	out_path__owner(&uid, &gid);
	return S_ISREG(st->st_mode) && (st->st_uid == geteuid() || st->st_uid == uid);
}

bool window_store__has(int dir, const char *name)
{
	struct stat st;

	return !strchr(name, '/') && is_recording(name) &&
	       !fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) && is_ours(&st);
}

static int list(int dir, struct kept_list *l)
{
	DIR *entries = dir__entries(dir);
	const struct dirent *entry;
	struct stat st;
	int err = 0;

	if (!entries)
		return -errno;
	while (!err && (entry = readdir(entries))) {
		struct kept k = {0};

		if (!is_recording(entry->d_name) ||
		    fstatat(dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) || !is_ours(&st))
			continue;
		k = (struct kept){strdup(entry->d_name), (uint64_t)st.st_blocks * 512, st.st_mtim};
		err = k.name ? ARRAY_PUSH(l->items, l->cnt, l->cap, k) : -ENOMEM;
		if (err)
			free(k.name);
		l->bytes += k.bytes;
	}
	closedir(entries);
	return err;
}

static int by_age(const void *a, const void *b)
{
	const struct timespec *x = &((const struct kept *)a)->changed,
			      *y = &((const struct kept *)b)->changed;

	if (x->tv_sec != y->tv_sec)
		return (x->tv_sec > y->tv_sec) - (x->tv_sec < y->tv_sec);
	return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

static int remove_oldest(int dir, struct kept_list *l, uint64_t bytes)
{
	const time_t now = time(NULL), old_enough = now - MAY_CHANGE_S;
	int removed = 0;

	qsort(l->items, l->cnt, sizeof(*l->items), by_age);
	for (size_t i = 0; i < l->cnt && l->bytes > bytes; i++) {
		/* A time in the future does not protect it: the clock was set. */
		if (l->items[i].changed.tv_sec > old_enough && l->items[i].changed.tv_sec <= now)
			continue;
		if (unlinkat(dir, l->items[i].name, 0))
			continue;
		l->bytes -= l->items[i].bytes;
		removed++;
	}
	return removed;
}

int window_store__keep(int dir, uint64_t bytes)
{
	struct kept_list l = {0};
	int err = list(dir, &l), removed = err || !l.cnt ? err : remove_oldest(dir, &l, bytes);

	for (size_t i = 0; i < l.cnt; i++)
		free(l.items[i].name);
	free(l.items);
	return removed;
}
