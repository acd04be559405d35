/* SPDX-License-Identifier: BSD-2-Clause */
/* Logs operator calls in order before the first window. */
#ifndef PROFTRACE_LOG_CALLS_H
#define PROFTRACE_LOG_CALLS_H

#include <stdint.h>

struct session;

/* Logs the calls that probes see into s->records.log. Ends after `calls` calls, or after `steps` steps (0: no limit),
 * or when the look is over. The caller frees the log. Returns 0 or a negative errno of the ring. */
int session__log_calls(struct session *s, uint64_t steps, uint64_t calls);

#endif
