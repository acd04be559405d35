/* SPDX-License-Identifier: BSD-2-Clause */
/* Operator calls as the ring brings them, kept in memory while their period is looked for. */
#ifndef PROFTRACE_CALL_LOG_H
#define PROFTRACE_CALL_LOG_H

#include <stdbool.h>
#include "bpf/ctl.h"
#include "capture/steps/period.h"

/* A boxed operator: many share a row, so it is known by its name too, as far as it fits. */
struct named_op {
	uint32_t row;
	char name[sizeof(((struct pt_name_rule *)NULL)->prefix)];
};

/* So many calls show a period, and the hits of as many add some tens of milliseconds. */
enum { CALL_LOG_MAX = 20000 };

struct call_log {
	uint32_t pid; /* whose calls are wanted, 0: nobody's, the log is closed */
	struct step_call *calls;
	size_t cnt, cap;
	struct named_op *ops; /* step_call.op PT_MAX_PROBES + i is ops[i] */
	size_t op_cnt, op_cap;
	struct step_call *kept; /* calls of looks that are over */
	size_t kept_cnt, kept_cap;
};

/* Takes what is a call from a record of the ring; 0 or -ENOMEM. */
int call_log__take(struct call_log *log, const void *record, size_t size);

/* Takes a row's calls out again. */
void call_log__forget(struct call_log *log, uint32_t row);

/* Where a thread calls one of the rows that lead, threads that call none work for it: theirs are
 * taken out. `leads` has PT_MAX_PROBES items. 0 or -ENOMEM. */
int call_log__keep_leaders(struct call_log *log, const bool *leads);

/* The boxed operator that a step_call.op stands for, NULL if it stands for a row. */
const struct named_op *call_log__named(const struct call_log *log, uint32_t op);

/* Closes it and keeps its calls beside those of earlier looks, as if no time passed in between. If
 * these were too many they go. 0 or -ENOMEM. */
int call_log__keep(struct call_log *log);

/* Closes and empties it. */
void call_log__free(struct call_log *log);

#endif
