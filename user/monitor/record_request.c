// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/record_request.h"
#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include "common/util.h"

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

#define SECOND_NS   1000000000ull
#define SECONDS_MAX 9999999999ull /* in the year 2286 */

/* "@1767225600": seconds since 1970, as record --start-at takes them. */
static bool parse_at(const char *text, uint64_t *at_ns)
{
	uint64_t seconds = 0;

	*at_ns = 0;
	if (!text)
		return true;
	if (*text++ != '@' || !*text)
		return false;
	for (; *text >= '0' && *text <= '9' && seconds <= SECONDS_MAX / 10; text++)
		seconds = 10 * seconds + (uint64_t)(*text - '0');
	*at_ns = seconds * SECOND_NS;
	return !*text && seconds;
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

/* Checks the time of the window. 0, or the status of the answer. */
static unsigned int check_at(uint64_t at_ns, const struct rank_series *rank, FILE *out)
{
	const uint64_t now_ns = clock__ns(CLOCK_REALTIME);
	const unsigned int ahead_max_s = (unsigned int)(REQUEST_AHEAD_MAX_NS / SECOND_NS);

	if (!at_ns)
		return 0;
	if (at_ns > now_ns && (double)(at_ns - now_ns) / 1e9 >= rank->lead_s &&
	    at_ns - now_ns <= REQUEST_AHEAD_MAX_NS)
		return 0;
	fprintf(out,
		"at: give a time that is %.0f to %u s ahead: probes are attached before. This "
		"host's clock is @%llu\n",
		rank->lead_s + 1, ahead_max_s, (unsigned long long)(now_ns / SECOND_NS));
	return MHD_HTTP_BAD_REQUEST;
}

/* Is the rank in a state in which a window can be asked for? 0, or the status of the answer. */
static unsigned int check_state(uint64_t at_ns, const struct rank_series *rank, FILE *out)
{
	if (rank->state == WATCH_ATTACHING)
		return say(out, MHD_HTTP_CONFLICT, "its session is not ready yet: ask again later");
	if (rank->state == WATCH_ENDING)
		return say(out, MHD_HTTP_CONFLICT, "its session ends");
	if (rank->is_asked)
		return say(out, MHD_HTTP_CONFLICT,
			   "another window at a given time is awaited or recorded: ask again after "
			   "it");
	if (rank->state != WATCH_WAITING && !at_ns)
		return say(out, MHD_HTTP_CONFLICT,
			   "a window of it is recorded or read now: ask again later");
	return 0;
}

static unsigned int hand_on(const struct record_requests *r, const struct rank_series *rank,
			    uint64_t steps, uint64_t at_ns, FILE *out)
{
	const struct window_answer ask = {
		.id = rank->info.id, .asked = ASKED_WINDOW, .steps = steps, .at_ns = at_ns};

	if (send(r->fd, &ask, sizeof(ask), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return say(out, MHD_HTTP_SERVICE_UNAVAILABLE,
			   "the monitor is busy: ask again later");
	if (at_ns) {
		fprintf(out,
			"a window opens at @%llu; latest_recording of /jobs names its file when it "
			"is complete\n",
			(unsigned long long)(at_ns / SECOND_NS));
		return MHD_HTTP_ACCEPTED;
	}
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
	uint64_t steps, at_ns;
	unsigned int status;

	if (!pid)
		return say(out, MHD_HTTP_METHOD_NOT_ALLOWED,
			   "POST goes to /jobs/PID/record?steps=N&at=@SECONDS alone");
	if (!r->token)
		return say(out, MHD_HTTP_FORBIDDEN,
			   "this monitor records nothing on request: start it with --token-file");
	if (!record_request__has_token(r, request))
		return say(out, MHD_HTTP_UNAUTHORIZED,
			   "give the token of --token-file: Authorization: Bearer TOKEN");
	if (request->is_doubled)
		return say(out, MHD_HTTP_BAD_REQUEST, "give each of steps and at once");
	if (!parse_steps(request->steps, &steps))
		return say(out, MHD_HTTP_BAD_REQUEST, "steps: give a number from 1 to 1000");
	if (!parse_at(request->at, &at_ns))
		return say(out, MHD_HTTP_BAD_REQUEST,
			   "at: give seconds since 1970, as in at=@1767225600");
	rank = job_series__of_pid(s, pid);
	if (!rank || rank->ended_ns)
		return say(out, MHD_HTTP_NOT_FOUND,
			   "no process with this number is watched: see /jobs");
	status = check_state(at_ns, rank, out);
	if (!status)
		status = check_at(at_ns, rank, out);
	if (status)
		return status;
	if (s->counts.hold) {
		fprintf(out, "no window opens now: see proftrace_monitor_held, reason %s\n",
			hold_names[s->counts.hold]);
		return MHD_HTTP_SERVICE_UNAVAILABLE;
	}
	return hand_on(r, rank, steps, at_ns, out);
}
