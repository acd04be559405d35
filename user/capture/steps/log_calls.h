/* SPDX-License-Identifier: BSD-2-Clause */
/* What is called, in order, before there is a window. */
#ifndef PROFTRACE_LOG_CALLS_H
#define PROFTRACE_LOG_CALLS_H

#include <stdint.h>

struct session;

/* What probes see in a look, or so many steps (0: however many), or so many calls, goes to s->records.log,
 * which the caller frees. 0 or a negative errno of the ring. */
int session__log_calls(struct session *s, uint64_t steps, uint64_t calls);

#endif
