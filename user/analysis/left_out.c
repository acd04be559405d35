// SPDX-License-Identifier: BSD-2-Clause
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/left_out.h"
#include "common/counted.h"
#include "common/util.h"

static double number(const json_t *object, const char *key)
{
	double value = json_number_value(json_object_get(object, key));

	return value > 0 && value < 1e15 ? value : 0;
}

/* Was the estimate made for the whole window? So it is if there are no steps. */
static bool is_by_time(const json_t *item)
{
	return json_object_get(item, "measured_ns");
}

/* Expected calls of one step, or of the window. */
static double calls_of(const json_t *item)
{
	return number(item, is_by_time(item) ? "calls" : "calls_per_step");
}

static double inner_calls_of(const json_t *item)
{
	return number(item, is_by_time(item) ? "inner_calls" : "inner_calls_per_step");
}

/* What is expected in so many steps, from the average of one step. */
static struct left_out_row estimate(const json_t *item, uint64_t steps)
{
	const char *name = json_string_value(json_object_get(item, "name"));
	const double units = is_by_time(item) ? 1 : (double)steps;
	const double all = calls_of(item) * units, inner = inner_calls_of(item) * units;
	const double ns = all * number(item, "avg_ns");
	const double inner_ns = inner * number(item, "inner_avg_ns");
	struct left_out_row row = {
		.name = name ? name : "?",
		.stat.calls = all > inner ? (uint64_t)(all - inner + 0.5) : 0,
		.stat.cpu.total = ns > inner_ns ? (uint64_t)(ns - inner_ns) : 0,
		.all_calls = (uint64_t)(all + 0.5),
		.all_ns = (uint64_t)ns,
		.is_node = json_is_true(json_object_get(item, "is_node")),
	};

	if (!row.stat.calls)
		row.stat.cpu.total = 0;
	return row;
}

/* Merges rows of one name: several functions may be one operator (item() and int() are
 * aten::item). */
static void merge(struct left_out_rows *rows, const struct left_out_row *row)
{
	for (size_t i = 0; i < rows->cnt; i++) {
		struct left_out_row *same = &rows->items[i];

		if (strcmp(same->name, row->name) != 0)
			continue;
		same->stat.calls += row->stat.calls;
		same->stat.cpu.total += row->stat.cpu.total;
		same->all_calls += row->all_calls;
		same->all_ns += row->all_ns;
		return;
	}
	rows->items[rows->cnt++] = *row;
}

/* The list `dropped_probes`, see doc/reference/recording.md. NULL: none. */
static const json_t *list_of(const struct recording *r)
{
	return json_object_get(recording__summary(r), "dropped_probes");
}

static bool is_of(const json_t *item, enum left_out_kind kind)
{
	return json_is_true(json_object_get(item, "is_call")) == (kind == LEFT_OUT_DEVICE_CALLS);
}

size_t left_out__cnt(const struct analysis *a, enum left_out_kind kind)
{
	const json_t *list = list_of(a->r);
	size_t cnt = 0;

	for (size_t i = 0; i < json_array_size(list); i++)
		cnt += is_of(json_array_get(list, i), kind);
	return cnt;
}

bool left_out__has_operators(const struct analysis *a)
{
	const json_t *list = list_of(a->r), *item;

	for (size_t i = 0; i < json_array_size(list); i++) {
		item = json_array_get(list, i);
		if (is_of(item, LEFT_OUT_OPERATORS) && calls_of(item) > 0)
			return true;
	}
	return false;
}

int left_out__read(const struct recording *r, enum left_out_kind kind, uint64_t steps,
		   struct left_out_rows *out)
{
	const json_t *list = list_of(r);
	const size_t cnt = json_array_size(list);

	*out = (struct left_out_rows){.items = calloc(cnt + 1, sizeof(*out->items))};
	if (!out->items)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++) {
		const json_t *item = json_array_get(list, i);
		const struct left_out_row row = estimate(item, steps);

		if (!is_of(item, kind) || !row.all_calls)
			continue;
		out->steps = (uint64_t)number(item, "steps");
		out->measured_ns = (uint64_t)number(item, "measured_ns");
		merge(out, &row);
	}
	return 0;
}

void left_out_rows__free(struct left_out_rows *rows)
{
	free(rows->items);
	*rows = (struct left_out_rows){0};
}

uint64_t left_out_rows__ns(const struct left_out_rows *rows, bool nodes)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < rows->cnt; i++)
		if (rows->items[i].is_node == nodes)
			ns += rows->items[i].stat.cpu.total;
	return ns;
}

int left_out_rows__note(const struct left_out_rows *rows, struct table *t)
{
	char ms[80];

	if (!rows->cnt)
		return 0;
	snprintf(ms, sizeof(ms), "the %.0f ms before the window, by the job's pace then",
		 (double)rows->measured_ns / 1e6);
	return table__add_notef(
		t,
		"~: estimated from %s; it had no probe in the window "
		"(--no-prune leaves out none).",
		rows->measured_ns ? ms : counted(rows->steps, "earlier step", "earlier steps").s);
}

int left_out__note_missing(const struct analysis *a, struct table *t)
{
	struct left_out_rows rows;
	uint64_t ns = 0;
	int err = left_out__read(a->r, LEFT_OUT_OPERATORS, a->steps.calls, &rows);

	for (size_t i = 0; i < rows.cnt; i++)
		ns += rows.items[i].all_ns;
	if (!err && rows.cnt)
		err = table__add_notef(t,
				       "Not in this table: %s without a probe, about %s. The "
				       "operator table estimates them (~).",
				       counted(rows.cnt, "operator", "operators").s,
				       time_text(a, ns).s);
	left_out_rows__free(&rows);
	return err;
}
