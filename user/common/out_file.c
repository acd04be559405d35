// SPDX-License-Identifier: BSD-2-Clause
#include "common/out_file.h"
#include "common/err.h"
#include "common/message_table.h"
#include "common/file_client.h"
#include "common/file_identity.h"
#include "common/out_path.h"
#include "common/refused_link.h"
#include "common/regular_file.h"
#include "common/stale_file.h"
#include "common/util.h"
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>

#define NEW_MODE    0600
#define TEMP_PREFIX ".proftrace."
#define TEMP_DIGITS 16
#define TEMP_TRIES  8
#define READER_NS   20000000L /* time between two checks whether a pipe has a reader */

/* The owner of new files may also have them replaced. */
static bool is_file_of_owner(const struct stat *st)
{
	uid_t uid;
	gid_t gid;

	out_path__owner(&uid, &gid);
	return S_ISREG(st->st_mode) && st->st_uid == uid;
}

/* Looks at what has the name now. 0: nothing; 1: a regular file that the caller may replace; 2: a
 * pipe or a device; or a negative errno. */
static int look(const struct out_path *at, const char *name, struct stat *st)
{
	if (fstatat(at->dir, name, st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : -errno;
	if (S_ISLNK(st->st_mode)) {
		refused_link__set(at->dir, name);
		return -ELOOP;
	}
	if (S_ISDIR(st->st_mode))
		return -EISDIR;
	if (!out_path__is_trusted(st) && !is_file_of_owner(st))
		return -EEXIST;
	return S_ISREG(st->st_mode) ? 1 : 2;
}

void out_file__give_to_caller(int fd)
{
	uid_t uid;
	gid_t gid;

	out_path__owner(&uid, &gid);
	if (uid != (uid_t)-1 && fchown(fd, uid, gid))
		return; /* the file system has no owners */
}

static int create(struct out_file *f, const char *name)
{
	f->fd = openat(f->at.dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		       NEW_MODE);
	return f->fd < 0 ? -errno : 0;
}

/* After an error there is no descriptor. */
static int give(const struct out_file *f, int err)
{
	if (!err)
		out_file__give_to_caller(f->fd);
	return err;
}

static void close_fd(struct out_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

static void choose_temp(struct out_file *f)
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != (ssize_t)sizeof(number))
		number = clock__monotonic_ns();
	snprintf(f->temp, sizeof(f->temp), TEMP_PREFIX "%0*llx", TEMP_DIGITS,
		 (unsigned long long)number);
}

static bool is_temporary(const char *name)
{
	const size_t prefix = strlen(TEMP_PREFIX);

	return !strncmp(name, TEMP_PREFIX, prefix) && strlen(name) == prefix + TEMP_DIGITS &&
	       strspn(name + prefix, "0123456789abcdef") == TEMP_DIGITS;
}

static void remove_temp(struct out_file *f)
{
	if (f->temp[0])
		unlinkat(f->at.dir, f->temp, 0);
	f->temp[0] = '\0';
}

/* The lock is taken before the file is given away. Otherwise its new owner could take it first. */
static int create_temp(struct out_file *f)
{
	for (int i = 0; i < TEMP_TRIES; i++) {
		int err;

		choose_temp(f);
		err = create(f, f->temp);
		if (err)
			f->temp[0] = '\0';
		if (err || stale_file__hold(f->fd))
			return err;
		close_fd(f);
		remove_temp(f);
	}
	return -EBUSY;
}

static int create_whole(struct out_file *f)
{
	f->fd = openat(f->at.dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, NEW_MODE);
	if (f->fd >= 0) {
		f->unnamed = true;
		stale_file__hold(f->fd); /* it may get a temporary name later */
		return give(f, 0);
	}
	if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL && errno != ENOENT)
		return -errno;
	return give(f, create_temp(f));
}

static int link_as(const struct out_file *f, const char *name)
{
	char own[40];

	snprintf(own, sizeof(own), "/proc/self/fd/%d", f->fd);
	if (!linkat(AT_FDCWD, own, f->at.dir, name, AT_SYMLINK_FOLLOW))
		return 0;
	if (errno != ENOENT) /* other errors mean that /proc is not mounted */
		return -errno;
	return linkat(f->fd, "", f->at.dir, name, AT_EMPTY_PATH) ? -errno : 0;
}

/* Gives the file its name. A new name is linked at once. A taken name is replaced by renaming from
 * a temporary name. */
static int name_it(struct out_file *f)
{
	struct stat st;
	int there = look(&f->at, f->at.name, &st), err = 0;

	if (there < 0)
		return there;
	if (f->unnamed) {
		if (!there)
			err = link_as(f, f->at.name);
		if (!there && err != -EEXIST)
			return err;
		choose_temp(f);
		err = link_as(f, f->temp);
		if (err) {
			f->temp[0] = '\0';
			return err;
		}
	}
	if (renameat(f->at.dir, f->temp, f->at.dir, f->at.name))
		return -errno;
	f->temp[0] = '\0';
	return 0;
}

/* Gives a file of create_whole() its name before it is written. */
static int name_at_once(struct out_file *f)
{
	int err = create_whole(f);

	if (!err)
		err = name_it(f);
	f->unnamed = false;
	return err;
}

/* Opens the file that was examined, not one that replaced it. -EAGAIN instead of waiting for a
 * pipe's reader or a lease (F_SETLEASE). */
static int open_seen(struct out_file *f, int flags, const struct stat *seen)
{
	struct stat st;

	f->fd = openat(f->at.dir, f->at.name, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (f->fd < 0 || fstat(f->fd, &st))
		return -errno;
	if (st.st_ino != seen->st_ino || st.st_dev != seen->st_dev ||
	    (st.st_mode ^ seen->st_mode) & S_IFMT)
		return -ESTALE;
	if (S_ISREG(st.st_mode) && st.st_nlink > 1)
		return -EMLINK;
	return fcntl(f->fd, F_SETFL, fcntl(f->fd, F_GETFL) & ~O_NONBLOCK) ? -errno : 0;
}

static int reuse(struct out_file *f, const struct stat *seen)
{
	int err = open_seen(f, O_RDWR | O_NOFOLLOW, seen);

	if (err == -EACCES)
		err = open_seen(f, O_WRONLY | O_NOFOLLOW, seen);
	return !err && ftruncate(f->fd, 0) ? -errno : err;
}

/* Who can write to the directory can move any file to the name. So a file there is emptied only if
 * it is that user's own. */
static bool may_empty(const struct out_file *f, const struct stat *there)
{
	struct stat dir;

	return out_path__is_private(f->at.dir) && !fstat(f->at.dir, &dir) &&
	       (!dir.st_uid || dir.st_uid == there->st_uid);
}

static int write_live(struct out_file *f, const struct stat *there)
{
	int err;

	if (!there)
		return give(f, create(f, f->at.name));
	if (there->st_nlink > 1)
		return -EMLINK;
	err = may_empty(f, there) ? reuse(f, there) : -EAGAIN;
	return err == -EAGAIN ? name_at_once(f) : err;
}

/* Keeps the mode of the replaced file, if nobody else could have chosen it. */
static void keep_mode(const struct out_file *f, const struct stat *replaced)
{
	if (replaced->st_nlink == 1 && out_path__is_private(f->at.dir))
		(void)fchmod(f->fd, replaced->st_mode & 0777);
}

/* Opens a pipe or device. -EAGAIN: the pipe has no reader. */
static int open_other(struct out_file *f, int flags, const struct stat *seen)
{
	int err = open_seen(f, O_WRONLY | flags, seen);

	return err == -ENXIO && S_ISFIFO(seen->st_mode) ? -EAGAIN : err;
}

/* Opens the link through the kernel, because its text need not name what it leads to. */
static int open_descriptor(struct out_file *f)
{
	struct stat st;

	return fstatat(f->at.dir, f->at.name, &st, 0) ? -errno : open_other(f, 0, &st);
}

static int open_in(struct out_file *f, enum out_mode mode)
{
	const bool only_files = mode & OUT_ONLY_FILES;
	struct stat st;
	int there, err;

	mode &= ~(OUT_ONLY_FILES | OUT_NO_WAIT);
	if (!only_files && out_path__is_descriptor(&f->at))
		return open_descriptor(f);
	there = look(&f->at, f->at.name, &st);
	if (only_files && there == 2)
		return -EEXIST;
	if (there < 0)
		return there;
	if (there == 2)
		return open_other(f, O_NOFOLLOW, &st);
	if (mode == OUT_LIVE)
		return write_live(f, there ? &st : NULL);
	stale_file__sweep(f->at.dir, is_temporary);
	err = create_whole(f);
	if (!err && there)
		keep_mode(f, &st);
	return err;
}

static int try_open(struct out_file *f, const char *path, enum out_mode mode)
{
	int err;

	*f = OUT_FILE_NONE;
	if (file_client__is_on())
		return file_client__ask(FILE_WRITE, mode, path, &f->fd, &f->handle);
	err = out_path__parent(path, &f->at);
	if (err)
		return err;
	err = open_in(f, mode);
	out_path__rest(&f->at);
	if (err)
		out_file__close(f);
	return err;
}

int out_file__open(struct out_file *f, const char *path, enum out_mode mode)
{
	const struct timespec pause = {.tv_nsec = READER_NS};
	int err = try_open(f, path, mode);

	while (err == -EAGAIN && !(mode & OUT_NO_WAIT)) {
		if (nanosleep(&pause, NULL))
			return -EINTR;
		err = try_open(f, path, mode);
	}
	return err;
}

int out_file__reopen(const char *path)
{
	auto_path struct out_path at = OUT_PATH_NONE;
	auto_close int seen = -1;
	int err = out_path__parent(path, &at);

	if (err)
		return err;
	seen = openat(at.dir, at.name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	return seen < 0 ? -errno : regular_file__reopen(seen, O_RDONLY);
}

static int publish_here(struct out_file *f)
{
	int err;

	if (!f->unnamed && !f->temp[0])
		return 0;
	err = out_path__act(&f->at);
	if (!err)
		err = name_it(f);
	out_path__rest(&f->at);
	return err;
}

int out_file__publish(struct out_file *f)
{
	int err = f->handle ? file_client__end(FILE_PUBLISH, f->handle) : publish_here(f);

	f->handle = 0;
	if (close(f->fd) < 0 && !err)
		err = -errno;
	f->fd = -1;
	out_file__close(f);
	return err;
}

void out_file__close(struct out_file *f)
{
	if (f->handle)
		file_client__end(FILE_FORGET, f->handle);
	if (f->temp[0] && !out_path__act(&f->at))
		remove_temp(f);
	close_fd(f);
	out_path__close(&f->at);
	*f = OUT_FILE_NONE;
}

int out_file__open_temporary(const char *directory)
{
	struct out_file f = OUT_FILE_NONE;
	uint32_t unused;
	int err, fd;

	if (file_client__is_on()) {
		err = file_client__ask(FILE_TEMPORARY, 0, directory, &fd, &unused);
		return err ? err : fd;
	}
	err = out_path__directory(directory, &f.at);
	if (err)
		return err;
	err = create_whole(&f);
	fd = err ? err : f.fd;
	f.fd = -1;
	out_file__close(&f); /* this removes the temporary name, too */
	return fd;
}

void out_file__temporary_places(const char *places[TEMPORARY_PLACES])
{
	places[0] = getenv("SQLITE_TMPDIR");
	places[1] = getenv("TMPDIR");
	places[2] = "/var/tmp";
	places[3] = "/tmp";
}

int out_file__set_aside(const char *path)
{
	auto_path struct out_path at = OUT_PATH_NONE;
	auto_free char *aside = NULL;
	uint32_t unused;
	struct stat st;
	int there;

	if (file_client__is_on())
		return file_client__ask(FILE_ASIDE, 0, path, NULL, &unused);
	there = out_path__parent(path, &at);
	if (there)
		return there;
	if (asprintf(&aside, "%s.old", at.name) < 0) {
		aside = NULL;
		return -ENOMEM;
	}
	there = look(&at, at.name, &st);
	if (there <= 0)
		return there ? there : -ENOENT;
	if (there == 1)
		there = look(&at, aside, &st);
	if (there < 0 || there == 2)
		return there < 0 ? there : -EEXIST;
	return renameat(at.dir, at.name, at.dir, aside) ? -errno : 0;
}

int out_file__remove(const char *path)
{
	auto_path struct out_path at = OUT_PATH_NONE;
	uint32_t unused;
	int err;

	if (file_client__is_on())
		return file_client__ask(FILE_REMOVE, 0, path, NULL, &unused);
	err = out_path__parent(path, &at);
	if (err)
		return err;
	return unlinkat(at.dir, at.name, 0) ? -errno : 0;
}

/* As root. If only root can change the parent directory, nobody can replace the new directory
 * before it is given away. Otherwise it stays root's. */
static int make_as_root(int dir, const char *name)
{
	auto_close int made = -1;
	struct stat parent;

	if (mkdirat(dir, name, 0777) || fstat(dir, &parent))
		return -errno;
	if (parent.st_uid || parent.st_mode & 022)
		return 0;
	made = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (made < 0)
		return -errno;
	out_file__give_to_caller(made);
	return 0;
}

static int make_for_owner(const struct out_path *at)
{
	struct file_identity before;
	uid_t uid;
	gid_t gid;
	int err;

	out_path__owner(&uid, &gid);
	if (uid == (uid_t)-1 || at->as_caller)
		return mkdirat(at->dir, at->name, 0777) ? -errno : 0;
	if (!file_identity__take(&before, uid, gid))
		return make_as_root(at->dir, at->name);
	err = mkdirat(at->dir, at->name, 0777) ? -errno : 0;
	file_identity__restore(&before);
	return err == -EACCES || err == -EPERM ? make_as_root(at->dir, at->name) : err;
}

int out_file__make_directory(const char *path)
{
	auto_path struct out_path at = OUT_PATH_NONE;
	auto_free char *own = strdup(path);
	size_t len = own ? strlen(own) : 0;
	uint32_t unused;
	int err;

	if (file_client__is_on())
		return file_client__ask(FILE_DIRECTORY, 0, path, NULL, &unused);
	if (!own)
		return -ENOMEM;
	while (len > 1 && own[len - 1] == '/')
		own[--len] = '\0';
	err = out_path__parent(own, &at);
	if (err)
		return err == -EISDIR ? -EEXIST : err;
	return make_for_owner(&at);
}

static int set_refused_link(int err)
{
	const char *refused = refused_link__text();

	return *refused ? err__set(err, MESSAGE_LINK_REFUSED, refused)
			: err__set(err, MESSAGE_LINK_OF_OTHERS);
}

const char *out_file__explain(int err)
{
	switch (err) {
	case -ELOOP:
		return err__take(set_refused_link(err));
	case -EEXIST:
		return err__take(err__set(err, MESSAGE_FILE_OF_OTHER_USER));
	case -EMLINK:
		return err__take(err__set(err, MESSAGE_FILE_HAS_OTHER_NAMES));
	case -ESTALE:
		return err__take(err__set(err, MESSAGE_FILE_REPLACED));
	case -EBUSY:
		return err__take(err__set(err, MESSAGE_TEMPORARY_FILES_HELD));
	case -EOWNERDEAD:
		return err__take(err__set(err, MESSAGE_FILE_PROCESS_ENDED));
	default:
		return NULL;
	}
}
