// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/losses.h"
#include <inttypes.h>
#include <stdio.h>

#define LOST_FEW 100 /* even so few are more than 1 % of a short recording */

uint64_t losses__count(const struct analysis *a, char *buf, size_t size)
{
	const struct recording_damage *damage = recording__damage(a->r);
	json_t *loss = json_object_get(recording__summary(a->r), "loss"), *value;
	uint64_t unusable = a->model.malformed + a->model.too_deep, total = 0;
	const char *key;
	size_t at = 0;

	buf[0] = '\0';
	json_object_foreach(loss, key, value)
	{
		json_int_t n = json_is_integer(value) ? json_integer_value(value) : 0;

		if (n <= 0)
			continue;
		total += (uint64_t)n;
		if (at < size)
			at += (size_t)snprintf(buf + at, size - at, "%s%s %lld", at ? ", " : "",
					       key, (long long)n);
	}
	total += damage->lost_events + unusable;
	if (damage->lost_events && at < size)
		at += (size_t)snprintf(buf + at, size - at, "%sdamaged file %llu", at ? ", " : "",
				       (unsigned long long)damage->lost_events);
	if (unusable && at < size)
		snprintf(buf + at, size - at, "%sunusable %llu", at ? ", " : "",
			 (unsigned long long)unusable);
	return total;
}

const char *losses__sentence(const struct analysis *a, char *buf, size_t size)
{
	char where[256];
	uint64_t cnt = losses__count(a, where, sizeof(where));

	if (recording__damage(a->r)->truncated)
		return "the file was cut off: only what came before is counted";
	if (recording__damage(a->r)->bad_chunks)
		return "the file is damaged: names or events are missing, and the tables may be "
		       "wrong";
	if (!cnt)
		return NULL;
	snprintf(buf, size, "%" PRIu64 " events were lost (%s): counts and times are too low", cnt,
		 where);
	return buf;
}

/* Events lost at the end of a file that was cut off. Its whole steps do not miss them. */
static uint64_t lost_at_end(const struct analysis *a)
{
	const struct recording_damage *damage = recording__damage(a->r);

	return damage->truncated && !damage->bad_chunks ? damage->lost_events : 0;
}

const char *losses__why_unsure(const struct analysis *a)
{
	char where[256];
	const uint64_t lost = losses__count(a, where, sizeof(where)) - lost_at_end(a);

	if (lost > LOST_FEW && lost * 100 > recording__event_cnt(a->r))
		return "More than 1 % of the events were lost: nothing is concluded from the rest.";
	if (recording__damage(a->r)->bad_chunks)
		return "The recording is damaged: nothing is concluded from it.";
	return NULL;
}
