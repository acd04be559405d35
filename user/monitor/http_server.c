// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/http_server.h"
#include <limits.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "monitor/message_table.h"
#include "common/util.h"

#define CONNECTIONS_MAX	 32
#define CONNECTION_BYTES (32 << 10) /* of a request and what is kept of it */
#define SILENT_S	 10

struct http_server {
	struct MHD_Daemon *daemon;
	int fd;
	bool check_host;
	http_page_fn *make;
	void *ctx;
};

static enum MHD_Result answer(struct MHD_Connection *c, unsigned int status, const char *type,
			      char *text, size_t len)
{
	static const char *const headers[][2] = {
		{"X-Content-Type-Options", "nosniff"},
		{"Cache-Control", "no-store"},
		{"Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'"},
	};
	struct MHD_Response *r = MHD_create_response_from_buffer(len, text, MHD_RESPMEM_MUST_FREE);
	enum MHD_Result done;

	if (!r) {
		free(text);
		return MHD_NO;
	}
	MHD_add_response_header(r, "Content-Type", type);
	for (size_t i = 0; i < ARRAY_SIZE(headers); i++)
		MHD_add_response_header(r, headers[i][0], headers[i][1]);
	done = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return done;
}

static enum MHD_Result refuse(struct MHD_Connection *c, unsigned int status, const char *why)
{
	char *text = strdup(why);

	return text ? answer(c, status, "text/plain; charset=utf-8", text, strlen(text)) : MHD_NO;
}

/* Else a page of a stranger, whose name leads to 127.0.0.1, could read what we say. */
static bool is_local_name(struct MHD_Connection *c)
{
	static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
	const char *host = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Host");

	if (!host)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const size_t len = strlen(names[i]);

		if (!strncmp(host, names[i], len) && (!host[len] || host[len] == ':'))
			return true;
	}
	return false;
}

#define BEARER "Bearer "

static enum MHD_Result answer_page(const struct http_server *s, struct MHD_Connection *c,
				   const char *path, bool is_post)
{
	const char *said = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Authorization");
	const struct http_request request = {
		.path = path,
		.is_post = is_post,
		.bearer = said && !strncmp(said, BEARER, strlen(BEARER)) ? said + strlen(BEARER)
									 : NULL,
		.steps = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "steps"),
	};
	struct http_page page = {.status = MHD_HTTP_OK};
	char *text = NULL;
	size_t len = 0;
	bool made;

	page.out = open_memstream(&text, &len);
	if (!page.out)
		return MHD_NO;
	made = s->make(s->ctx, &request, &page);
	if (fclose(page.out)) {
		free(text);
		return MHD_NO;
	}
	if (made)
		return answer(c, page.status, page.type, text, len);
	free(text);
	return refuse(c, MHD_HTTP_NOT_FOUND, "There are /, /jobs, /metrics and /health.\n");
}

static enum MHD_Result on_request(void *ctx, struct MHD_Connection *c, const char *path,
				  const char *method, const char *version, const char *data,
				  size_t *len, void **state)
{
	const bool is_post = !strcmp(method, MHD_HTTP_METHOD_POST);
	static int seen;

	/* The first call has the head alone; to answer then would end the connection. */
	if (!*state) {
		*state = &seen;
		return MHD_YES;
	}
	if (*len) {
		*len = 0; /* a body is nothing to us */
		return MHD_YES;
	}
	if (!is_post && strcmp(method, MHD_HTTP_METHOD_GET) != 0 &&
	    strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return refuse(c, MHD_HTTP_METHOD_NOT_ALLOWED, "GET, or POST /jobs/PID/record.\n");
	if (((const struct http_server *)ctx)->check_host && !is_local_name(c))
		return refuse(c, MHD_HTTP_FORBIDDEN, "Ask by 127.0.0.1 or localhost.\n");
	return answer_page(ctx, c, path, is_post);
}

int http_server__start(int listen_fd, bool check_host, http_page_fn *make, void *ctx,
		       struct http_server **out)
{
	struct http_server *s = calloc(1, sizeof(*s));
	const union MHD_DaemonInfo *info;

	if (!s)
		return -ENOMEM;
	*s = (struct http_server){.check_host = check_host, .make = make, .ctx = ctx};
	s->daemon = MHD_start_daemon(
		MHD_USE_EPOLL, 0, NULL, NULL, on_request, s, MHD_OPTION_LISTEN_SOCKET, listen_fd,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned int)CONNECTIONS_MAX,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)SILENT_S, MHD_OPTION_END);
	info = s->daemon ? MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
	if (!info) {
		http_server__stop(s);
		return err__set(-EIO, MESSAGE_HTTP_NOT_SERVED);
	}
	s->fd = info->epoll_fd;
	*out = s;
	return 0;
}

int http_server__fd(const struct http_server *s)
{
	return s->fd;
}

void http_server__run(struct http_server *s)
{
	MHD_run(s->daemon);
}

int http_server__timeout_ms(const struct http_server *s)
{
	MHD_UNSIGNED_LONG_LONG ms;

	if (MHD_get_timeout(s->daemon, &ms) != MHD_YES)
		return -1;
	return ms < INT_MAX ? (int)ms : INT_MAX;
}

void http_server__stop(struct http_server *s)
{
	if (s && s->daemon)
		MHD_stop_daemon(s->daemon);
	free(s);
}
