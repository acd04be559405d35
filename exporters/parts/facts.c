// SPDX-License-Identifier: BSD-2-Clause
#include "exporters/parts/facts.h"
#include <string.h>
#include "common/counted.h"
#include "common/util.h"

struct recording_loss recording_loss__of(const struct recording *r)
{
	const struct recording_damage *d = recording__damage(r);
	json_t *loss = json_object_get(recording__summary(r), "loss"), *value;
	struct recording_loss out = {
		.lost_cnt = d->lost_events, .bad_chunks = d->bad_chunks, .truncated = d->truncated};
	const char *key;

	json_object_foreach(loss, key, value)
	{
		if (json_is_integer(value) && json_integer_value(value) > 0)
			out.lost_cnt += (uint64_t)json_integer_value(value);
		else if (!strcmp(key, "target_gone"))
			out.target_gone = json_is_true(value);
	}
	return out;
}

char *facts__title(const struct recording *r)
{
	const json_t *meta = recording__meta(r), *process = json_object_get(meta, "process");
	const char *comm = json_string_value(json_object_get(process, "comm"));
	const char *host =
		json_string_value(json_object_get(json_object_get(meta, "host"), "name"));
	char *text;

	if (asprintf(&text, "process %lld (%s)%s%s",
		     (long long)json_integer_value(json_object_get(process, "pid")),
		     comm ? comm : "?", host ? " on " : "", host ? host : "") < 0)
		return NULL;
	return text;
}

char *facts__loss(const struct recording *r)
{
	const struct recording_loss l = recording_loss__of(r);
	char counts[160] = "", chunks[160] = "", *text;

	if (!l.lost_cnt && !l.bad_chunks && !l.truncated && !l.target_gone)
		return strdup("");
	if (l.lost_cnt)
		snprintf(counts, sizeof(counts), ", %s lost",
			 counted(l.lost_cnt, "event was", "events were").s);
	if (l.bad_chunks)
		snprintf(chunks, sizeof(chunks), ", %s damaged",
			 counted(l.bad_chunks, "chunk is", "chunks are").s);
	if (asprintf(&text, "incomplete%s%s%s%s", counts, chunks,
		     l.truncated ? ", the recording was cut off" : "",
		     l.target_gone ? ", the process ended in the window" : "") < 0)
		return NULL;
	return text;
}

struct unprobed_sum facts__unprobed_sum(const struct recording *r)
{
	const json_t *list = json_object_get(recording__summary(r), "dropped_probes");
	const bool by_time = json_object_get(json_array_get(list, 0), "measured_ns");
	struct unprobed_sum sum = {.by_time = by_time};

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *item = json_array_get(list, i);
		const double calls = json_number_value(
			json_object_get(item, by_time ? "calls" : "calls_per_step"));

		if (json_is_true(json_object_get(item, "is_call")) || calls <= 0)
			continue;
		sum.ms += calls * json_number_value(json_object_get(item, "avg_ns")) / 1e6;
		sum.cnt++;
	}
	return sum;
}

char *facts__unprobed(const struct recording *r)
{
	const struct unprobed_sum sum = facts__unprobed_sum(r);
	char *text;

	if (!sum.cnt)
		return strdup("");
	if (asprintf(&text,
		     "not recorded: %s without a probe, about %.3f ms of %s: their time is in "
		     "what is around or before them",
		     counted(sum.cnt, "operator", "operators").s, sum.ms,
		     sum.by_time ? "the window" : "a step") < 0)
		return NULL;
	return text;
}

json_t *facts__device_clocks(const struct recording *r)
{
	const json_t *device = json_object_get(recording__summary(r), "device");

	return json_object_get(device, "clocks");
}

void facts__clock(const struct recording *r, int64_t device, char *text, size_t size)
{
	const json_t *clocks = facts__device_clocks(r);

	*text = '\0';
	for (size_t i = 0; i < json_array_size(clocks); i++) {
		const json_t *clock = json_array_get(clocks, i);
		const json_t *shift = json_object_get(clock, "shift_ns");

		if (json_integer_value(json_object_get(clock, "device")) != device)
			continue;
		if (shift)
			snprintf(text, size, ", clock corrected by %+.3f ms and %+.0f ppm",
				 (double)json_integer_value(shift) / 1e6,
				 json_number_value(json_object_get(clock, "ppm")));
		else
			snprintf(text, size, ", its clock jumps");
	}
}

int64_t facts__wall_offset_ns(const struct recording *r)
{
	const json_t *clock = json_object_get(recording__meta(r), "clock");
	const json_int_t mono = json_integer_value(json_object_get(clock, "monotonic_ns"));
	const json_int_t wall = json_integer_value(json_object_get(clock, "realtime_ns"));

	return wall > 0 && mono > 0 ? wall - mono : 0;
}
