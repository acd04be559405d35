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

int order__note(const struct analysis *a, const struct order_word *words, struct table *t)
{
	if (!a->opts->sort_word || find(words, a->opts->sort_word))
		return 0;
	return table__add_notef(t, "Rows are in the order of %s: this table has no '%s'.",
				words->word, a->opts->sort_word);
}

enum call_measure { BY_TOTAL, BY_AVG, BY_MAX, BY_MIN, BY_COUNT };

const struct order_word order_calls[] = {
	{"total", BY_TOTAL}, {"avg", BY_AVG},	  {"max", BY_MAX},
	{"min", BY_MIN},     {"count", BY_COUNT}, {NULL, 0},
};

double call_measure__of(int measure, const struct range *time, uint64_t calls)
{
	switch (measure) {
	case BY_AVG:
		return (double)range__avg(time, calls);
	case BY_MAX:
		return (double)time->max;
	case BY_MIN:
		return (double)time->min;
	case BY_COUNT:
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
