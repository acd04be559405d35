/* SPDX-License-Identifier: BSD-2-Clause */
/* What our probes added to the target in a window, estimated from their hits: the summary's "cost".
 */
#ifndef PROFTRACE_WINDOW_COST_H
#define PROFTRACE_WINDOW_COST_H

#include <jansson.h>
#include <stdint.h>

struct session;

/* Call before the window's records come: notes which probes the kernel single-steps. */
void window_cost__open(struct session *s);
/* loader_cpu_ns: our own CPU time in the window. */
json_t *window_cost__summary(const struct session *s, uint64_t loader_cpu_ns);

#endif
