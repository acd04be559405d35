// SPDX-License-Identifier: BSD-2-Clause
#include "capture/arming/residency.h"
#include <stddef.h>
#include "common/util.h"

/* this many steps before a window all probes are attached, however fast attaching is */
#define NEAR	      2
#define NEAR_COUNTERS 4 /* this many steps before a window steps are seen by probes */

static bool is_near(const struct residency_view *v)
{
	return v->left <= NEAR || v->left <= v->lead;
}

/* Twice the distance of is_near(), so that probes do not come and go at the border. */
static bool is_far(const struct residency_view *v)
{
	return v->left > NEAR && v->left > 2 * v->lead;
}

static bool passes_suffice(const struct residency_view *v)
{
	return v->passes_suffice;
}

static bool may_go_without(const struct residency_view *v)
{
	return v->counters_suffice && v->left > 2 * NEAR_COUNTERS && v->left > 4 * v->lead;
}

static bool must_look(const struct residency_view *v)
{
	return v->pause_is_over || v->left <= NEAR_COUNTERS || v->left <= 2 * v->lead;
}

/* Of the edges of a state for an event, the first one whose condition holds is taken. */
static const struct edge {
	enum residency from, to;
	enum residency_event event;
	bool (*holds)(const struct residency_view *v); /* NULL: always */
} edges[] = {
	{RESIDENCY_FULL, RESIDENCY_STEPS_ONLY, RESIDENCY_DISTANCE, is_far},
	{RESIDENCY_FULL, RESIDENCY_STEPS_ONLY, RESIDENCY_LEARN},
	{RESIDENCY_STEPS_ONLY, RESIDENCY_FULL, RESIDENCY_DISTANCE, is_near},
	{RESIDENCY_STEPS_ONLY, RESIDENCY_FULL, RESIDENCY_MEASURE},
	{RESIDENCY_STEPS_ONLY, RESIDENCY_FULL, RESIDENCY_OPENED},
	{RESIDENCY_STEPS_ONLY, RESIDENCY_BACKWARD_ONLY, RESIDENCY_DISTANCE, passes_suffice},
	{RESIDENCY_STEPS_ONLY, RESIDENCY_NONE, RESIDENCY_DISTANCE, may_go_without},
	{RESIDENCY_BACKWARD_ONLY, RESIDENCY_FULL, RESIDENCY_DISTANCE, is_near},
	{RESIDENCY_BACKWARD_ONLY, RESIDENCY_NONE, RESIDENCY_DISTANCE, may_go_without},
	{RESIDENCY_NONE, RESIDENCY_FULL, RESIDENCY_DISTANCE, is_near},
	{RESIDENCY_NONE, RESIDENCY_STEPS_ONLY, RESIDENCY_DISTANCE, must_look},
};

static bool is_due(const struct edge *e, enum residency now, const struct residency_view *v)
{
	return e->from == now && e->event == v->event && (!e->holds || e->holds(v));
}

enum residency residency__next(enum residency now, const struct residency_view *v)
{
	for (size_t i = 0; i < ARRAY_SIZE(edges); i++)
		if (is_due(&edges[i], now, v))
			return edges[i].to;
	return now;
}

const char *residency__name(enum residency r)
{
	static const char *const names[RESIDENCY_CNT] = {
		[RESIDENCY_STEPS_ONLY] = "steps_only",
		[RESIDENCY_BACKWARD_ONLY] = "backward_only",
		[RESIDENCY_NONE] = "none",
		[RESIDENCY_FULL] = "full",
	};

	return names[r];
}
