/* SPDX-License-Identifier: BSD-2-Clause */
/* The period of a thread's operator calls: what a step is, where nothing else tells. */
#ifndef PROFTRACE_PERIOD_H
#define PROFTRACE_PERIOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an operator does in each pass over a model that makes tokens, by its name. Of several
 * choices the first is the surest. */
enum pass_mark {
	PASS_NONE,
	PASS_LOOKUP, /* reads the pass's input: aten::embedding */
	PASS_ARGMAX, /* the others choose its output */
	PASS_SAMPLING,
	PASS_TOPK, /* of a beam search; beside the others in sampling, and in layers of experts */
};

/* One operator call. op is a row of the probe table; larger numbers are the caller's own. */
struct step_call {
	uint32_t op, tid;
	uint64_t ts_ns, end_ns;
	uint8_t mark; /* enum pass_mark */
};

/* A program answers requests, each by one pass over a model or by many. */
enum step_unit {
	STEP_UNIT_ITERATION, /* a pass; without passes that can be told, the outermost repetition */
	STEP_UNIT_REQUEST,   /* all passes of a request */
};

struct step_period {
	uint32_t op;	      /* the operator that opens each period, 0: no period */
	uint32_t tid;	      /* the thread it was looked for in */
	bool is_pass;	      /* a pass over a model that makes tokens: several answer a request */
	uint32_t pausing;     /* an operator that comes after much longer pauses than op, such as
			       * the one that opens a request in a server; 0: none */
	uint32_t pausing_cnt; /* its calls in a period, 0 without one */
};

/*
 * The operator that opens each unit of the thread that calls the most. Sorts the calls.
 *
 * Iteration: an operator that looks up input and comes once for each choice of output, whatever
 * else is called. Without one: an operator that comes at least four times with the same calls in
 * between, is no layer of another, and comes after the longest pauses. If the periods of one
 * consist of layers, one of those layers, though they repeat within a longer period.
 *
 * Request: an operator that comes after much longer pauses than others, or between iterations and
 * less often than these.
 */
struct step_period steps__period(struct step_call *calls, size_t cnt, enum step_unit unit);

/* The same of calls of several looks, between which others are missing: by lookups and choices. */
struct step_period steps__period_of_looks(struct step_call *calls, size_t cnt, enum step_unit unit);

#endif
