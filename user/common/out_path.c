// SPDX-License-Identifier: BSD-2-Clause
#include "common/out_path.h"
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include "common/refused_link.h"
#include "common/util.h"

#define MAX_LINKS   40 /* the kernel's limit */
#define DESCRIPTORS "/proc/self/fd/"

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

/* ---- links ---- */

static bool is_of_proc(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && fs.f_type == PROC_SUPER_MAGIC;
}

static bool is_roots_directory(const struct stat *dir, const char *path)
{
	struct stat st;

	return !dir->st_uid && !(dir->st_mode & 022) && !stat(path, &st) &&
	       st.st_ino == dir->st_ino && st.st_dev == dir->st_dev;
}

static bool is_of_system(int dir, const struct stat *link)
{
	struct stat st;

	return !link->st_uid && !fstat(dir, &st) &&
	       (is_roots_directory(&st, "/") || is_roots_directory(&st, "/var") ||
		is_roots_directory(&st, "/dev"));
}

/* Root's links do not count, because root's number proves nothing. If proftrace is not root, no
 * link can lead it to where it may not write. Then all links but those of strangers are
 * followed. */
static bool is_of_caller(int dir, const struct stat *link)
{
	uid_t uid = geteuid();
	gid_t gid;

	if (uid)
		return link->st_uid == uid || !link->st_uid;
	if (chosen.uid != (uid_t)-1)
		return false;
	find_caller(&uid, &gid);
	return uid && link->st_uid == uid && out_path__is_private(dir);
}

static int become_caller(struct out_path *p)
{
	uid_t uid;
	gid_t gid;

	if (p->acts || geteuid())
		return 0;
	find_caller(&uid, &gid);
	p->as_caller = true;
	p->acts = file_identity__take(&p->before, uid, gid);
	return p->acts ? 0 : -EPERM;
}

/* ---- the walk ---- */

static int step_into(struct out_path *p, int next)
{
	if (next < 0)
		return -errno;
	close(p->dir);
	p->dir = next;
	return 0;
}

static int refuse(const struct out_path *p, const char *name)
{
	refused_link__set(p->dir, name);
	return -ELOOP;
}

static int walk(struct out_path *p, const char *path, int *links);

/* Reads the text from the link's descriptor, so nobody can replace the link meanwhile. */
static int follow(struct out_path *p, int link, int *links)
{
	char text[PATH_MAX];
	ssize_t len = readlinkat(link, "", text, sizeof(text) - 1);

	if (len < 0)
		return -errno;
	if ((*links)++ >= MAX_LINKS)
		return -ELOOP;
	text[len] = '\0';
	return walk(p, text, links);
}

static int pass_link(struct out_path *p, const char *name, int link, const struct stat *st,
		     int *links)
{
	int err;

	/* A link of /proc need not lead to what its text names. */
	if (is_of_proc(link) && out_path__is_trusted(st) && !p->as_caller)
		return step_into(p, openat(p->dir, name, O_PATH | O_DIRECTORY | O_CLOEXEC));
	if (is_of_system(p->dir, st))
		return follow(p, link, links);
	if (is_of_proc(link) || !is_of_caller(p->dir, st))
		return refuse(p, name);
	err = become_caller(p);
	return err ? err : follow(p, link, links);
}

static int enter(struct out_path *p, const char *name, int *links)
{
	auto_close int next = openat(p->dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (next < 0 || fstat(next, &st))
		return -errno;
	if (S_ISLNK(st.st_mode))
		return pass_link(p, name, next, &st, links);
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	return step_into(p, fcntl(next, F_DUPFD_CLOEXEC, 0));
}

static int walk(struct out_path *p, const char *path, int *links)
{
	int err = 0;

	if (*path == '/')
		err = step_into(p, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
	while (!err && *(path += strspn(path, "/"))) {
		const size_t len = strcspn(path, "/");
		auto_free char *name = strndup(path, len);

		if (!name)
			return -ENOMEM;
		err = strcmp(name, ".") ? enter(p, name, links) : 0;
		path += len;
	}
	return err;
}

int out_path__directory(const char *path, struct out_path *out)
{
	int links = 0, err;

	refused_link__forget();
	*out = (struct out_path){.dir = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC)};
	if (out->dir < 0)
		return -errno;
	err = walk(out, path, &links);
	if (err)
		out_path__close(out);
	return err;
}

int out_path__parent(const char *path, struct out_path *out)
{
	const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
	auto_free char *before = strndup(path, (size_t)(last - path));
	int err;

	*out = OUT_PATH_NONE;
	if (!*path)
		return -ENOENT;
	if (!*last || !strcmp(last, ".") || !strcmp(last, ".."))
		return -EISDIR;
	err = before ? out_path__directory(before, out) : -ENOMEM;
	if (err)
		return err;
	out->name = strdup(last);
	if (out->name)
		return 0;
	out_path__close(out);
	return -ENOMEM;
}

int out_path__act(struct out_path *p)
{
	return p->as_caller ? become_caller(p) : 0;
}

void out_path__rest(struct out_path *p)
{
	if (p->acts)
		file_identity__restore(&p->before);
	p->acts = false;
}

void out_path__close(struct out_path *p)
{
	out_path__rest(p);
	if (p->dir >= 0)
		close(p->dir);
	free(p->name);
	*p = OUT_PATH_NONE;
}

bool out_path__is_descriptor(const struct out_path *p)
{
	char text[sizeof(DESCRIPTORS) - 1];
	struct stat dir, link;

	if (p->as_caller || fstat(p->dir, &dir) ||
	    fstatat(p->dir, p->name, &link, AT_SYMLINK_NOFOLLOW) || !S_ISLNK(link.st_mode))
		return false;
	if (is_of_proc(p->dir))
		return out_path__is_trusted(&link);
	return !link.st_uid && is_roots_directory(&dir, "/dev") &&
	       readlinkat(p->dir, p->name, text, sizeof(text)) == sizeof(text) &&
	       !memcmp(text, DESCRIPTORS, sizeof(text));
}
