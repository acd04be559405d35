// SPDX-License-Identifier: BSD-2-Clause
/* Looks up contents of an open recording by id. */
#include "recording/reader.h"
#include <string.h>

const json_t *recording__meta(const struct recording *r)
{
	return r->meta;
}

void recording__correct_clock(struct recording *r, int64_t ns)
{
	json_t *wall = json_object_get(json_object_get(r->meta, "clock"), "realtime_ns");

	json_integer_set(wall, (json_int_t)((uint64_t)json_integer_value(wall) - (uint64_t)ns));
}
const json_t *recording__summary(const struct recording *r)
{
	return r->summary;
}
const struct recording_damage *recording__damage(const struct recording *r)
{
	return &r->damage;
}
uint32_t recording__name_cnt(const struct recording *r)
{
	return (uint32_t)r->name_cnt;
}
uint32_t recording__track_cnt(const struct recording *r)
{
	return (uint32_t)r->track_cnt;
}
uint64_t recording__event_cnt(const struct recording *r)
{
	return r->event_cnt;
}

const struct name *recording__name(const struct recording *r, uint32_t id)
{
	if (!id || id > r->name_cnt || !r->names[id - 1].text)
		return NULL;
	return &r->names[id - 1];
}

enum span_category recording__category(const struct recording *r, uint32_t name)
{
	const struct name *n = name ? recording__name(r, name) : NULL;

	return n ? n->category : CAT_NONE;
}

const char *recording__full_name(const struct recording *r, uint32_t overload)
{
	const struct name *n = overload ? recording__name(r, overload) : NULL;
	const char *mark = n && n->schema ? strpbrk(n->schema, "/(") : NULL;

	return mark && *mark == '/' ? n->schema : NULL;
}

bool recording__has_category(const struct recording *r, enum span_category category)
{
	for (uint32_t id = 1; id <= recording__name_cnt(r); id++)
		if (recording__category(r, id) == category)
			return true;
	return false;
}

const struct track *recording__track(const struct recording *r, uint32_t id)
{
	if (!id || id > r->track_cnt || !r->tracks[id - 1].kind)
		return NULL;
	return &r->tracks[id - 1];
}

const struct code *recording__code(const struct recording *r, uint32_t id)
{
	if (!id || id > r->code_cnt || !r->code[id - 1].file)
		return NULL;
	return &r->code[id - 1];
}

const struct code_frame *recording__frame(const struct recording *r, uint32_t id)
{
	if (!id || id > r->frame_cnt || !r->frames[id - 1].id)
		return NULL;
	return &r->frames[id - 1];
}

uint32_t recording__frame_cnt(const struct recording *r)
{
	return (uint32_t)r->frame_cnt;
}

size_t recording__sched(const struct recording *r, const struct sched_row **rows)
{
	*rows = r->sched.items;
	return r->sched.cnt;
}

size_t recording__entries(const struct recording *r, const struct sched_row **rows)
{
	*rows = r->entries.items;
	return r->entries.cnt;
}
