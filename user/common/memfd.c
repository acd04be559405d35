// SPDX-License-Identifier: BSD-2-Clause
#include "common/memfd.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include "common/util.h"

/* Headers of the build machine may be older than the kernel: these are of Linux 5.3 and 5.6. */
#define PIDFD_OPEN  434
#define PIDFD_GETFD 438

/* All memfds lie in one internal file system of the kernel, where nothing else has a name. */
static int device_of_memfds(dev_t *out)
{
	auto_close int own = memfd_create("proftrace", MFD_CLOEXEC);
	struct stat st;

	if (own < 0 || fstat(own, &st))
		return -errno;
	*out = st.st_dev;
	return 0;
}

/* Takes the process's open file description itself. Read and write at offsets only. Opening the
 * memfd again would need a right that a confined process lacks. */
static int take(pid_t pid, int fd, const struct stat *seen)
{
	auto_close int process = (int)syscall(PIDFD_OPEN, pid, 0);
	auto_close int theirs = -1;
	struct stat st;
	int ours;

	if (process < 0)
		return -errno;
	theirs = (int)syscall(PIDFD_GETFD, process, fd, 0);
	if (theirs < 0 || fstat(theirs, &st))
		return -errno;
	if (st.st_ino != seen->st_ino || st.st_dev != seen->st_dev ||
	    (fcntl(theirs, F_GETFL) & O_ACCMODE) != O_RDWR || fcntl(theirs, F_GETFL) & O_PATH)
		return -EPERM;
	ours = fcntl(theirs, F_DUPFD_CLOEXEC, 0);
	return ours < 0 ? -errno : ours;
}

int memfd__take_of(pid_t pid, int64_t fd)
{
	char path[64];
	struct stat st;
	dev_t device = 0;
	int err = device_of_memfds(&device);

	if (err)
		return err;
	snprintf(path, sizeof(path), "/proc/%d/fd/%lld", pid, (long long)fd);
	auto_close int seen = open(path, O_PATH | O_CLOEXEC); /* opens nothing, so it has no side
								 effect */
	if (seen < 0 || fstat(seen, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_dev != device || st.st_nlink)
		return -EPERM;
	return take(pid, (int)fd, &st);
}
