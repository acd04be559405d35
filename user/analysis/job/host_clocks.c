// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/job/host_clocks.h"
#include <stdlib.h>
#include "common/util.h"

/* Hosts of the same name booted at different times, so their clocks differ by more. */
#define SAME_CLOCK_NS 1000000000ull
#define PAIRS_MAX     16 /* of ranks that are compared, since each takes up to a second */

uint64_t host_clocks__recorded_ns(const struct recording *r)
{
	const json_t *clock = json_object_get(recording__meta(r), "clock");

	return (uint64_t)json_integer_value(json_object_get(clock, "realtime_ns")) -
	       (uint64_t)json_integer_value(json_object_get(clock, "monotonic_ns"));
}

static const char *host_of(const struct member *m)
{
	const json_t *host = json_object_get(recording__meta(m->recording), "host");

	return json_string_value(json_object_get(host, "name"));
}

static bool is_same_host(const struct member *a, const struct member *b)
{
	const char *x = host_of(a), *y = host_of(b);

	const uint64_t apart = a->recorded_offset_ns - b->recorded_offset_ns + SAME_CLOCK_NS;

	return !x || !y || (!strcmp(x, y) && apart < 2 * SAME_CLOCK_NS);
}

/* The first member of that member's host. */
static struct member *first_of(const struct job *j, const struct member *m)
{
	struct member *first = j->members;

	while (!is_same_host(first, m))
		first++;
	return first;
}

/* Keeps what the two ranks tell if it is more than was known. */
static int compare(const struct member *a, const struct member *b, struct clock_offset *known)
{
	struct clock_offset o;
	int err = clock_offset__find(&a->times.ends, &b->times.ends,
				     (int64_t)(b->wall_offset_ns - a->wall_offset_ns), &o);

	if (!err && (clock_offset__is_known(&o) || known->result == OFFSET_FEW_STEPS))
		*known = o;
	return err;
}

/* Compares ranks of the two hosts until two of them tell: not all take part in the same
 * collectives. */
static int find_offset(const struct job *j, struct member *other)
{
	struct clock_offset *known = &other->clock;
	size_t pairs = 0;
	int err = 0;

	known->result = OFFSET_FEW_STEPS;
	for (size_t i = 0; i < j->cnt * j->cnt && pairs < PAIRS_MAX && !err; i++) {
		const struct member *a = &j->members[i / j->cnt], *b = &j->members[i % j->cnt];

		if (first_of(j, a) != j->members || first_of(j, b) != other)
			continue;
		pairs++;
		err = compare(a, b, known);
		if (clock_offset__is_known(known))
			break;
	}
	return err;
}

static int read_and_compare(struct member *a, struct member *b, struct clock_offset *out)
{
	int err = rank_times__read(a->recording, false, &a->times);

	if (!err)
		err = rank_times__read(b->recording, false, &b->times);
	if (!err)
		err = compare(a, b, out);
	rank_times__free(&a->times);
	rank_times__free(&b->times);
	return err;
}

int host_clocks__compare(struct recording *other, struct recording *r, struct clock_offset *out)
{
	const uint64_t other_ns = host_clocks__recorded_ns(other),
		       own_ns = host_clocks__recorded_ns(r);
	struct member a = {
		.recording = other, .recorded_offset_ns = other_ns, .wall_offset_ns = other_ns};
	struct member b = {.recording = r, .recorded_offset_ns = own_ns, .wall_offset_ns = own_ns};

	*out = (struct clock_offset){.result = OFFSET_KNOWN};
	if (is_same_host(&a, &b))
		return 0;
	out->result = OFFSET_FEW_STEPS;
	return read_and_compare(&a, &b, out);
}

int host_clocks__correct(struct job *j)
{
	for (size_t i = 1; i < j->cnt; i++) {
		struct member *m = &j->members[i], *first = first_of(j, m);

		if (first == j->members)
			continue;
		if (first == m && find_offset(j, m))
			return -ENOMEM;
		if (clock_offset__is_known(&first->clock))
			m->wall_offset_ns -= (uint64_t)first->clock.ns;
	}
	return 0;
}

static int describe_unknown(const struct job *j, const struct member *m, struct table *t)
{
	const struct member *first = j->members;

	if (m->clock.result == OFFSET_FEW_STEPS)
		return table__add_notef(
			t,
			"The clock of %s (%s) is used as it is: the ranks have too few steps with "
			"collectives in common. The least is %d, and half of a window's steps.",
			host_of(m), member__name(m).s, OFFSET_STEPS);
	return table__add_notef(t,
				"The clock of %s (%s) is used as it is: the ends of collectives do "
				"not tell its offset from that of %s (%s).",
				host_of(m), member__name(m).s, host_of(first),
				member__name(first).s);
}

/* Milliseconds matter in hours, too. */
static struct counted offset_text(const struct table_style *style, int64_t ns)
{
	const uint64_t length = (uint64_t)llabs(ns);
	struct counted text;

	if (length < 1000000000)
		snprintf(text.s, sizeof(text.s), "%s", time_text__of(style, length).s);
	else
		snprintf(text.s, sizeof(text.s), "%.3f s", (double)length / 1e9);
	return text;
}

static int describe(const struct job *j, const struct member *m, struct table *t)
{
	const struct clock_offset *o = &m->clock;
	const struct table_style *style = &j->opts->style;
	const struct member *first = j->members;

	if (!clock_offset__is_known(o))
		return describe_unknown(j, m, t);
	return table__add_notef(
		t,
		"The clock of %s (%s) is %s %s that of %s (%s), with an uncertainty of %s, by the "
		"ends of %s. This report corrects it.%s",
		host_of(m), member__name(m).s, offset_text(style, o->ns).s,
		o->ns < 0 ? "behind" : "ahead of", host_of(first), member__name(first).s,
		time_text__of(style, o->error_ns).s,
		counted(o->collectives, "collective", "collectives").s,
		o->result == OFFSET_KNOWN ? ""
					  : " It may also be whole steps more or less, because the "
					    "steps are alike.");
}

int host_clocks__describe(const struct job *j, struct table *t)
{
	int err = 0;

	for (size_t i = 1; i < j->cnt && !err; i++)
		if (first_of(j, &j->members[i]) == &j->members[i])
			err = describe(j, &j->members[i], t);
	return err;
}
