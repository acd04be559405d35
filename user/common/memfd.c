// SPDX-License-Identifier: BSD-2-Clause
#include "common/memfd.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "common/regular_file.h"
#include "common/util.h"

/* All memfds lie in one file system of the kernel's, which nothing else has names in. */
static int device_of_memfds(dev_t *out)
{
	auto_close int own = memfd_create("proftrace", MFD_CLOEXEC);
	struct stat st;

	if (own < 0 || fstat(own, &st))
		return -errno;
	*out = st.st_dev;
	return 0;
}

int memfd__open_of(pid_t pid, int64_t fd, int flags)
{
	char path[64];
	struct stat st;
	dev_t device = 0;
	int err = device_of_memfds(&device);

	if (err)
		return err;
	snprintf(path, sizeof(path), "/proc/%d/fd/%lld", pid, (long long)fd);
	auto_close int seen = open(path, O_PATH | O_CLOEXEC); /* opens nothing: no side effects */
	if (seen < 0 || fstat(seen, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_dev != device || st.st_nlink)
		return -EPERM;
	return regular_file__reopen(seen, flags);
}
