// SPDX-License-Identifier: BSD-2-Clause
#include "capture/control/control_place.h"
#include "common/run_directory.h"
#include "common/util.h"
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>

int control_place__address(pid_t pid, uid_t owner, struct sockaddr_un *a)
{
	char dir[sizeof(a->sun_path)];
	int err = run_directory__path(owner, dir, sizeof(dir)), len;

	*a = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (err)
		return err;
	len = snprintf(a->sun_path, sizeof(a->sun_path), "%s/%d", dir, pid);
	return len < (int)sizeof(a->sun_path) ? 0 : -ENAMETOOLONG;
}

int control_place__lock(void)
{
	int fd = run_directory__open_lock("sockets.lock"), err = 0;

	if (fd < 0)
		return fd;
	while (!err && flock(fd, LOCK_EX))
		err = errno == EINTR ? 0 : -errno;
	if (err)
		close(fd);
	return err ? err : fd;
}

static bool is_dead(pid_t pid)
{
	auto_close int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un a;

	return fd >= 0 && !control_place__address(pid, geteuid(), &a) &&
	       connect(fd, (struct sockaddr *)&a, sizeof(a)) && errno == ECONNREFUSED;
}

void control_place__sweep(void)
{
	auto_close int dir = run_directory__open();
	DIR *entries = dir < 0 ? NULL : dir__entries(dir);
	const struct dirent *e;

	if (!entries)
		return;
	while ((e = readdir(entries)))
		if (isdigit((unsigned char)e->d_name[0]) && is_dead((pid_t)atoi(e->d_name)))
			unlinkat(dir, e->d_name, 0);
	closedir(entries);
}
