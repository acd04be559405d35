// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/names.h"
#include "analysis/analysis.h"

const char *analysis__name(const struct analysis *a, uint32_t id)
{
	const struct name *n = id ? recording__name(a->r, id) : NULL;

	return n && n->text && *n->text ? n->text : "(no name)";
}

uint32_t analysis__full_id(const struct analysis *a, const struct event *e)
{
	const bool any =
		recording__full_name(a->r, e->overload) || recording__full_name(a->r, e->name);

	return any ? e->overload : e->name;
}

const char *analysis__full_name(const struct analysis *a, uint32_t id)
{
	const char *full = recording__full_name(a->r, id);

	return full ? full : analysis__name(a, id);
}

void analysis__thread(const struct analysis *a, uint32_t track, char *buf, size_t size)
{
	const struct track *t = recording__track(a->r, track);

	if (!t)
		snprintf(buf, size, "unknown thread");
	else if (t->name)
		snprintf(buf, size, "%s (%u)", t->name, t->tid);
	else
		snprintf(buf, size, "thread %u", t->tid);
}
