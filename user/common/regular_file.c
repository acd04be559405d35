// SPDX-License-Identifier: BSD-2-Clause
#include "common/regular_file.h"
#include <fcntl.h>
#include <sys/stat.h>
#include "common/util.h"

int regular_file__reopen(int seen, int flags)
{
	char path[32];
	struct stat st;
	int fd;

	if (fstat(seen, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	/* Opens the same inode, whatever has its name now. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", seen);
	fd = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

/* For a system without /proc. Opens what has the name now, which must be the file that was seen. */
static int open_again(const char *path, int seen)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat before, now;
	int err = -ESTALE;

	if (fd < 0)
		return -errno;
	if (fstat(seen, &before) || fstat(fd, &now))
		err = -errno;
	else if (before.st_dev == now.st_dev && before.st_ino == now.st_ino)
		return fd;
	close(fd);
	return err;
}

int regular_file__open(const char *path)
{
	auto_close int seen = open(path, O_PATH | O_CLOEXEC); /* opens nothing, so it has no side
								 effect */
	int fd;

	if (seen < 0)
		return -errno;
	fd = regular_file__reopen(seen, O_RDONLY);
	return fd == -ENOENT && access("/proc/self/fd", F_OK) ? open_again(path, seen) : fd;
}
