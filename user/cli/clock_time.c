// SPDX-License-Identifier: BSD-2-Clause
#include "cli/clock_time.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"

static const char *parse_tm(const char *text, const char *format, struct tm *tm)
{
	const char *end = strptime(text, format, tm);

	return end && (!*end || !strcmp(end, "Z")) ? end : NULL;
}

/* -1: none of the forms. */
static time_t parse(const char *text, time_t now)
{
	struct tm tm, today;
	const char *end;
	time_t at;

	if (*text == '@') {
		char *rest;
		long long seconds = strtoll(text + 1, &rest, 10);

		return rest > text + 1 && !*rest && seconds > 0 ? (time_t)seconds : -1;
	}
	memset(&tm, 0, sizeof(tm));
	end = parse_tm(text, "%Y-%m-%dT%H:%M:%S", &tm);
	if (end) {
		tm.tm_isdst = -1;
		return *end ? timegm(&tm) : mktime(&tm);
	}
	localtime_r(&now, &today);
	tm = today;
	tm.tm_sec = 0;
	end = parse_tm(text, "%H:%M:%S", &tm);
	if (!end) {
		tm = today;
		tm.tm_sec = 0;
		end = parse_tm(text, "%H:%M", &tm);
	}
	if (!end || *end)
		return -1;
	tm.tm_isdst = -1;
	at = mktime(&tm);
	if (at <= now) {
		tm.tm_mday++;
		tm.tm_isdst = -1;
		at = mktime(&tm);
	}
	return at;
}

int clock_time__parse(const char *text, time_t now, uint64_t *ns)
{
	time_t at = parse(text, now);

	if (at < 0)
		return err__set(
			-EINVAL,
			"--start-at %s: give a time, as in 14:30, 2026-01-31T14:30:00, with a Z "
			"for UTC, or @SECONDS since 1970",
			text);
	if (at <= now)
		return err__set(-EINVAL, "--start-at %s: that is over by %lld s", text,
				(long long)(now - at));
	*ns = (uint64_t)at * 1000000000ull;
	return 0;
}
