/* SPDX-License-Identifier: BSD-2-Clause */
/* POST /jobs/PID/record?steps=N&at=@SECONDS: a user with the token asks for a window, now or at a time. */
#ifndef PROFTRACE_RECORD_REQUEST_H
#define PROFTRACE_RECORD_REQUEST_H

#include <stdio.h>
#include "monitor/http_server.h"
#include "monitor/job_series.h"

struct record_requests {
	const char *token; /* NULL: nobody may ask */
	int fd;		   /* socket to the parent, which opens the window */
};

/* Does the request have the token? */
bool record_request__has_token(const struct record_requests *r, const struct http_request *request);
/* Passes the request on and writes the answer. Returns the HTTP status: 202 if a window opens at
 * the next step, or at that time. */
unsigned int record_request__take(const struct record_requests *r,
				  const struct http_request *request, const struct job_series *s,
				  FILE *out);

#endif
