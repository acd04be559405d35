/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of spans by name, one section per thread or for all: operators, the user's ranges. */
#ifndef PROFTRACE_SPANS_BY_NAME_H
#define PROFTRACE_SPANS_BY_NAME_H

#include "analysis/analysis.h"
#include "analysis/left_out.h"

/* Groups: all threads of the process, those of its other processes, or GROUP_TRACK + track. */
enum { GROUP_MAIN = 0, GROUP_OTHERS = 1, GROUP_TRACK = 2 };

struct by_name {
	struct stat_map map;
};
int by_name__add_event(const struct analysis *a, struct by_name *n, const struct track *t,
		       const struct event *e, uint64_t cpu_ns, uint64_t gpu_ns);
int by_name__add(const struct analysis *a, struct by_name *n, const struct track *t,
		 const struct span *s);

#define NAME_MORE 2 /* columns that a table may have behind those of a name; empty in its rows */

/* What ratios are of, for one section; sum: the listed spans. */
struct by_name_whole {
	bool of_listed; /* ratio of the sum of all listed, else as analysis__base */
	const struct stat_map *nested; /* by group: of the listed, what lies in others of them; or NULL */
	const char *where; /* goes behind the sections' titles, NULL: nothing */
	/* Rows under one name; NULL: none. */
	int (*details)(const struct analysis *a, void *state, struct table *t,
		       const struct stat_row *row);
	void *state;
	const struct left_out_rows *estimates; /* in the order of the process's rows; or NULL */
	/* The cell behind those of a name, of a recorded row; NULL: the table has none. */
	void (*more)(const struct analysis *a, void *state, const struct stat_row *row,
		     struct cell *cell);
	uint64_t absorbed_ns; /* of the estimated time, what recorded rows have, too */
};
int by_name__fill(const struct analysis *a, struct by_name *n, const struct by_name_whole *w,
		  struct table *t);
/* Cells of an estimated row: NAME_CELLS + NAME_MORE. */
void cells__estimate(const struct analysis *a, struct cell *cells, const char *name,
		     const struct stat *s, struct cell ratio);
/* A span's name, of an operator that an engine runs "engine: NAME": its call has the name alone, and a row of its
 * own. Caller frees; NULL: no memory. */
char *by_name__label(const struct analysis *a, uint32_t name);
uint32_t by_name__group(const struct analysis *a, const struct track *t);
/* where: follows the threads in the title, or NULL. */
int by_name__add_section(const struct analysis *a, struct table *t, uint32_t group,
			 const char *where);

#endif
