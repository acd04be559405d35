/* SPDX-License-Identifier: BSD-2-Clause */
/* Cells, columns and notes that several tables use. */
#ifndef PROFTRACE_CELLS_H
#define PROFTRACE_CELLS_H

#include "analysis/render/table.h"

struct analysis;
struct range;
struct stat;
struct stat_map;

/* A time for prose, in the unit of the report. */
struct time_text time_text(const struct analysis *a, uint64_t ns);

struct cell cell__text(const char *text);
struct cell cell__count(uint64_t n);
struct cell cell__time(uint64_t ns);
struct cell cell__bytes(int64_t bytes);
struct cell cell__large(uint64_t n);
struct cell cell__percent(double percent);
struct cell cell__float(double number);
struct cell cell__decimal(double number);
struct cell cell__none(const char *why);
struct cell cell__share(uint64_t part, uint64_t whole); /* in percent; empty if whole is 0 */

/* Total, average, longest, shortest and share, of "cpu" or "gpu": five columns and their cells. */
int table__add_time_columns(struct table *t, const char *group, const char *prefix);
void cells__time(struct cell *cells, const struct range *r, uint64_t calls, uint64_t whole);
/* Name and Calls. */
int table__add_call_columns(struct table *t, int name_width);
/* Name, Calls, CPU and, if there is a device, GPU columns: NAME_COLUMNS .. cells. */
#define NAME_CELLS     12 /* with a device, */
#define NAME_CELLS_CPU 7  /* and without */
int table__add_name_columns(const struct analysis *a, struct table *t, int name_width);
void cells__name(const struct analysis *a, struct cell *cells, const char *name,
		 const struct stat *s, uint64_t cpu_whole, uint64_t gpu_whole);

/* Adds a note with the number of calls that the window's edge cut, if any were. */
int table__note_cut(struct table *t, const struct stat_map *m);
/* "Ratios: CPU of ...; GPU of ...", the latter if there is a device. */
#define GPU_OWNER_TIME "GPU columns: time of what a row launched, whenever it ran."
int table__note_ratios(const struct analysis *a, struct table *t, const char *cpu, const char *gpu);
int table__add_notef(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
