// SPDX-License-Identifier: BSD-2-Clause
/* POST /jobs/PID/record: what is asked of the parent, and what is refused. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include "common/util.h"
#include "monitor/record_request.h"

#define SECOND_NS 1000000000ull

struct asking {
	struct job_series series;
	struct rank_state state;
	struct http_request request;
	int fds[2];
	char *answer;
};

static struct asking asking(const char *steps, const char *at)
{
	const struct rank_info rank = {.id = 7, .pid = 42, .rank = 0};
	struct asking a = {
		.series.series_max = 5000,
		.state = {.id = 7, .state = WATCH_WAITING, .lead_s = 2},
		.request = {.path = "/jobs/42/record",
			    .is_post = true,
			    .bearer = "s3cret",
			    .steps = steps,
			    .at = at},
	};

	cr_assert_not_null(job_series__begin(&a.series, &rank));
	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, a.fds), 0);
	return a;
}

static unsigned int take(struct asking *a)
{
	const struct record_requests requests = {.token = "s3cret", .fd = a->fds[0]};
	size_t len;
	FILE *out = open_memstream(&a->answer, &len);
	unsigned int status;

	job_series__set_state(&a->series, &a->state);
	status = record_request__take(&requests, &a->request, &a->series, out);
	fclose(out);
	return status;
}

/* What the parent gets; asked is ASKED_NOTHING if it gets nothing. */
static struct window_answer sent(const struct asking *a)
{
	struct window_answer said = {.asked = ASKED_NOTHING};

	if (recv(a->fds[1], &said, sizeof(said), MSG_DONTWAIT) != sizeof(said))
		said.asked = ASKED_NOTHING;
	return said;
}

static void forget(struct asking *a)
{
	close(a->fds[0]);
	close(a->fds[1]);
	free(a->answer);
	job_series__free(&a->series);
}

/* A time that many seconds from now, as in a request. */
static const char *in_seconds(char *text, size_t size, int seconds)
{
	snprintf(text, size, "@%lld", (long long)time(NULL) + seconds);
	return text;
}

static void expect_refused(const char *steps, const char *at, const char *why)
{
	struct asking a = asking(steps, at);

	cr_expect_eq(take(&a), 400, "%s", at);
	cr_expect_not_null(strstr(a.answer, why), "%s: %s", at, a.answer);
	cr_expect_eq(sent(&a).asked, ASKED_NOTHING, "%s", at);
	forget(&a);
}

Test(monitor_request, a_window_now)
{
	struct asking a = asking("12", NULL);
	struct window_answer said;

	cr_expect_eq(take(&a), 202);
	said = sent(&a);
	cr_expect(said.asked == ASKED_WINDOW && said.id == 7 && said.steps == 12 && !said.at_ns);
	forget(&a);
}

Test(monitor_request, a_window_at_a_time)
{
	static const int ahead[] = {4, 30, 599};
	char at[32];

	for (size_t i = 0; i < ARRAY_SIZE(ahead); i++) {
		struct asking a = asking(NULL, in_seconds(at, sizeof(at), ahead[i]));
		struct window_answer said;

		cr_expect_eq(take(&a), 202, "%s", a.answer);
		cr_expect_not_null(strstr(a.answer, at), "%s", a.answer);
		said = sent(&a);
		cr_expect_eq(said.asked, ASKED_WINDOW);
		cr_expect_eq(said.at_ns, strtoull(at + 1, NULL, 10) * SECOND_NS);
		forget(&a);
	}
}

Test(monitor_request, times_that_are_none_are_refused)
{
	static const char *const bad[] = {
		"",
		"@",
		"@-5",
		"@+5",
		"@ 5",
		"1767225600",
		"@1e9",
		"@nan",
		"@inf",
		"@0x10",
		"@5.5",
		"@5@5",
		"@99999999999999999999999999",
		"@0",
		"@5 ",
		"14:30",
		"@18446744073709551617",
		"@-0",
		"@@5",
		"@5\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		expect_refused(NULL, bad[i], "at: give seconds since 1970");
}

Test(monitor_request, times_too_near_or_too_far_are_refused)
{
	static const int ahead[] = {-100000, -1, 0, 1, 602, 100000};
	char at[32];

	for (size_t i = 0; i < ARRAY_SIZE(ahead); i++)
		expect_refused(NULL, in_seconds(at, sizeof(at), ahead[i]),
			       "at: give a time that is 3 to 600 s ahead");
	expect_refused(NULL, "@9999999999", "at: give a time that is 3 to 600 s ahead");
	expect_refused(NULL, "@1", "at: give a time that is 3 to 600 s ahead");
}

Test(monitor_request, a_session_that_needs_longer_is_asked_earlier)
{
	char at[32];
	struct asking a = asking(NULL, in_seconds(at, sizeof(at), 10));

	a.state.lead_s = 20;
	cr_expect_eq(take(&a), 400);
	cr_expect_not_null(strstr(a.answer, "21 to 600 s ahead"), "%s", a.answer);
	forget(&a);
}

Test(monitor_request, doubled_parameters_are_refused)
{
	struct asking a = asking("12", NULL);

	a.request.is_doubled = true;
	cr_expect_eq(take(&a), 400);
	cr_expect_eq(sent(&a).asked, ASKED_NOTHING);
	forget(&a);
}

/* While another window is open or read, only a later one can be asked for. */
Test(monitor_request, states)
{
	static const struct {
		enum watch_state state;
		bool is_asked;
		unsigned int now, later;
	} cases[] = {
		{WATCH_ATTACHING, false, 409, 409}, {WATCH_WAITING, false, 202, 202},
		{WATCH_RECORDING, false, 409, 202}, {WATCH_READING, false, 409, 202},
		{WATCH_ENDING, false, 409, 409},    {WATCH_WAITING, true, 409, 409},
	};
	char at[32];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		for (int later = 0; later < 2; later++) {
			struct asking a =
				asking(NULL, later ? in_seconds(at, sizeof(at), 60) : NULL);

			a.state.state = cases[i].state;
			a.state.is_asked = cases[i].is_asked;
			cr_expect_eq(take(&a), later ? cases[i].later : cases[i].now, "%zu: %s", i,
				     a.answer);
			forget(&a);
		}
}
