/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of spans by name, such as operators or the user's ranges. One section per thread, or one
 * for all. */
#ifndef PROFTRACE_SPANS_BY_NAME_H
#define PROFTRACE_SPANS_BY_NAME_H

#include "analysis/analysis.h"
#include "analysis/left_out.h"

/* Groups: all threads of the main process, those of other processes, or GROUP_TRACK + track. */
enum { GROUP_MAIN = 0, GROUP_OTHERS = 1, GROUP_TRACK = 2 };

struct by_name {
	struct stat_map map;
};
int by_name__add_event(const struct analysis *a, struct by_name *n, const struct track *t,
		       const struct event *e, uint64_t cpu_ns, uint64_t gpu_ns);
int by_name__add(const struct analysis *a, struct by_name *n, const struct track *t,
		 const struct span *s);

#define NAME_MORE 2 /* columns that a table may have after those of a name; empty in this code's
		       rows */

/* The bases of the ratios of one section. sum: all listed spans. */
struct by_name_whole {
	bool of_listed; /* the base is the sum of all listed; else that of analysis__base */
	const struct stat_map *nested; /* by group: the part of the listed spans that lies in
					  other listed spans; or NULL */
	const char *where; /* is added to the titles of sections; NULL: nothing */
	/* Adds rows under one name; NULL: none. */
	int (*details)(const struct analysis *a, void *state, struct table *t,
		       const struct stat_row *row);
	void *state;
	const struct left_out_rows *estimates; /* in the order of the process's rows; or NULL */
	/* Fills the cell after those of a name, for a recorded row. NULL: the table has no such
	 * cell. */
	void (*more)(const struct analysis *a, void *state, const struct stat_row *row,
		     struct cell *cell);
	uint64_t absorbed_ns; /* the part of the estimated time that recorded rows also have */
};
int by_name__fill(const struct analysis *a, struct by_name *n, const struct by_name_whole *w,
		  struct table *t);
/* Cells of an estimated row: NAME_CELLS + NAME_MORE. */
void cells__estimate(const struct analysis *a, struct cell *cells, const char *name,
		     const struct stat *s, struct cell ratio);
/* The label of a span's name. An operator that an engine runs is "engine: NAME", because its call
 * is NAME and has a row of its own. The caller frees. NULL: no memory. */
char *by_name__label(const struct analysis *a, uint32_t name);
uint32_t by_name__group(const struct analysis *a, const struct track *t);
/* where: added to the threads in the title, or NULL. */
int by_name__add_section(const struct analysis *a, struct table *t, uint32_t group,
			 const char *where);

#endif
