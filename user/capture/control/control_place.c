// SPDX-License-Identifier: BSD-2-Clause
#include "capture/control/control_place.h"
#include "common/util.h"
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>

static int directory(uid_t owner, char *path, size_t size)
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

int control_place__address(pid_t pid, uid_t owner, struct sockaddr_un *a)
{
	char dir[sizeof(a->sun_path)];
	int err = directory(owner, dir, sizeof(dir)), len;

	*a = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (err)
		return err;
	len = snprintf(a->sun_path, sizeof(a->sun_path), "%s/%d", dir, pid);
	return len < (int)sizeof(a->sun_path) ? 0 : -ENAMETOOLONG;
}

int control_place__open(void)
{
	char path[108];
	struct stat st;
	int err = directory(geteuid(), path, sizeof(path)), fd;

	if (err)
		return err;
	/* Others may pass, so that `ctl` can tell them whose session it is. */
	if (mkdir(path, 0711) && errno != EEXIST)
		return -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || st.st_uid != geteuid() || st.st_mode & 022)
		err = -EPERM;
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

void control_place__sweep(int dir)
{
	DIR *entries = dir__entries(dir);
	const struct dirent *e;

	if (!entries)
		return;
	while ((e = readdir(entries)))
		if (isdigit((unsigned char)e->d_name[0]) && is_dead((pid_t)atoi(e->d_name)))
			unlinkat(dir, e->d_name, 0);
	closedir(entries);
}
