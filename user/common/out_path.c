// SPDX-License-Identifier: BSD-2-Clause
#include "common/out_path.h"
#include "common/util.h"
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#define MAX_LINKS 40 /* as the kernel's */

static bool number_of(const char *variable, unsigned int *out)
{
	const char *text = getenv(variable);
	char *end;
	unsigned long n;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	n = strtoul(text, &end, 10);
	*out = (unsigned int)n;
	return !errno && !*end && n < UINT_MAX;
}

static struct {
	uid_t uid;
	gid_t gid;
} chosen = {(uid_t)-1, (gid_t)-1};

void out_path__choose_owner(uid_t uid, gid_t gid)
{
	chosen.uid = uid;
	chosen.gid = gid;
}

static void find_caller(uid_t *uid, gid_t *gid)
{
	*uid = (uid_t)-1;
	*gid = (gid_t)-1;
	if (geteuid() || !number_of("SUDO_UID", uid) || !number_of("SUDO_GID", gid))
		*uid = *gid = (uid_t)-1;
}

void out_path__owner(uid_t *uid, gid_t *gid)
{
	find_caller(uid, gid);
	if (geteuid() || chosen.uid == (uid_t)-1)
		return;
	*uid = chosen.uid;
	*gid = chosen.gid;
}

bool out_path__is_trusted(const struct stat *st)
{
	uid_t caller;
	gid_t group;

	find_caller(&caller, &group);
	return !st->st_uid || st->st_uid == geteuid() || st->st_uid == caller;
}

bool out_path__is_private(int dir)
{
	struct stat st;

	return !fstat(dir, &st) && out_path__is_trusted(&st) && !(st.st_mode & 022);
}

static int step_into(int *dir, int next)
{
	if (next < 0)
		return -errno;
	close(*dir);
	*dir = next;
	return 0;
}

static int walk(int *dir, const char *path, int *links);

/* Text of a link, read from the link itself: nobody can put another one there meanwhile. */
static int follow(int *dir, int link, int *links)
{
	char text[PATH_MAX];
	ssize_t len = readlinkat(link, "", text, sizeof(text) - 1);

	if (len < 0)
		return -errno;
	if ((*links)++ >= MAX_LINKS)
		return -ELOOP;
	text[len] = '\0';
	return walk(dir, text, links);
}

/* A link of /proc leads to what its text need not name. */
static bool is_of_proc(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && fs.f_type == PROC_SUPER_MAGIC;
}

static int enter(int *dir, const char *name, int *links)
{
	auto_close int next = openat(*dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (next < 0 || fstat(next, &st))
		return -errno;
	if (S_ISLNK(st.st_mode)) {
		if (!out_path__is_trusted(&st))
			return -ELOOP;
		if (!is_of_proc(next))
			return follow(dir, next, links);
		return step_into(dir, openat(*dir, name, O_PATH | O_DIRECTORY | O_CLOEXEC));
	}
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	return step_into(dir, fcntl(next, F_DUPFD_CLOEXEC, 0));
}

static int walk(int *dir, const char *path, int *links)
{
	int err = 0;

	if (*path == '/')
		err = step_into(dir, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
	while (!err && *(path += strspn(path, "/"))) {
		const size_t len = strcspn(path, "/");
		auto_free char *name = strndup(path, len);

		if (!name)
			return -ENOMEM;
		err = strcmp(name, ".") ? enter(dir, name, links) : 0;
		path += len;
	}
	return err;
}

int out_path__parent(const char *path, char **name)
{
	const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
	auto_free char *before = strndup(path, (size_t)(last - path));
	int dir, err, links = 0;

	if (!*path)
		return -ENOENT;
	if (!*last || !strcmp(last, ".") || !strcmp(last, ".."))
		return -EISDIR;
	dir = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	err = before ? walk(&dir, before, &links) : -ENOMEM;
	*name = err ? NULL : strdup(last);
	if (!err && !*name)
		err = -ENOMEM;
	if (err)
		close(dir);
	return err ? err : dir;
}

int out_path__directory(const char *path)
{
	int links = 0, err, dir = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0)
		return -errno;
	err = walk(&dir, path, &links);
	if (err)
		close(dir);
	return err ? err : dir;
}
