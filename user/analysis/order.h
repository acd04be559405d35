/* SPDX-License-Identifier: BSD-2-Clause */
/* Words for the order of rows. Each table has its own words, those of the profiler whose table it
 * imitates. */
#ifndef PROFTRACE_ORDER_H
#define PROFTRACE_ORDER_H

#include "analysis/analysis.h"

/* The measure of the user's word. If the table does not have that word: the measure of its first
 * one. */
int order__measure(const struct analysis *a, const struct order_word *words);
bool order_words__have(const struct order_word *words, const char *word);
/* Sets the column by which the table's rows are sorted. If the user's column is in another table of
 * the report, a note names the column used here. */
int order__describe(const struct analysis *a, const struct order_word *words, struct table *t);

/* Measures of calls, by which several tables are sorted. */
enum call_measure { CALLS_BY_TOTAL, CALLS_BY_AVG, CALLS_BY_MAX, CALLS_BY_MIN, CALLS_BY_COUNT };
double call_measure__of(int measure, const struct range *time, uint64_t calls);

/* Measures of a row of calls, on the host and on devices. A table shows one or both. */
enum sort_key {
	SORT_CPU_TOTAL,
	SORT_CPU_AVG,
	SORT_CPU_MAX,
	SORT_CPU_MIN,
	SORT_CALLS,
	SORT_GPU_TOTAL,
	SORT_GPU_AVG,
	SORT_GPU_MAX,
	SORT_GPU_MIN,
};
extern const struct order_word order_both[]; /* cpu_total .. cpu_min, calls, gpu_total .. gpu_min */
extern const struct order_word order_cpu[];  /* cpu_total .. cpu_min, calls */
extern const struct order_word order_gpu[];  /* gpu_total .. gpu_min, calls */
extern const struct order_word order_calls[]; /* cpu_total .. cpu_min, calls, gpu_total */
/* Sorts by one of the table's words, then by name. Device times count only if there are any. */
void stat_rows__sort(const struct analysis *a, const struct order_word *words,
		     struct stat_row **rows, size_t cnt);
/* Recorded and estimated rows in one order. A row without the measure comes last. */
struct stat_entry {
	const char *name;
	const struct stat *stat;
	const struct stat_row *row; /* NULL: estimated */
};
void stat_entries__sort(const struct analysis *a, const struct order_word *words,
			struct stat_entry *entries, size_t cnt);
/* order__describe() for a table of such entries. */
int stat_rows__describe_order(const struct analysis *a, const struct order_word *words,
			  struct table *t);

/* Rows sorted by a number, the highest first (with --ascending last), then by name. */
struct ordered {
	double value;
	const char *name;
	size_t row; /* the table's own index */
};
void ordered__sort(const struct analysis *a, struct ordered *rows, size_t cnt);

#endif
