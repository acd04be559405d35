/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The events of a recording as rows of a table, described once for all table formats. Rows come
 * from the model, so they have parent, launch, step, phase and self time. A step comes before
 * everything that ended in it. A thread's spans come in order of their begins, the outer first.
 * Device work comes after its launching call.
 */
#ifndef PROFTRACE_ROWS_H
#define PROFTRACE_ROWS_H

#include "exporters/parts/event_text.h"
#include "model/device_info.h"
#include "model/call_stack.h"
#include "model/model.h"

struct rows {
	const struct recording *r;
	struct dtypes dtypes;
	struct device_infos devices;
	struct call_stacks *stacks; /* NULL: the recording has none */
	char *stack_text;
	struct model_stats stats; /* what the model left out; complete after all rows */
	uint64_t cnt;
	char text[TENSORS_TEXT_MAX]; /* text of a value, until the next value is requested */
};

struct row {
	uint64_t id;		   /* from 1 */
	uint64_t parent_id;	   /* the span around it, 0: none */
	uint64_t launch_id;	   /* device work: the call that launched it, 0: none */
	const struct event *ev;	   /* a step's event only has type and id */
	const struct span *span;   /* NULL: it is no span */
	const struct span *enclosing; /* memory: the span around it, NULL: none */
	const struct step *step;   /* step in which it ended, NULL: none */
	const struct track *track; /* never NULL */
	const struct name *name;   /* NULL: it has none, or it was lost */
	uint32_t depth;
};

enum value_type { VALUE_NULL, VALUE_UINT, VALUE_INT, VALUE_REAL, VALUE_KEY, VALUE_TEXT };

struct value {
	enum value_type type;
	union {
		uint64_t u;
		int64_t i;
		double d;
		const char *s; /* KEY: letters, digits, _ [ ] , . - only; TEXT: UTF-8 */
	};
};

enum column_use { COLUMN_ALL, COLUMN_TEXT, COLUMN_SQL }; /* SQL has tables of names and tracks */

struct column {
	const char *name;
	enum column_use use;
	const char *sql_type;
	struct value (*get)(struct rows *rows, const struct row *row);
};

extern const struct column columns[];
extern const size_t column_cnt;

int rows__open(const struct recording *r, struct rows **out);
void rows__close(struct rows *rows);
/* Calls put for each row until it returns an error; returns that. */
int rows__each(struct rows *rows, int (*put)(const struct row *row, void *ctx), void *ctx);

#endif
