/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks the monitor of this host by HTTP, at a loopback address or a unix socket. */
#ifndef PROFTRACE_TOP_MONITOR_CLIENT_H
#define PROFTRACE_TOP_MONITOR_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#define MONITOR_ANSWER_MAX (16u << 20)

struct monitor_request {
	const char *place;  /* "127.0.0.1:PORT", "[::1]:PORT", "localhost:PORT" or a path */
	const char *method; /* "GET" */
	const char *path;
	const char *token; /* NULL: none */
};

struct monitor_answer {
	int status;
	char *body; /* NUL-terminated; freed with monitor_answer__free */
	size_t len;
};

/* 0, or -EINVAL with err__set. */
int monitor_client__check(const char *place);
/* Waits for the whole answer, at most timeout_ms. 0 or a negative errno with err__set, such as
 * -ETIMEDOUT, -ECONNREFUSED and -ENOENT (there is no socket). */
int monitor_client__ask(const struct monitor_request *r, int timeout_ms, struct monitor_answer *out);
void monitor_answer__free(struct monitor_answer *a);

#endif
