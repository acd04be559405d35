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
	bool is_special; /* a baseline or an alarm */
	uint64_t bytes;
	struct timespec changed;
};

struct kept_list {
	struct kept *items;
	size_t cnt, cap;
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

static const char *const keep_words[KEEP_CNT] = {
	[KEEP_BASELINE] = ".baseline", [KEEP_ALARM] = ".alarm"};

/* Removes the extension from the end. */
static bool drop_extension(char *name, const char *extension)
{
	char *dot = strrchr(name, '.');

	if (!dot || strcmp(dot, extension) != 0)
		return false;
	*dot = '\0';
	return true;
}

static bool drop_keep_word(char *name)
{
	bool has = false;

	for (size_t i = 0; i < KEEP_CNT && !has; i++)
		has = drop_extension(name, keep_words[i]);
	return has;
}

/* JOB_PID_TIME.ptrec and JOB_PID_TIME.N.ptrec, with TIME in hexadecimal seconds since 1970; for a
 * recording that is kept longer, .baseline or .alarm before .ptrec. Other files in the directory
 * are left alone. */
static bool is_recording(const char *file, bool *is_special)
{
	char name[NAME_MAX + 1];
	char *dot;

	snprintf(name, sizeof(name), "%s", file);
	if (!drop_extension(name, ".ptrec"))
		return false;
	*is_special = drop_keep_word(name);
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
	bool is_special;

	return !strchr(name, '/') && is_recording(name, &is_special) &&
	       !fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) && is_ours(&st);
}

void window_store__kept_name(const char *file, enum keep_as as, char *out)
{
	char name[RECORDING_NAME];

	snprintf(name, sizeof(name), "%s", file);
	drop_extension(name, ".ptrec");
	snprintf(out, RECORDING_NAME, "%.*s%s.ptrec", RECORDING_NAME - 16, name, keep_words[as]);
}

int window_store__keep_as(int dir, const char *file, enum keep_as as, char *name)
{
	window_store__kept_name(file, as, name);
	if (!window_store__has(dir, file))
		return -ENOENT;
	return linkat(dir, file, dir, name, 0) && errno != EEXIST ? -errno : 0;
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

		if (!is_recording(entry->d_name, &k.is_special) ||
		    fstatat(dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) || !is_ours(&st))
			continue;
		k.name = strdup(entry->d_name);
		/* A kept recording has two names at first. */
		k.bytes = (uint64_t)st.st_blocks * 512 / (st.st_nlink ? st.st_nlink : 1);
		k.changed = st.st_mtim;
		err = k.name ? ARRAY_PUSH(l->items, l->cnt, l->cap, k) : -ENOMEM;
		if (err)
			free(k.name);
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

static uint64_t bytes_of(const struct kept_list *l, bool special)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < l->cnt; i++)
		bytes += l->items[i].is_special == special ? l->items[i].bytes : 0;
	return bytes;
}

/* Removes the oldest of the special or of the other recordings, until those are `most` bytes. */
static int remove_oldest(int dir, struct kept_list *l, bool special, uint64_t most)
{
	const time_t now = time(NULL), old_enough = now - MAY_CHANGE_S;
	uint64_t bytes = bytes_of(l, special);
	int removed = 0;

	for (size_t i = 0; i < l->cnt && bytes > most; i++) {
		struct kept *k = &l->items[i];

		if (k->is_special != special)
			continue;
		/* A time in the future does not protect it: the clock was set. */
		if (k->changed.tv_sec > old_enough && k->changed.tv_sec <= now)
			continue;
		if (unlinkat(dir, k->name, 0))
			continue;
		bytes -= k->bytes;
		k->bytes = 0;
		removed++;
	}
	return removed;
}

/* Baselines and alarms go last, but take half of the store at most. */
static int remove_some(int dir, struct kept_list *l, uint64_t bytes)
{
	uint64_t special;
	int removed;

	qsort(l->items, l->cnt, sizeof(*l->items), by_age);
	removed = remove_oldest(dir, l, true, bytes / 2);
	special = bytes_of(l, true);
	special = special < bytes / 2 ? special : bytes / 2;
	return removed + remove_oldest(dir, l, false, bytes - special);
}

int window_store__keep(int dir, uint64_t bytes)
{
	struct kept_list l = {0};
	int err = list(dir, &l), removed = err || !l.cnt ? err : remove_some(dir, &l, bytes);

	for (size_t i = 0; i < l.cnt; i++)
		free(l.items[i].name);
	free(l.items);
	return removed;
}
