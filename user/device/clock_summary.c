// SPDX-License-Identifier: BSD-2-Clause
#include "device/clock_summary.h"
#include <math.h>
#include <stdio.h>

#define MS 1e6

struct clocks {
	json_t *list, *notes;
	uint64_t close_ns;
};

static const char *side(double shift_ns)
{
	return shift_ns < 0 ? "ahead of" : "behind";
}

/* The certain range of the clock's error: the bounds of the shift, the one nearer to zero first. */
static void bounds_text(const struct clock_line *line, char *text, size_t size)
{
	const bool ahead = line->shift_ns < 0;
	const double off = fabs(line->shift_ns);
	const double least = off - (ahead ? line->above_ns : line->below_ns);
	const double most = off + (ahead ? line->below_ns : line->above_ns);
	int len = 0;

	if (isfinite(least) && least > 0)
		len = snprintf(text, size, ", at least %.3f", least / MS);
	if (isfinite(most))
		len += snprintf(text + len, size - (size_t)len, ", at most %.3f", most / MS);
	if (!len)
		*text = '\0';
}

static json_t *constant_note(uint32_t device, const struct clock_line *line)
{
	char bounds[80];

	bounds_text(line, bounds, sizeof(bounds));
	return json_sprintf("GPU%u's clock is %s the host's by %.3f ms%s: launches and waits show "
			    "it. Its times are corrected by as much.",
			    device, side(line->shift_ns), fabs(line->shift_ns) / MS, bounds);
}

static json_t *drift_note(uint32_t device, const struct clock_line *line, double window_ns)
{
	const double end_ns = line->shift_ns + line->slope * window_ns;

	return json_sprintf("GPU%u's clock drifts from the host's by %.0f ppm: it is %.3f ms %s it "
			    "when the window begins, and %.3f ms %s it when the window ends, give "
			    "or take %.3f. Its times are corrected by as much.",
			    device, -line->slope * 1e6, fabs(line->shift_ns) / MS,
			    side(line->shift_ns), fabs(end_ns) / MS, side(end_ns),
			    fmax(line->below_ns, line->above_ns) / MS);
}

static json_t *wild_note(uint32_t device, const struct clock_line *line)
{
	return json_sprintf(
		"GPU%u's clock jumps against the host's: no steady correction is within "
		"%.3f ms of what launches and waits allow. Its times are not corrected: "
		"when things ran and queue delays are off by up to as much or more; how "
		"long each took is not.",
		device, line->wild_ns / MS);
}

static json_t *line_json(uint32_t device, uint64_t origin_ns, const struct clock_line *line)
{
	json_t *json = json_pack("{s:I}", "device", (json_int_t)device);

	if (line->verdict == CLOCK_IS_WILD) {
		json_object_set_new(json, "jumps_ns", json_integer(llround(line->wild_ns)));
		return json;
	}
	json_object_set_new(json, "at_ns", json_integer((json_int_t)origin_ns));
	json_object_set_new(json, "shift_ns", json_integer(llround(line->shift_ns)));
	json_object_set_new(json, "ppm", json_real(line->slope * 1e6));
	if (isfinite(line->below_ns))
		json_object_set_new(json, "low_ns",
				    json_integer(llround(line->shift_ns - line->below_ns)));
	if (isfinite(line->above_ns))
		json_object_set_new(json, "high_ns",
				    json_integer(llround(line->shift_ns + line->above_ns)));
	return json;
}

static void add(void *ctx, uint32_t device, uint64_t origin_ns, const struct clock_line *line)
{
	const struct clocks *c = ctx;

	if (line->verdict == CLOCK_AGREES)
		return;
	json_array_append_new(c->list, line_json(device, origin_ns, line));
	if (line->verdict == CLOCK_IS_WILD)
		json_array_append_new(c->notes, wild_note(device, line));
	else if (line->slope != 0)
		json_array_append_new(c->notes,
				      drift_note(device, line, (double)(c->close_ns - origin_ns)));
	else
		json_array_append_new(c->notes, constant_note(device, line));
}

void clock_summary__add(struct clock_pairs *p, uint64_t close_ns, json_t *device, json_t *notes)
{
	struct clocks c = {json_array(), notes, close_ns};

	clock_pairs__lines(p, add, &c);
	if (json_array_size(c.list))
		json_object_set(device, "clocks", c.list);
	json_decref(c.list);
}
