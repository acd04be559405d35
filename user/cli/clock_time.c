// SPDX-License-Identifier: BSD-2-Clause
#include "cli/clock_time.h"
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "common/duration_text.h"
#include "common/err.h"
#include "cli/message_table.h"
#include "common/util.h"

static const char *parse_tm(const char *text, const char *format, struct tm *tm)
{
	const char *end = strptime(text, format, tm);

	return end && (!*end || !strcmp(end, "Z")) ? end : NULL;
}

#define LATEST                                                                                     \
	(INT64_MAX / 1000000000) /* in the year 2262: later times do not fit into                  \
				    nanoseconds */

static int parse_seconds(const char *option, time_t *at)
{
	char *end;
	long long seconds;

	errno = 0;
	seconds = strtoll(option + 1, &end, 10);
	if (end == option + 1 || *end)
		return -EINVAL;
	if (errno || seconds < 0 || seconds > LATEST)
		return err__set(-ERANGE, MESSAGE_START_AT_SECONDS_INVALID, option);
	*at = (time_t)seconds;
	return 0;
}

/* strptime accepts 31 days in every month. */
static bool is_day(const struct tm *tm)
{
	struct tm day = {.tm_year = tm->tm_year, .tm_mon = tm->tm_mon, .tm_mday = tm->tm_mday};

	timegm(&day);
	return day.tm_mday == tm->tm_mday;
}

static int set_date(const char *text, bool utc, struct tm *tm, time_t *at)
{
	if (!is_day(tm))
		return err__set(-ERANGE, MESSAGE_START_AT_DAY_INVALID, text, tm->tm_mday);
	tm->tm_isdst = -1;
	*at = utc ? timegm(tm) : mktime(tm);
	if (*at > LATEST)
		return err__set(-ERANGE, MESSAGE_START_AT_TOO_FAR, text);
	return 0;
}

/* The next time at which the local clock shows tm. */
static time_t next_time(struct tm *tm, time_t now)
{
	time_t at;

	tm->tm_isdst = -1;
	at = mktime(tm);
	if (at > now)
		return at;
	tm->tm_mday++;
	tm->tm_isdst = -1;
	return mktime(tm);
}

/* 0; -EINVAL: text has none of the forms; or another negative errno with err__set. */
static int parse(const char *text, time_t now, time_t *at)
{
	static const char *const of_day[] = {"%H:%M:%S", "%H:%M"};
	struct tm tm = {0};
	const char *end;

	if (*text == '@')
		return parse_seconds(text, at);
	end = parse_tm(text, "%Y-%m-%dT%H:%M:%S", &tm);
	if (end)
		return set_date(text, *end, &tm, at);
	for (size_t i = 0; i < ARRAY_SIZE(of_day); i++) {
		localtime_r(&now, &tm);
		tm.tm_sec = 0;
		end = parse_tm(text, of_day[i], &tm);
		if (end && *end)
			return err__set(-ERANGE, MESSAGE_START_AT_DATE_MISSING, text);
		if (end) {
			*at = next_time(&tm, now);
			return 0;
		}
	}
	return -EINVAL;
}

static int is_over(const char *text, time_t now, time_t at)
{
	char clock[32] = "";
	struct tm tm;

	if (localtime_r(&now, &tm))
		strftime(clock, sizeof(clock), "%Y-%m-%dT%H:%M:%S", &tm);
	return err__set(-EINVAL, MESSAGE_START_AT_PAST, text, duration_text((uint64_t)(now - at)).s,
			clock, (long long)now);
}

int clock_time__parse(const char *text, time_t now, uint64_t *ns)
{
	time_t at = 0;
	int err = parse(text, now, &at);

	if (err == -EINVAL)
		return err__set(-EINVAL, MESSAGE_START_AT_INVALID, text);
	if (err)
		return -EINVAL;
	if (at <= now)
		return is_over(text, now, at);
	*ns = (uint64_t)at * 1000000000ull;
	return 0;
}
