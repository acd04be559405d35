// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/http_server.h"
#include <limits.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "common/err.h"
#include "monitor/message_table.h"
#include "common/util.h"

#define CONNECTIONS_MAX	 32
#define CONNECTION_BYTES (32 << 10) /* memory for each request */
#define SILENT_S	 10
#define LATER_MAX	 8 /* connections that wait for a page; others are answered meanwhile */

/* A page of the monitor may load only scripts and styles from the monitor, and connect to nothing
 * else. */
#define OWN_POLICY                                                                                 \
	"default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src "     \
	"'self'; base-uri "                                                                        \
	"'none'; form-action 'none'; frame-ancestors 'none'"
/* The contents of a recording come from the job. So its page gets an origin of its own, and its
 * scripts cannot send requests to the monitor. */
#define REPORT_POLICY                                                                              \
	"sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline'; "  \
	"style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'; "    \
	"frame-ancestors 'none'"

struct http_server {
	struct MHD_Daemon *daemon;
	int fd;
	bool check_host;
	http_page_fn *make;
	void *ctx;
	struct MHD_Connection *later[LATER_MAX];
	size_t later_cnt;
};

static void add_headers(struct MHD_Response *r, const struct http_page *page)
{
	const char *const headers[][2] = {
		{"Content-Type", page->type},
		{"X-Content-Type-Options", "nosniff"},
		{"Cache-Control", "no-store"},
		{"Referrer-Policy", "no-referrer"},
		{"Vary", "Accept"},
		{"Content-Security-Policy", page->is_report ? REPORT_POLICY : OWN_POLICY},
	};
	char seconds[16];

	for (size_t i = 0; i < ARRAY_SIZE(headers); i++)
		MHD_add_response_header(r, headers[i][0], headers[i][1]);
	snprintf(seconds, sizeof(seconds), "%u", page->retry_after_s);
	if (page->retry_after_s)
		MHD_add_response_header(r, "Retry-After", seconds);
}

/* Takes over text and the page's file. */
static enum MHD_Result answer(struct MHD_Connection *c, const struct http_page *page, char *text,
			      size_t len)
{
	struct MHD_Response *r;
	enum MHD_Result done;
	struct stat st;

	if (page->fd < 0) {
		r = MHD_create_response_from_buffer(len, text, MHD_RESPMEM_MUST_FREE);
	} else {
		free(text);
		r = fstat(page->fd, &st)
			    ? NULL
			    : MHD_create_response_from_fd64((uint64_t)st.st_size, page->fd);
	}
	if (!r) {
		if (page->fd < 0)
			free(text);
		else
			close(page->fd);
		return MHD_NO;
	}
	add_headers(r, page);
	done = MHD_queue_response(c, page->status, r);
	MHD_destroy_response(r);
	return done;
}

static enum MHD_Result refuse(struct MHD_Connection *c, unsigned int status, const char *why)
{
	const struct http_page page = {
		.status = status, .type = "text/plain; charset=utf-8", .fd = -1};
	char *text = strdup(why);

	return text ? answer(c, &page, text, strlen(text)) : MHD_NO;
}

/* Otherwise a page of a stranger, with a host name that leads to 127.0.0.1, could read our
 * answers. */
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

static enum MHD_Result wait_for_page(struct http_server *s, struct MHD_Connection *c)
{
	if (s->later_cnt == LATER_MAX)
		return refuse(c, MHD_HTTP_SERVICE_UNAVAILABLE,
			      "Others wait for pages: ask again later.\n");
	s->later[s->later_cnt++] = c;
	MHD_suspend_connection(c);
	return MHD_YES;
}

static bool wants_html(struct MHD_Connection *c)
{
	const char *accept = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Accept");

	return accept && strstr(accept, "text/html");
}

static enum MHD_Result take_argument(void *ctx, enum MHD_ValueKind kind, const char *key,
				     const char *value)
{
	struct http_request *request = ctx;
	const struct {
		const char *key, **value;
	} known[] = {{"steps", &request->steps},
		     {"at", &request->at},
		     {"recording", &request->recording}};

	(void)kind;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (strcmp(key, known[i].key) != 0)
			continue;
		request->is_doubled |= *known[i].value != NULL;
		*known[i].value = value ? value : "";
	}
	return MHD_YES;
}

static enum MHD_Result answer_page(struct http_server *s, struct MHD_Connection *c,
				   const char *path, bool is_post)
{
	const char *said = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Authorization");
	struct http_request request = {
		.path = path,
		.is_post = is_post,
		.wants_html = wants_html(c),
		.bearer = said && !strncasecmp(said, BEARER, strlen(BEARER)) ? said + strlen(BEARER)
									     : NULL,
	};
	struct http_page page = {.status = MHD_HTTP_OK, .fd = -1};
	char *text = NULL;
	size_t len = 0;
	bool made;

	MHD_get_connection_values(c, MHD_GET_ARGUMENT_KIND, take_argument, &request);
	page.out = open_memstream(&text, &len);
	if (!page.out)
		return MHD_NO;
	made = s->make(s->ctx, &request, &page);
	if (fclose(page.out)) {
		free(text);
		if (page.fd >= 0)
			close(page.fd);
		return MHD_NO;
	}
	if (made && !page.is_later)
		return answer(c, &page, text, len);
	free(text);
	if (made)
		return wait_for_page(s, c);
	return refuse(c, MHD_HTTP_NOT_FOUND,
		      "There are /, /jobs, /jobs/PID, /jobs/PID/report.html, /metrics and "
		      "/health.\n");
}

static enum MHD_Result on_request(void *ctx, struct MHD_Connection *c, const char *path,
				  const char *method, const char *version, const char *data,
				  size_t *len, void **state)
{
	const bool is_post = !strcmp(method, MHD_HTTP_METHOD_POST);
	static int seen;

	/* The first call comes after the head. An answer at this point would end the connection. */
	if (!*state) {
		*state = &seen;
		return MHD_YES;
	}
	if (*len) {
		*len = 0; /* request bodies are ignored */
		return MHD_YES;
	}
	if (!is_post && strcmp(method, MHD_HTTP_METHOD_GET) != 0 &&
	    strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return refuse(c, MHD_HTTP_METHOD_NOT_ALLOWED, "GET, or POST /jobs/PID/record.\n");
	if (((struct http_server *)ctx)->check_host && !is_local_name(c))
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
	s->daemon = MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL,
				     on_request, s, MHD_OPTION_LISTEN_SOCKET, listen_fd,
				     MHD_OPTION_CONNECTION_LIMIT, (unsigned int)CONNECTIONS_MAX,
				     MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
				     MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)SILENT_S,
				     MHD_OPTION_END);
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

void http_server__resume(struct http_server *s)
{
	while (s->later_cnt)
		MHD_resume_connection(s->later[--s->later_cnt]);
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
	if (s && s->daemon) {
		http_server__resume(s);
		MHD_stop_daemon(s->daemon);
	}
	free(s);
}
