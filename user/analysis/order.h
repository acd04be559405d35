/* SPDX-License-Identifier: BSD-2-Clause */
/* Orders of rows by words: each table has its own, as the profiler has that it stands for. */
#ifndef PROFTRACE_ORDER_H
#define PROFTRACE_ORDER_H

#include "analysis/analysis.h"

/* The measure of the user's word; otherwise, or if the table has no such word: the first row's. */
int order__measure(const struct analysis *a, const struct order_word *words);
bool order_words__have(const struct order_word *words, const char *word);
/* A note in a table that does not have the user's word, but another of the report has. */
int order__note(const struct analysis *a, const struct order_word *words, struct table *t);

/* Calls of one thing by their times: what several tables are sorted by. */
extern const struct order_word order_calls[]; /* total, avg, max, min, count */
/* measure: of order_calls */
double call_measure__of(int measure, const struct range *time, uint64_t calls);

/* Rows to be sorted by a number, the highest first (--ascending: last), then by name. */
struct ordered {
	double value;
	const char *name;
	size_t row; /* the table's own */
};
void ordered__sort(const struct analysis *a, struct ordered *rows, size_t cnt);

#endif
