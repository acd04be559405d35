// SPDX-License-Identifier: BSD-2-Clause
#include "recording/clock_shift.h"
#include <errno.h>
#include <stdlib.h>

#define SLOPE_MAX 0.01
#define SHIFT_MAX (1ll << 40) /* ns */

static bool parse(const json_t *json, struct clock_shift *out)
{
	const json_t *shift = json_object_get(json, "shift_ns");
	const json_int_t device = json_integer_value(json_object_get(json, "device"));

	out->shift_ns = json_integer_value(shift);
	out->slope = json_number_value(json_object_get(json, "ppm")) / 1e6;
	out->at_ns = (uint64_t)json_integer_value(json_object_get(json, "at_ns"));
	out->device = (int32_t)device;
	return json_is_integer(shift) && device >= 0 && device <= INT32_MAX &&
	       out->shift_ns > -SHIFT_MAX && out->shift_ns < SHIFT_MAX &&
	       out->slope >= -SLOPE_MAX && out->slope <= SLOPE_MAX && out->at_ns < UINT64_MAX / 4;
}

int clock_shifts__load(struct clock_shifts *s, const json_t *summary)
{
	const json_t *list = json_object_get(json_object_get(summary, "device"), "clocks");
	const size_t cnt = json_array_size(list);

	if (!cnt)
		return 0;
	s->items = calloc(cnt, sizeof(*s->items));
	if (!s->items)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++)
		s->cnt += parse(json_array_get(list, i), &s->items[s->cnt]);
	return 0;
}

const struct clock_shift *clock_shifts__find(const struct clock_shifts *s, int32_t device)
{
	for (size_t i = 0; i < s->cnt; i++)
		if (s->items[i].device == device)
			return &s->items[i];
	return NULL;
}

static uint64_t corrected(const struct clock_shift *s, uint64_t ns)
{
	const double drift = s->slope * (double)(int64_t)(ns - s->at_ns);
	const int64_t by = s->shift_ns + (int64_t)(drift < 0 ? drift - 0.5 : drift + 0.5);

	return by < 0 && (uint64_t)-by > ns ? 0 : ns + (uint64_t)by;
}

void clock_shift__apply(const struct clock_shift *s, struct event *e)
{
	uint64_t end_ns;

	if (e->ts_ns > UINT64_MAX / 4 || e->dur_ns > UINT64_MAX / 4)
		return;
	end_ns = corrected(s, e->ts_ns + e->dur_ns);
	e->ts_ns = corrected(s, e->ts_ns);
	e->dur_ns = end_ns - e->ts_ns;
}
