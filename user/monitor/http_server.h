/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers HTTP at a socket that listens already. One thread, nothing is waited for. */
#ifndef PROFTRACE_HTTP_SERVER_H
#define PROFTRACE_HTTP_SERVER_H

#include <stdbool.h>
#include <stdio.h>

struct http_server;

struct http_page {
	unsigned int status;
	const char *type;
	FILE *out; /* what the page is written to */
	int fd;	   /* a file that is the page, closed by the server; -1: what was written */
	bool is_report;	/* has scripts and styles in it, and is kept from all else here */
	unsigned int retry_after_s; /* 0: not said */
	bool is_later; /* not yet: the request is made again at http_server__resume() */
};

struct http_request {
	const char *path;
	bool is_post;	   /* else GET or HEAD */
	bool wants_html;   /* a browser asks */
	const char *bearer; /* the token of its Authorization, NULL: it has none */
	const char *steps, *recording;	/* of its query, NULL: none */
};

/* Writes the page of a path, or the answer to a POST; false: there is no such path. */
typedef bool http_page_fn(void *ctx, const struct http_request *request, struct http_page *page);

/* check_host: a browser that was led here by another name is sent away. 0 or a negative errno with
 * err__set. */
int http_server__start(int listen_fd, bool check_host, http_page_fn *make, void *ctx,
		       struct http_server **out);
/* Readable when there is something to do; do it. */
int http_server__fd(const struct http_server *s);
void http_server__run(struct http_server *s);
/* Makes the requests again whose page was to come later. */
void http_server__resume(struct http_server *s);
/* Milliseconds until it must run again; -1: when its descriptor says so. */
int http_server__timeout_ms(const struct http_server *s);
void http_server__stop(struct http_server *s);

#endif
