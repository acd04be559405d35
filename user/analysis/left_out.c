// SPDX-License-Identifier: BSD-2-Clause
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/left_out.h"
#include "analysis/order.h"
#include "common/counted.h"
#include "common/util.h"

/* Cells of a row; the operator table has the most. */
enum { CPU_MAX = 4, CPU_MIN = 5, CPU_RATIO = 6, GPU_FIRST = 7, CELLS_MAX = NAME_CELLS };

struct left_out {
	const char *name;
	struct stat stat;
	uint64_t steps; /* steps before the window that were measured */
};

/* What the table is sorted by, as far as it is known of these. */
static double value_of(int measure, const struct stat *s)
{
	if (measure == SORT_CALLS)
		return (double)s->calls;
	if (measure == SORT_CPU_AVG)
		return (double)range__avg(&s->cpu, s->calls);
	return (double)s->cpu.total;
}

static double number(const json_t *object, const char *key)
{
	double value = json_number_value(json_object_get(object, key));

	return value > 0 && value < 1e15 ? value : 0;
}

/* Expected in the recorded steps, from what one step had: of the calls that would have a row, which
 * those within other operators and backward nodes have not. */
static struct left_out estimate(const struct analysis *a, const json_t *item)
{
	const char *name = json_string_value(json_object_get(item, "name"));
	double calls = number(item, "calls_per_step") * (double)a->steps.calls;
	double inner = number(item, "inner_calls_per_step") * (double)a->steps.calls;
	double inner_ns = inner * number(item, "inner_avg_ns");
	double ns = calls * number(item, "avg_ns");
	struct left_out row = {
		.name = name ? name : "?",
		.stat.calls = calls > inner ? (uint64_t)(calls - inner + 0.5) : 0,
		.stat.cpu.total = ns > inner_ns ? (uint64_t)(ns - inner_ns) : 0,
		.steps = (uint64_t)number(item, "steps"),
	};

	return row;
}

/* Adds a row to the first `cnt`, one for a name: several functions may be one operator (item() and
 * int() are aten::item). One that is called so rarely is not missed. The new count. */
static size_t merge(struct left_out *rows, size_t cnt, struct left_out row)
{
	if (!row.stat.calls)
		return cnt;
	for (size_t i = 0; i < cnt; i++) {
		if (strcmp(rows[i].name, row.name) != 0)
			continue;
		rows[i].stat.calls += row.stat.calls;
		rows[i].stat.cpu.total += row.stat.cpu.total;
		return cnt;
	}
	rows[cnt] = row;
	return cnt + 1;
}

static int add_row(const struct analysis *a, struct table *t, const struct left_out *row)
{
	struct cell cells[CELLS_MAX];

	cells__name(a, cells, row->name, &row->stat, 0, 0);
	cells[CPU_MAX] = cells[CPU_MIN] = cell__none("only its average was measured");
	cells[CPU_RATIO] = cell__none("not measured in the window");
	for (int i = GPU_FIRST; i < CELLS_MAX; i++)
		cells[i] = cell__none("not measured in the window");
	return table__add_row(t, 0, cells);
}

/* As doc/recording.md describes `dropped_probes`; NULL: none. */
static const json_t *list_of(const struct analysis *a)
{
	return json_object_get(recording__summary(a->r), "dropped_probes");
}

static bool is_of(const json_t *item, enum left_out_kind kind)
{
	return json_is_true(json_object_get(item, "is_call")) == (kind == LEFT_OUT_DEVICE_CALLS);
}

size_t left_out__cnt(const struct analysis *a, enum left_out_kind kind)
{
	const json_t *list = list_of(a);
	size_t cnt = 0;

	for (size_t i = 0; i < json_array_size(list); i++)
		cnt += is_of(json_array_get(list, i), kind);
	return cnt;
}

bool left_out__has_operators(const struct analysis *a)
{
	const json_t *list = list_of(a), *item;

	for (size_t i = 0; i < json_array_size(list); i++) {
		item = json_array_get(list, i);
		if (is_of(item, LEFT_OUT_OPERATORS) && number(item, "calls_per_step") > 0)
			return true;
	}
	return false;
}

uint64_t left_out__nodes_ns(const struct analysis *a)
{
	const json_t *list = list_of(a);
	uint64_t ns = 0;

	for (size_t i = 0; i < json_array_size(list); i++)
		if (json_is_true(json_object_get(json_array_get(list, i), "is_node")))
			ns += estimate(a, json_array_get(list, i)).stat.cpu.total;
	return ns;
}

int left_out__add_section(const struct analysis *a, enum left_out_kind kind, struct table *t)
{
	const json_t *list = list_of(a);
	size_t cnt = json_array_size(list), kept = 0;
	auto_free struct left_out *rows = calloc(cnt + 1, sizeof(*rows));
	auto_free struct ordered *order = calloc(cnt + 1, sizeof(*order));
	const int measure = order__measure(a, order_both);
	char title[128];
	int err;

	if (!rows || !order)
		return -ENOMEM;
	if (!cnt)
		return 0;
	for (size_t i = 0; i < cnt; i++)
		if (is_of(json_array_get(list, i), kind))
			kept = merge(rows, kept, estimate(a, json_array_get(list, i)));
	if (!kept)
		return 0;
	snprintf(title, sizeof(title), "Not recorded, estimated from %s",
		 counted(rows[0].steps, "earlier step", "earlier steps").s);
	for (size_t i = 0; i < kept; i++)
		order[i] = (struct ordered){value_of(measure, &rows[i].stat), rows[i].name, i};
	ordered__sort(a, order, kept);
	err = table__add_section(t, title);
	for (size_t i = 0; i < kept && !err; i++)
		err = add_row(a, t, &rows[order[i].row]);
	return err;
}
