// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/record_request.h"
#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* Compares in constant time. */
static bool is_token(const char *token, const char *said)
{
	const size_t len = strlen(token), said_len = strlen(said);
	unsigned char differs = len != said_len;

	for (size_t i = 0; i < said_len; i++)
		differs |= (unsigned char)(said[i] ^ token[i % (len + 1)]);
	return !differs;
}

/* 0: the path is of another kind. */
static int pid_of(const char *path)
{
	static const char begin[] = "/jobs/";
	char *end;
	long pid;

	if (strncmp(path, begin, strlen(begin)) != 0 || path[strlen(begin)] < '1' ||
	    path[strlen(begin)] > '9')
		return 0;
	errno = 0;
	pid = strtol(path + strlen(begin), &end, 10);
	return errno || pid > INT32_MAX || strcmp(end, "/record") != 0 ? 0 : (int)pid;
}

static bool parse_steps(const char *text, uint64_t *steps)
{
	char *end;

	*steps = 0;
	if (!text)
		return true;
	errno = 0;
	*steps = strtoull(text, &end, 10);
	return *text >= '1' && *text <= '9' && !*end && !errno && *steps <= REQUEST_STEPS_MAX;
}

bool record_request__has_token(const struct record_requests *r, const struct http_request *request)
{
	return r->token && request->bearer && is_token(r->token, request->bearer);
}

static unsigned int say(FILE *out, unsigned int status, const char *text)
{
	fprintf(out, "%s\n", text);
	return status;
}

static unsigned int hand_on(const struct record_requests *r, const struct rank_series *rank,
			    uint64_t steps, FILE *out)
{
	const struct window_answer ask = {
		.id = rank->info.id, .asked = ASKED_WINDOW, .steps = steps};

	if (send(r->fd, &ask, sizeof(ask), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return say(out, MHD_HTTP_SERVICE_UNAVAILABLE,
			   "the monitor is busy: ask again later");
	return say(out, MHD_HTTP_ACCEPTED,
		   "a window opens at the next step; latest_recording of /jobs names its file when "
		   "it is complete");
}

unsigned int record_request__take(const struct record_requests *r,
				  const struct http_request *request, const struct job_series *s,
				  FILE *out)
{
	const struct rank_series *rank;
	const int pid = pid_of(request->path);
	uint64_t steps;

	if (!pid)
		return say(out, MHD_HTTP_METHOD_NOT_ALLOWED,
			   "POST goes to /jobs/PID/record?steps=N alone");
	if (!r->token)
		return say(out, MHD_HTTP_FORBIDDEN,
			   "this monitor records nothing on request: start it with --token-file");
	if (!record_request__has_token(r, request))
		return say(out, MHD_HTTP_UNAUTHORIZED,
			   "give the token of --token-file: Authorization: Bearer TOKEN");
	if (!parse_steps(request->steps, &steps))
		return say(out, MHD_HTTP_BAD_REQUEST, "steps: give a number from 1 to 1000");
	rank = job_series__of_pid(s, pid);
	if (!rank || rank->ended_ns)
		return say(out, MHD_HTTP_NOT_FOUND,
			   "no process with this number is watched: see /jobs");
	if (rank->state != WATCH_WAITING)
		return say(out, MHD_HTTP_CONFLICT,
			   rank->state == WATCH_ATTACHING
				   ? "its session is not ready yet: ask again later"
				   : "a window of it is recorded or read now: ask again later");
	if (s->counts.hold) {
		fprintf(out, "no window opens now: see proftrace_monitor_held, reason %s\n",
			hold_names[s->counts.hold]);
		return MHD_HTTP_SERVICE_UNAVAILABLE;
	}
	return hand_on(r, rank, steps, out);
}
