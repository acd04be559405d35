// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/order.h"
#include <stdlib.h>
#include <string.h>

static const struct order_word *find(const struct order_word *words, const char *word)
{
	for (; words && word && words->word; words++)
		if (strcmp(words->word, word) == 0)
			return words;
	return NULL;
}

bool order_words__have(const struct order_word *words, const char *word)
{
	return find(words, word);
}

int order__measure(const struct analysis *a, const struct order_word *words)
{
	const struct order_word *w = find(words, a->opts->sort_word);

	return w ? w->measure : words->measure;
}

int order__describe(const struct analysis *a, const struct order_word *words, struct table *t)
{
	const struct order_word *w = find(words, a->opts->sort_word);

	table__set_sorted(t, w ? w->column : words->column);
	if (!a->opts->sort_word || w)
		return 0;
	return table__add_notef(t, "Rows are in the order of %s: this table has no '%s'.",
				words->word, a->opts->sort_word);
}

double call_measure__of(int measure, const struct range *time, uint64_t calls)
{
	switch (measure) {
	case CALLS_BY_AVG:
		return (double)range__avg(time, calls);
	case CALLS_BY_MAX:
		return (double)time->max;
	case CALLS_BY_MIN:
		return (double)time->min;
	case CALLS_BY_COUNT:
		return (double)calls;
	default:
		return (double)time->total;
	}
}

static int compare(const void *x, const void *y, void *ctx)
{
	const struct ordered *p = x, *q = y;
	const bool *ascending = ctx;
	int names;

	if (p->value != q->value)
		return (p->value > q->value) != *ascending ? -1 : 1;
	names = strcmp(p->name, q->name);
	return names ? names : p->row < q->row ? -1 : p->row > q->row;
}

void ordered__sort(const struct analysis *a, struct ordered *rows, size_t cnt)
{
	bool ascending = a->opts->ascending;

	if (cnt)
		qsort_r(rows, cnt, sizeof(*rows), compare, &ascending);
}

/* ---- rows of calls ---- */

/* The word equals the column's key. */
#define WORD(name, measure) {name, measure, name}
#define CPU_WORDS                                                                                  \
	WORD("cpu_total", SORT_CPU_TOTAL), WORD("cpu_avg", SORT_CPU_AVG),                          \
		WORD("cpu_max", SORT_CPU_MAX), WORD("cpu_min", SORT_CPU_MIN)
#define GPU_WORDS                                                                                  \
	WORD("gpu_total", SORT_GPU_TOTAL), WORD("gpu_avg", SORT_GPU_AVG),                          \
		WORD("gpu_max", SORT_GPU_MAX), WORD("gpu_min", SORT_GPU_MIN)

const struct order_word order_both[] = {CPU_WORDS, WORD("calls", SORT_CALLS), GPU_WORDS, {}};
const struct order_word order_cpu[] = {CPU_WORDS, WORD("calls", SORT_CALLS), {}};
const struct order_word order_gpu[] = {GPU_WORDS, WORD("calls", SORT_CALLS), {}};
const struct order_word order_calls[] = {
	CPU_WORDS, WORD("calls", SORT_CALLS), WORD("gpu_total", SORT_GPU_TOTAL), {}};

static bool lacks_times(const struct analysis *a, const struct order_word *words)
{
	return order__measure(a, words) >= SORT_GPU_TOTAL && !a->has_device;
}

static uint64_t sort_value(const struct stat *s, enum sort_key key)
{
	switch (key) {
	case SORT_CPU_AVG:
		return s->calls ? range__avg(&s->cpu, s->calls) : 0;
	case SORT_CPU_MAX:
		return s->cpu.max;
	case SORT_CPU_MIN:
		return s->cpu.min;
	case SORT_CALLS:
		return s->calls;
	case SORT_GPU_TOTAL:
		return s->gpu.total;
	case SORT_GPU_AVG:
		return s->calls ? range__avg(&s->gpu, stat__gpu_cnt(s)) : 0;
	case SORT_GPU_MAX:
		return s->gpu.max;
	case SORT_GPU_MIN:
		return s->gpu.min;
	default:
		return s->cpu.total;
	}
}

struct stat_order {
	const struct analysis *a;
	enum sort_key key;
	bool ascending;
};

static int by_value(const void *x, const void *y, void *ctx)
{
	const struct stat_row *p = *(struct stat_row *const *)x, *q = *(struct stat_row *const *)y;
	const struct stat_order *o = ctx;
	uint64_t v = sort_value(&p->stat, o->key), w = sort_value(&q->stat, o->key);
	int names;

	if (v != w)
		return (v > w) != o->ascending ? -1 : 1;
	names = strcmp(analysis__name(o->a, p->key.id), analysis__name(o->a, q->key.id));
	return names ? names : memcmp(&p->key, &q->key, sizeof(p->key));
}

static struct stat_order stat_order_of(const struct analysis *a, const struct order_word *words)
{
	const int measure = lacks_times(a, words) ? words->measure : order__measure(a, words);
	struct stat_order order = {.a = a, .key = (enum sort_key)measure};

	/* Lowest first, as in Paddle's tables. */
	order.ascending =
		a->opts->ascending || order.key == SORT_CPU_MIN || order.key == SORT_GPU_MIN;
	return order;
}

void stat_rows__sort(const struct analysis *a, const struct order_word *words,
		     struct stat_row **rows, size_t cnt)
{
	struct stat_order order = stat_order_of(a, words);

	if (cnt)
		qsort_r(rows, cnt, sizeof(*rows), by_value, &order);
}

static bool has_value(const struct stat_entry *e, enum sort_key key)
{
	return e->row || key == SORT_CPU_TOTAL || key == SORT_CPU_AVG || key == SORT_CALLS;
}

static int by_entry(const void *x, const void *y, void *ctx)
{
	const struct stat_entry *p = x, *q = y;
	const struct stat_order *o = ctx;
	const uint64_t v = sort_value(p->stat, o->key), w = sort_value(q->stat, o->key);
	const bool known = has_value(p, o->key);
	int names;

	if (known != has_value(q, o->key))
		return known ? -1 : 1;
	if (known && v != w)
		return (v > w) != o->ascending ? -1 : 1;
	names = strcmp(p->name, q->name);
	if (names || !p->row || !q->row)
		return names ? names : !p->row - !q->row;
	return memcmp(&p->row->key, &q->row->key, sizeof(p->row->key));
}

void stat_entries__sort(const struct analysis *a, const struct order_word *words,
			struct stat_entry *entries, size_t cnt)
{
	struct stat_order order = stat_order_of(a, words);

	if (cnt)
		qsort_r(entries, cnt, sizeof(*entries), by_entry, &order);
}

int stat_rows__describe_order(const struct analysis *a, const struct order_word *words,
			      struct table *t)
{
	if (!lacks_times(a, words))
		return order__describe(a, words, t);
	table__set_sorted(t, words->column);
	return table__add_notef(t,
				"Rows are in the order of %s, for no device time was recorded to "
				"sort by.",
				words->word);
}
