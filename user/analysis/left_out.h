/* SPDX-License-Identifier: BSD-2-Clause */
/* Estimated rows: functions that had no probe in the window, because they were hot and short. What
 * they would have added to a table is estimated from the steps before the window. */
#ifndef PROFTRACE_LEFT_OUT_H
#define PROFTRACE_LEFT_OUT_H

#include "analysis/analysis.h"

enum left_out_kind { LEFT_OUT_OPERATORS, LEFT_OUT_DEVICE_CALLS };

struct left_out_row {
	const char *name; /* the recording's */
	/* Calls that would have a row of the operator table; cpu has no max and min, gpu nothing.
	 */
	struct stat stat;
	/* With the calls inside other operators and backward nodes; ns. */
	uint64_t all_calls, all_ns;
	bool is_node; /* of the backward pass */
};

struct left_out_rows {
	struct left_out_row *items;
	size_t cnt;
	uint64_t steps;	      /* measured before the window; 0: without steps, */
	uint64_t measured_ns; /* how long was measured */
};

size_t left_out__cnt(const struct analysis *a, enum left_out_kind kind);
/* An operator among them was called in the steps that were measured: others were not called, or
 * made no span. */
bool left_out__has_operators(const struct analysis *a);

/* What is expected in so many steps, one row for a name. 0 or -ENOMEM; free the rows in any case.
 */
int left_out__read(const struct recording *r, enum left_out_kind kind, uint64_t steps,
		   struct left_out_rows *out);
void left_out_rows__free(struct left_out_rows *rows);
/* CPU time of all backward nodes, or of all others. */
uint64_t left_out_rows__ns(const struct left_out_rows *rows, bool nodes);
/* What `~` means, below a table that has such rows. 0 or -ENOMEM. */
int left_out_rows__note(const struct left_out_rows *rows, struct table *t);
/* Below a table of operators that has none of them: how many are missing. 0 or -ENOMEM. */
int left_out__note_missing(const struct analysis *a, struct table *t);

#endif
