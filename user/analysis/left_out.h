/* SPDX-License-Identifier: BSD-2-Clause */
/* Estimated rows. Functions that are hot and short had no probe in the window. What they would add
 * to a table is estimated from the steps before the window. */
#ifndef PROFTRACE_LEFT_OUT_H
#define PROFTRACE_LEFT_OUT_H

#include "analysis/analysis.h"

enum left_out_kind { LEFT_OUT_OPERATORS, LEFT_OUT_DEVICE_CALLS };

struct left_out_row {
	const char *name; /* belongs to the recording */
	/* Calls that would have a row of the operator table. cpu has no max and min; gpu is
	 * empty. */
	struct stat stat;
	/* All calls, also those inside other operators and backward nodes; ns. */
	uint64_t all_calls, all_ns;
	bool is_node; /* it is a backward node */
};

struct left_out_rows {
	struct left_out_row *items;
	size_t cnt;
	uint64_t steps;	      /* steps that were measured before the window; 0: there are no
				 steps, */
	uint64_t measured_ns; /* and so much time was measured */
};

size_t left_out__cnt(const struct analysis *a, enum left_out_kind kind);
/* Was an operator among the functions called in the measured steps? The others were not called, or
 * made no span. */
bool left_out__has_operators(const struct analysis *a);

/* What is expected in so many steps, one row per name. 0 or -ENOMEM; free the rows after either. */
int left_out__read(const struct recording *r, enum left_out_kind kind, uint64_t steps,
		   struct left_out_rows *out);
void left_out_rows__free(struct left_out_rows *rows);
/* CPU time of all backward nodes, or of all other rows. */
uint64_t left_out_rows__ns(const struct left_out_rows *rows, bool nodes);
/* Adds a note that explains `~`, if the table has such rows. 0 or -ENOMEM. */
int left_out_rows__note(const struct left_out_rows *rows, struct table *t);
/* Adds a note to a table of operators without estimated rows: how many operators are missing. 0 or
 * -ENOMEM. */
int left_out__note_missing(const struct analysis *a, struct table *t);

#endif
