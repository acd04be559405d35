// SPDX-License-Identifier: BSD-2-Clause
#include "target/in_root.h"
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include "common/util.h"

#define LINKS_MAX 40 /* the kernel's limit */
#define DEPTH_MAX 128

struct walk {
	int dirs[DEPTH_MAX]; /* directories from the root, which is the caller's, to the current
				one */
	size_t depth;
	int links;
	char rest[PATH_MAX]; /* the part that is not walked yet */
};

static int here(const struct walk *w)
{
	return w->dirs[w->depth - 1];
}

/* The parent is the directory that we came from. The parent of a moved directory would be
 * another. */
static void up_to(struct walk *w, size_t depth)
{
	while (w->depth > depth)
		close(w->dirs[--w->depth]);
}

static int enter(struct walk *w, int dir)
{
	if (w->depth == DEPTH_MAX)
		return -ENAMETOOLONG;
	w->dirs[w->depth] = fcntl(dir, F_DUPFD_CLOEXEC, 0);
	return w->dirs[w->depth] < 0 ? -errno : (w->depth++, 0);
}

/* The link's text replaces its name. */
static int follow(struct walk *w, int link, const char *behind)
{
	char text[PATH_MAX], joined[PATH_MAX];
	const ssize_t len = readlinkat(link, "", text, sizeof(text) - 1);

	if (len < 0)
		return -errno;
	if (w->links++ >= LINKS_MAX)
		return -ELOOP;
	text[len] = '\0';
	if (snprintf(joined, sizeof(joined), "%s%s", text, behind) >= (int)sizeof(joined))
		return -ENAMETOOLONG;
	memcpy(w->rest, joined, sizeof(joined));
	if (*text == '/')
		up_to(w, 1);
	return 0;
}

/* Walks one name. 1 and *found, an O_PATH descriptor: that was the file; 0: there are more names;
 * or a negative errno. */
static int step(struct walk *w, int *found)
{
	char *const name = w->rest + strspn(w->rest, "/");
	const size_t len = strcspn(name, "/");
	char own[NAME_MAX + 1];
	auto_close int next = -1;
	struct stat st;
	int err;

	if (len > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(own, name, len);
	own[len] = '\0';
	if (!strcmp(own, "..") && w->depth > 1)
		up_to(w, w->depth - 1);
	if (strcmp(own, "..") && strcmp(own, ".")) {
		next = openat(here(w), own, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (next < 0 || fstat(next, &st))
			return -errno;
		if (S_ISLNK(st.st_mode))
			return follow(w, next, name + len);
		if (!S_ISDIR(st.st_mode)) {
			if (name[len])
				return -ENOTDIR;
			*found = fcntl(next, F_DUPFD_CLOEXEC, 0);
			return *found < 0 ? -errno : 1;
		}
		err = enter(w, next);
		if (err)
			return err;
	}
	memmove(w->rest, name + len, strlen(name + len) + 1);
	return 0;
}

int in_root__find(int root, const char *path)
{
	struct walk w = {.dirs = {root}, .depth = 1};
	int found = -1, err = 0;

	if (snprintf(w.rest, sizeof(w.rest), "%s", path) >= (int)sizeof(w.rest))
		return -ENAMETOOLONG;
	while (!err && w.rest[strspn(w.rest, "/")])
		err = step(&w, &found);
	if (!err) { /* it is a directory */
		found = fcntl(here(&w), F_DUPFD_CLOEXEC, 0);
		err = found < 0 ? -errno : 0;
	}
	up_to(&w, 1);
	return err < 0 ? err : found;
}
