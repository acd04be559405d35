/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers HTTP at a socket that is already listening. One thread, which never waits. */
#ifndef PROFTRACE_HTTP_SERVER_H
#define PROFTRACE_HTTP_SERVER_H

#include <stdbool.h>
#include <stdio.h>

struct http_server;

struct http_page {
	unsigned int status;
	const char *type;
	FILE *out; /* the page is written to it */
	int fd;	   /* a file that is the page, closed by the server; -1: out is the page */
	bool is_report;	/* contains scripts and styles, and is isolated from our other pages */
	unsigned int retry_after_s; /* seconds for the header Retry-After; 0: none */
	bool is_later; /* the page comes later: the request is repeated at http_server__resume() */
};

struct http_request {
	const char *path;
	bool is_post;	   /* else GET or HEAD */
	bool wants_html;   /* the request comes from a browser */
	const char *bearer; /* the token of its Authorization header, NULL: none */
	/* Of the query string. NULL: none. "": without a value. */
	const char *steps, *at, *recording;
	bool is_doubled; /* one of these is given twice */
};

/* Writes the page of a path, or the answer to a POST. False: the path does not exist. */
typedef bool http_page_fn(void *ctx, const struct http_request *request, struct http_page *page);

/* check_host: refuses browsers that came through another host name. 0 or a negative errno with
 * err__set. */
int http_server__start(int listen_fd, bool check_host, http_page_fn *make, void *ctx,
		       struct http_server **out);
/* The descriptor is readable when there is work. The next function does it. */
int http_server__fd(const struct http_server *s);
void http_server__run(struct http_server *s);
/* Repeats the requests whose page was to come later. */
void http_server__resume(struct http_server *s);
/* Milliseconds until it must run again; -1: only when its descriptor is readable. */
int http_server__timeout_ms(const struct http_server *s);
void http_server__stop(struct http_server *s);

#endif
