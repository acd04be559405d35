/* SPDX-License-Identifier: BSD-2-Clause */
/* The period of a thread's operator calls. It defines a step if nothing else does. */
#ifndef PROFTRACE_PERIOD_H
#define PROFTRACE_PERIOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an operator does in each pass over a model that makes tokens, judged by its name. The most reliable choice comes
 * first. */
enum pass_mark {
	PASS_NONE,
	PASS_LOOKUP, /* reads the input of the pass: aten::embedding */
	PASS_ARGMAX, /* chooses the output of the pass, as the next two do */
	PASS_SAMPLING,
	PASS_TOPK, /* in beam search; also part of sampling, and of layers with experts */
};

/* One operator call. op is a row of the probe table; larger numbers belong to the caller. */
struct step_call {
	uint32_t op, tid;
	uint64_t ts_ns, end_ns;
	uint8_t mark; /* enum pass_mark */
};

/* What a step is in a program that answers requests. A request takes one pass over a model, or many. */
enum step_unit {
	STEP_UNIT_ITERATION, /* a pass; without visible passes, the outermost repetition */
	STEP_UNIT_REQUEST,   /* all passes of a request */
};

struct step_period {
	uint32_t op;	      /* the operator that opens each period, 0: no period */
	uint32_t tid;	      /* the thread it was looked for in */
	bool is_pass;	      /* the period is a pass over a model that makes tokens: several passes answer a request */
	/* an operator that comes after much longer pauses than op, such as the one that opens a request in a server; 0:
	 * none */
	uint32_t pausing;
	uint32_t pausing_cnt; /* calls of `pausing` in a period; 0 if `pausing` is 0 */
};

/*
 * Finds the operator that opens each unit in the thread with the most calls. Sorts the calls.
 *
 * Iteration: first choice is an operator that looks up input and comes once for each choice of output. Otherwise it is
 * the repeating operator after the longest pauses. That operator comes at least four times with the same calls in
 * between, and is no layer of another operator's period. If the periods of an operator consist of layers, they are the
 * iteration, even if they repeat within a longer period.
 *
 * Request: an operator after much longer pauses than others. Otherwise an operator that comes between iterations and
 * less often than iterations.
 */
struct step_period steps__period(struct step_call *calls, size_t cnt, enum step_unit unit);

/* As steps__period(), for the calls of several looks. Calls between the looks are missing. So it uses only lookups and
 * choices. */
struct step_period steps__period_of_looks(struct step_call *calls, size_t cnt, enum step_unit unit);

#endif
