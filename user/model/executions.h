/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an engine's threads run, and the calls that asked for it, see CAT_EXECUTION; not a door.
 * Takes 48 bytes for each of either.
 */
#ifndef PROFTRACE_EXECUTIONS_H
#define PROFTRACE_EXECUTIONS_H

#include "model/model.h"

struct executions {
	const struct recording *r;
	struct execution_item {
		uint64_t value, ts_ns;
		size_t call; /* of an execution: that of its call, NONE: not known */
		uint32_t pid, track, name;
		uint8_t is_execution;
		uint8_t phase; /* of a call that was finished: enum span_kind */
	} *items;	       /* by process, value and time */
	size_t cnt, cap;
	const char **texts; /* names of executions, in order */
	size_t text_cnt;
	size_t *by_place; /* of the items, by track and time */
};

/* Reads the whole recording once, if it has executions. 0 or a negative errno; free in either case.
 */
int executions__load(struct executions *x, const struct recording *r);
void executions__free(struct executions *x);

/* A call's phase is known. */
void executions__note(struct executions *x, const struct span *call);
/* The phase of its call, if that is known and was noted, else KIND_OTHER. */
enum span_kind executions__phase(const struct executions *x, const struct span *execution);
/* The name of the operator that it is of: its call's, or that of others with its name. 0: not
 * known. */
uint32_t executions__name(const struct executions *x, const struct span *execution);

#endif
