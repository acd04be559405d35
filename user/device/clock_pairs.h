/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bounds for a device's clock: work begins after its launch began, and ends before a call that
 * waited for it returns. This joins calls, work and waits of a process, in any order within two
 * rounds. What finds no partner gives no bound. All times are CLOCK_MONOTONIC ns; the device's are
 * as CUPTI gives them.
 */
#ifndef PROFTRACE_CLOCK_PAIRS_H
#define PROFTRACE_CLOCK_PAIRS_H

#include "cupti_shim/protocol.h"
#include "device/clock_bounds.h"

#define CLOCK_ALL_STREAMS UINT32_MAX

struct clock_pairs;

struct clock_pairs *clock_pairs__new(void);    /* NULL: out of memory */
void clock_pairs__free(struct clock_pairs *p); /* NULL is fine */

/* A window opens: forgets all bounds. */
void clock_pairs__open(struct clock_pairs *p, uint64_t open_ns);
/* A CUDA call returned. is_copy: it returned when its copy to the host was complete. */
void clock_pairs__call(struct clock_pairs *p, const struct shim_call *call, bool is_copy);
/* When the call began; 0: unknown. */
uint64_t clock_pairs__begin_ns(const struct clock_pairs *p, uint32_t correlation);
/* A kernel, copy or set. to_host: a copy to the host. 0 or -ENOMEM, as for the next functions. */
int clock_pairs__work(struct clock_pairs *p, const struct shim_activity *work, uint64_t begin_ns,
		      uint64_t end_ns, bool to_host);
/* The call `wait` returned. By then the context's stream (or CLOCK_ALL_STREAMS) had done all work
 * that it got before the call `before` began. */
int clock_pairs__wait(struct clock_pairs *p, uint32_t wait, uint32_t before, uint32_t context,
		      uint32_t stream);
/* Ends a round. */
void clock_pairs__fit(struct clock_pairs *p);
/* At the end: calls take for each device that has bounds, by number. */
void clock_pairs__lines(struct clock_pairs *p,
			void (*take)(void *ctx, uint32_t device, uint64_t origin_ns,
				     const struct clock_line *line),
			void *ctx);

#endif
