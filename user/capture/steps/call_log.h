/* SPDX-License-Identifier: BSD-2-Clause */
/* Operator calls from the ring, kept in memory while proftrace looks for their period. */
#ifndef PROFTRACE_CALL_LOG_H
#define PROFTRACE_CALL_LOG_H

#include <stdbool.h>
#include "bpf/ctl.h"
#include "capture/steps/period.h"

/* A boxed operator. Many boxed operators share a row, so the name, cut to this size, identifies them. */
struct named_op {
	uint32_t row;
	char name[sizeof(((struct pt_name_rule *)NULL)->prefix)];
};

/* This many calls show a period. The probe hits of this many calls add some tens of milliseconds. */
enum { CALL_LOG_MAX = 20000 };

struct call_log {
	uint32_t pid; /* the process whose calls are logged; 0: the log is closed */
	struct step_call *calls;
	size_t cnt, cap;
	struct named_op *ops; /* step_call.op PT_MAX_PROBES + i is ops[i] */
	size_t op_cnt, op_cap;
	struct step_call *kept; /* calls of earlier looks */
	size_t kept_cnt, kept_cap;
};

/* Logs the calls in a record of the ring. Returns 0 or -ENOMEM. */
int call_log__take(struct call_log *log, const void *record, size_t size);

/* Removes the calls of a row. */
void call_log__forget(struct call_log *log, uint32_t row);

/* Keeps only threads that call one of the leading rows: other threads work for them. If no thread calls a leading row,
 * keeps all. `leads` has PT_MAX_PROBES items. Returns 0 or -ENOMEM. */
int call_log__keep_leaders(struct call_log *log, const bool *leads);

/* The boxed operator of a step_call.op; NULL if step_call.op is a row. */
const struct named_op *call_log__named(const struct call_log *log, uint32_t op);

/* Closes the log and appends its calls to `kept`, without the time between the looks. Drops the earlier calls first if
 * they are too many. Returns 0 or -ENOMEM. */
int call_log__keep(struct call_log *log);

/* Closes and empties the log. */
void call_log__free(struct call_log *log);

#endif
