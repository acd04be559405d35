// SPDX-License-Identifier: BSD-2-Clause
#include "top/monitor_client.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include "common/err.h"
#include "top/message_table.h"
#include "common/util.h"

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_un path;
};

struct dialogue {
	const struct monitor_request *r;
	int fd, timeout_ms;
	uint64_t until_ns;
};

/* ---- addresses ---- */

static const char *after(const char *text, const char *prefix)
{
	const size_t len = strlen(prefix);

	return strncmp(text, prefix, len) ? NULL : text + len;
}

/* 0: the text is no port. */
static in_port_t port_of(const char *text)
{
	char *end;
	const long number = strtol(text, &end, 10);

	return *text >= '0' && *text <= '9' && !*end && number <= UINT16_MAX
		       ? htons((in_port_t)number)
		       : 0;
}

/* The length of the address. 0: it is invalid. */
static socklen_t read_address(const char *place, union address *a)
{
	const char *port;

	*a = (union address){0};
	if (strchr(place, '/')) {
		a->path.sun_family = AF_UNIX;
		if (strlen(place) >= sizeof(a->path.sun_path))
			return 0;
		memcpy(a->path.sun_path, place, strlen(place));
		return sizeof(a->path);
	}
	port = after(place, "[::1]:");
	if (port) {
		a->v6.sin6_family = AF_INET6;
		a->v6.sin6_addr = in6addr_loopback;
		a->v6.sin6_port = port_of(port);
		return a->v6.sin6_port ? sizeof(a->v6) : 0;
	}
	port = after(place, "127.0.0.1:");
	if (!port)
		port = after(place, "localhost:");
	a->v4.sin_family = AF_INET;
	a->v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	a->v4.sin_port = port ? port_of(port) : 0;
	return a->v4.sin_port ? sizeof(a->v4) : 0;
}

int monitor_client__check(const char *place)
{
	union address a;

	if (read_address(place, &a))
		return 0;
	return err__set(-EINVAL, MESSAGE_MONITOR_PLACE_INVALID, place);
}

/* ---- the dialogue ---- */

static int failed(const struct dialogue *d, int err)
{
	if (err == -ETIMEDOUT)
		return err__set(err, MESSAGE_MONITOR_SILENT, d->r->place, d->timeout_ms / 1e3);
	if (err == -EFBIG)
		return err__set(err, MESSAGE_MONITOR_ANSWER_LARGE, d->r->place,
				MONITOR_ANSWER_MAX >> 20);
	if (err == -EACCES || err == -EPERM)
		return err__set(err, MESSAGE_MONITOR_SOCKET_NOT_PERMITTED, d->r->place,
				strerror(-err));
	return err__set(err, MESSAGE_MONITOR_MISSING, d->r->place, strerror(-err));
}

/* Waits until the socket is ready. 0, or a negative errno. */
static int wait_for(const struct dialogue *d, short events)
{
	const uint64_t now_ns = clock__ns(CLOCK_MONOTONIC);
	struct pollfd p = {.fd = d->fd, .events = events};
	int n;

	if (now_ns >= d->until_ns)
		return -ETIMEDOUT;
	n = poll(&p, 1, (int)((d->until_ns - now_ns) / 1000000 + 1));
	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	return n ? 0 : -ETIMEDOUT;
}

static int connect_once(const struct dialogue *d, const union address *a, socklen_t len)
{
	socklen_t size = sizeof(int);
	int err;

	if (!connect(d->fd, &a->any, len))
		return 0;
	if (errno != EINPROGRESS)
		return -errno;
	err = wait_for(d, POLLOUT);
	if (err)
		return err;
	return getsockopt(d->fd, SOL_SOCKET, SO_ERROR, &err, &size) ? -errno : -err;
}

static int connect_to(struct dialogue *d)
{
	union address a;
	const socklen_t len = read_address(d->r->place, &a);
	int err;

	if (!len)
		return -EINVAL;
	d->fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (d->fd < 0)
		return -errno;
	/* EAGAIN: the queue of a unix socket is full. */
	while ((err = connect_once(d, &a, len)) == -EAGAIN) {
		if (clock__ns(CLOCK_MONOTONIC) >= d->until_ns)
			return -ETIMEDOUT;
		nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
	}
	return err;
}

static int send_all(const struct dialogue *d, const char *text, size_t len)
{
	while (len) {
		const ssize_t n = send(d->fd, text, len, MSG_NOSIGNAL);

		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (n < 0) {
			const int err = wait_for(d, POLLOUT);

			if (err)
				return err;
			continue;
		}
		text += n;
		len -= (size_t)n;
	}
	return 0;
}

static int send_request(const struct dialogue *d)
{
	const struct monitor_request *r = d->r;
	auto_free char *text = NULL;
	const int len = asprintf(
		&text, "%s %s HTTP/1.0\r\nHost: localhost\r\nConnection: close\r\n%s%s%s%s\r\n",
		r->method, r->path, strcmp(r->method, "GET") ? "Content-Length: 0\r\n" : "",
		r->token ? "Authorization: Bearer " : "", r->token ? r->token : "",
		r->token ? "\r\n" : "");

	if (len < 0) {
		text = NULL;
		return -ENOMEM;
	}
	return send_all(d, text, (size_t)len);
}

/* Reads to the end of the connection. HTTP/1.0 closes it after an answer. */
static int receive_all(const struct dialogue *d, char **out, size_t *len)
{
	size_t cap = 0;
	int err;

	*out = NULL;
	*len = 0;
	for (;;) {
		ssize_t n;

		if (cap - *len < 2) {
			char *more = realloc(*out, cap = cap ? 2 * cap : 64 << 10);

			if (!more)
				return -ENOMEM;
			*out = more;
		}
		n = recv(d->fd, *out + *len, cap - *len - 1, 0);
		if (!n)
			return 0;
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		*len += n > 0 ? (size_t)n : 0;
		if (*len > MONITOR_ANSWER_MAX)
			return -EFBIG;
		/* A sender that sends little by little gets no more time, either. */
		err = n < 0 || clock__ns(CLOCK_MONOTONIC) >= d->until_ns ? wait_for(d, POLLIN) : 0;
		if (err)
			return err;
	}
}

/* Divides "HTTP/1.1 200 OK", headers, an empty line, and the body. */
static int divide(char *text, size_t len, struct monitor_answer *out)
{
	const char *body;
	int status = 0;

	text[len] = '\0';
	body = strstr(text, "\r\n\r\n");
	if (!body || sscanf(text, "HTTP/1.%*1[01] %3d", &status) != 1)
		return -EBADMSG;
	body += 4;
	out->status = status;
	out->len = len - (size_t)(body - text);
	memmove(text, body, out->len + 1);
	out->body = text;
	return 0;
}

static int talk(struct dialogue *d, struct monitor_answer *out)
{
	char *text = NULL;
	size_t len = 0;
	int err = connect_to(d);

	if (!err)
		err = send_request(d);
	if (!err)
		err = receive_all(d, &text, &len);
	if (!err)
		err = text ? divide(text, len, out) : -EBADMSG;
	if (err)
		free(text);
	return err;
}

int monitor_client__ask(const struct monitor_request *r, int timeout_ms, struct monitor_answer *out)
{
	struct dialogue d = {
		.r = r,
		.fd = -1,
		.timeout_ms = timeout_ms,
		.until_ns = clock__ns(CLOCK_MONOTONIC) + (uint64_t)timeout_ms * 1000000,
	};
	int err;

	*out = (struct monitor_answer){0};
	err = talk(&d, out);
	if (d.fd >= 0)
		close(d.fd);
	if (err == -EBADMSG)
		return err__set(err, MESSAGE_MONITOR_NO_HTTP, r->place);
	return err ? failed(&d, err) : 0;
}

void monitor_answer__free(struct monitor_answer *a)
{
	free(a->body);
	*a = (struct monitor_answer){0};
}
