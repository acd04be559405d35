// SPDX-License-Identifier: BSD-2-Clause
#include "common/run_directory.h"
#include <fcntl.h>
#include <sys/stat.h>
#include "common/util.h"

int run_directory__path(uid_t owner, char *path, size_t size)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	int len;

	if (!owner)
		len = snprintf(path, size, "/run/proftrace");
	else if (runtime && *runtime == '/')
		len = snprintf(path, size, "%s/proftrace", runtime);
	else
		len = snprintf(path, size, "/run/user/%u/proftrace", owner);
	return len < (int)size ? 0 : -ENAMETOOLONG;
}

int run_directory__open(void)
{
	char path[108];
	struct stat st;
	int err = run_directory__path(geteuid(), path, sizeof(path)), fd;

	if (err)
		return err;
	/* Others may enter it, so that `ctl` can tell them whose session runs. */
	if (mkdir(path, 0711) && errno != EEXIST)
		return -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && st.st_uid == geteuid() && !(st.st_mode & 022) &&
	    (!(st.st_mode & 044) || !fchmod(fd, 0711)))
		return fd;
	close(fd);
	return -EPERM;
}

int run_directory__open_lock(const char *name)
{
	auto_close int dir = run_directory__open();
	int fd;

	if (dir < 0)
		return dir;
	fd = openat(dir, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : fd;
}
