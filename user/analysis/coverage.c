// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/coverage.h"
#include "analysis/analysis.h"
#include <inttypes.h>
#include <jansson.h>

/* When the last device event ended. 0: there is none. */
static uint64_t latest_device_ns(const struct recording *r)
{
	struct recording_cursor *c;
	struct event e;
	uint64_t latest_ns = 0;

	if (recording_cursor__open(r, &c))
		return 0;
	while (recording_cursor__next(c, &e) > 0)
		if (e.type == EVENT_DEVICE && e.ts_ns + e.dur_ns > latest_ns)
			latest_ns = e.ts_ns + e.dur_ns;
	recording_cursor__close(c);
	return latest_ns;
}

/* CUPTI delivers records long after the call. Records that CUPTI still had when the file was cut
 * off are missing. */
static struct coverage of_cut_file(const struct recording *r)
{
	return (struct coverage){.ends = true,
				 .end_ns = latest_device_ns(r),
				 .why = "the file was cut off before more had come from CUPTI"};
}

struct coverage coverage__of(const struct recording *r)
{
	const json_t *device = json_object_get(recording__summary(r), "device");
	const json_t *until = json_object_get(device, "covered_until_ns");
	const json_t *launches = json_object_get(device, "launches_without_work");
	const char *why = json_string_value(json_object_get(device, "refused"));
	struct coverage c = {.why = why ? why : "the library in the process ended"};

	if (!recording__summary(r) && json_object_get(recording__meta(r), "device_source"))
		return of_cut_file(r);
	c.ends = json_is_integer(until);
	if (json_integer_value(until) > 0)
		c.end_ns = (uint64_t)json_integer_value(until);
	if (json_integer_value(launches) > 0)
		c.launches = (uint64_t)json_integer_value(launches);
	return c;
}

bool coverage__knows(const struct coverage *c, uint64_t end_ns)
{
	return !c->ends || end_ns <= c->end_ns;
}

void coverage__add_step(struct coverage *c, const struct step *step)
{
	if (coverage__knows(c, step->ts_ns + step->dur_ns)) {
		c->steps_ns += step->cpu_ns;
		return;
	}
	if (step->ts_ns < c->end_ns)
		c->steps_ns += c->end_ns - step->ts_ns;
	if (c->has_gap)
		return;
	c->has_gap = true;
	c->first_uncovered = step->index;
}

bool coverage__is_partial(const struct analysis *a)
{
	return a->coverage.ends && (a->coverage.has_gap || !a->steps.calls);
}

/* The part of the window, from its begin, for which device work is known. */
static uint64_t covered_ns(const struct analysis *a)
{
	const json_t *w = json_array_get(json_object_get(recording__summary(a->r), "windows"), 0);
	const json_t *at = json_object_get(w, "begin_ns");
	const uint64_t begin = json_is_integer(at) && json_integer_value(at) >= 0
				       ? (uint64_t)json_integer_value(at)
				       : a->first_ns;

	return a->coverage.end_ns > begin ? a->coverage.end_ns - begin : 0;
}

uint64_t coverage__known_ns(const struct analysis *a)
{
	if (!coverage__is_partial(a))
		return analysis__total_ns(a);
	return a->steps.calls ? a->coverage.steps_ns : covered_ns(a);
}

int coverage__note_table(const struct analysis *a, struct table *t)
{
	if (!coverage__is_partial(a))
		return 0;
	if (!a->steps.calls)
		return table__add_notef(t,
					"device times end %s after the window's begin: %s; after "
					"that no device work is known.",
					time_text(a, covered_ns(a)).s, a->coverage.why);
	return table__add_notef(t,
				"device times end at step %" PRIu64
				": %s; of the steps after it no device work is known.",
				a->coverage.first_uncovered, a->coverage.why);
}

/* "; 12 launches were seen whose work was not", or nothing. */
static const char *missing_text(const struct coverage *c, char *buf, size_t size)
{
	buf[0] = '\0';
	if (c->launches)
		snprintf(buf, size, "; %" PRIu64 " launch%s seen whose work was not", c->launches,
			 c->launches == 1 ? " was" : "es were");
	return buf;
}

int coverage__note_foot(const struct analysis *a, struct table *t)
{
	const struct coverage *c = &a->coverage;
	char missing[80];

	if (!coverage__is_partial(a))
		return 0;
	missing_text(c, missing, sizeof(missing));
	if (!a->steps.calls)
		return table__add_notef(t, "device times for the first %s of %s: %s%s.",
					time_text(a, covered_ns(a)).s,
					time_text(a, analysis__window_ns(a)).s, c->why, missing);
	return table__add_notef(
		t, "device times until step %" PRIu64 " of [%" PRIu64 ",%" PRIu64 "): %s%s.",
		c->first_uncovered, a->first_step, a->last_step + 1, c->why, missing);
}
