// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/listen_address.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include "common/err.h"
#include "monitor/message_table.h"
#include "common/util.h"

#define BACKLOG 16

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_un path;
};

bool listen_address__is_path(const char *where)
{
	return strchr(where, '/') != NULL;
}

static bool read_port(const char *text, in_port_t *port)
{
	char *end;
	long number = strtol(text, &end, 10);

	*port = htons((in_port_t)number);
	return *text >= '0' && *text <= '9' && !*end && number > 0 && number <= UINT16_MAX;
}

/* The length of the address. 0: it is invalid, or not local to this host. */
static socklen_t read_address(const char *where, union address *a)
{
	static const char v4[] = "127.0.0.1:", local[] = "localhost:", v6[] = "[::1]:";

	*a = (union address){0};
	if (listen_address__is_path(where)) {
		a->path.sun_family = AF_UNIX;
		if (strlen(where) >= sizeof(a->path.sun_path))
			return 0;
		memcpy(a->path.sun_path, where, strlen(where));
		return sizeof(a->path);
	}
	if (!strncmp(where, v6, sizeof(v6) - 1)) {
		a->v6.sin6_family = AF_INET6;
		a->v6.sin6_addr = in6addr_loopback;
		return read_port(where + sizeof(v6) - 1, &a->v6.sin6_port) ? sizeof(a->v6) : 0;
	}
	a->v4.sin_family = AF_INET;
	a->v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (!strncmp(where, v4, sizeof(v4) - 1))
		where += sizeof(v4) - 1;
	else if (!strncmp(where, local, sizeof(local) - 1))
		where += sizeof(local) - 1;
	return read_port(where, &a->v4.sin_port) ? sizeof(a->v4) : 0;
}

int listen_address__check(const char *where)
{
	union address a;

	if (read_address(where, &a))
		return 0;
	return err__set(-EINVAL, MESSAGE_LISTEN_INVALID, where);
}

/* Removes the socket of a killed monitor. */
static void remove_stale(const union address *a, socklen_t len)
{
	struct stat st;
	auto_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd >= 0 && !lstat(a->path.sun_path, &st) && S_ISSOCK(st.st_mode) &&
	    connect(fd, &a->any, len) && errno == ECONNREFUSED)
		unlink(a->path.sun_path);
}

static int bind_to(int fd, const union address *a, socklen_t len)
{
	const mode_t before = umask(0177);
	const int one = 1;
	int err;

	if (a->any.sa_family == AF_UNIX)
		remove_stale(a, len);
	else
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	err = bind(fd, &a->any, len) || listen(fd, BACKLOG) ? -errno : 0;
	umask(before);
	return err;
}

int listen_address__open(const char *where)
{
	union address a;
	const socklen_t len = read_address(where, &a);
	int fd, err;

	if (!len)
		return listen_address__check(where);
	fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	err = fd < 0 ? -errno : bind_to(fd, &a, len);
	if (!err)
		return fd;
	if (fd >= 0)
		close(fd);
	if (err == -EADDRINUSE)
		return err__set(err, MESSAGE_LISTEN_PLACE_TAKEN, where, strerror(-err));
	return err__set(err, MESSAGE_LISTEN_FAILED, where, strerror(-err));
}

void listen_address__remove(const char *where)
{
	if (listen_address__is_path(where))
		unlink(where);
}
