/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Joins what an engine's threads run with the calls that asked for it, see CAT_EXECUTION. Only for
 * the model. Takes 48 bytes for each call and each execution.
 */
#ifndef PROFTRACE_EXECUTIONS_H
#define PROFTRACE_EXECUTIONS_H

#include "model/model.h"

struct executions {
	const struct recording *r;
	struct execution_item {
		uint64_t value, ts_ns;
		size_t call; /* of an execution: index of its call; NONE: unknown */
		uint32_t pid, track, name;
		uint8_t is_execution;
		uint8_t phase; /* of a finished call: enum span_kind */
	} *items;	       /* sorted by process, value and time */
	size_t cnt, cap;
	const char **texts; /* names of executions, sorted */
	size_t text_cnt;
	size_t *by_place; /* the items, sorted by track and time */
};

/* Reads the whole recording once, if it has executions. 0 or a negative errno; free after
 * either. */
int executions__load(struct executions *x, const struct recording *r);
void executions__free(struct executions *x);

/* Called when a call's phase is known. */
void executions__note(struct executions *x, const struct span *call);
/* The phase of its call, if that was noted, else KIND_OTHER. */
enum span_kind executions__phase(const struct executions *x, const struct span *execution);
/* The name of its operator: that of its call, or that of others with its name. 0: unknown. */
uint32_t executions__name(const struct executions *x, const struct span *execution);

#endif
