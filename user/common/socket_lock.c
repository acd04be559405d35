// SPDX-License-Identifier: BSD-2-Clause
#include "common/socket_lock.h"
#include <sys/socket.h>
#include <sys/un.h>
#include "common/file_client.h"
#include "common/util.h"

#define PREFIX "proftrace-"

int socket_lock__take(const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const size_t size = sizeof(address.sun_path) - 1;
	const int len = snprintf(address.sun_path + 1, size, PREFIX "%s", name);
	uint32_t unused;
	int fd, err;

	if (file_client__is_on()) {
		err = file_client__ask(FILE_LOCK, 0, name, &fd, &unused);
		return err ? err : fd;
	}
	if (len < 0 || (size_t)len >= size)
		return -ENAMETOOLONG;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (!bind(fd, (struct sockaddr *)&address,
		  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len)))
		return fd;
	err = -errno;
	close(fd);
	return err;
}
