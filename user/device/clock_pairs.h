/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What tells of a device's clock: work begins after its launch has begun, and has ended when a call
 * that waited for it returns. Joins calls, work and waits of a process, in whatever order they come
 * within two rounds; what finds no partner tells nothing. All times are CLOCK_MONOTONIC ns, the
 * device's as CUPTI gives them.
 */
#ifndef PROFTRACE_CLOCK_PAIRS_H
#define PROFTRACE_CLOCK_PAIRS_H

#include "cupti_shim/protocol.h"
#include "device/clock_bounds.h"

#define CLOCK_ALL_STREAMS UINT32_MAX

struct clock_pairs;

struct clock_pairs *clock_pairs__new(void);    /* NULL: out of memory */
void clock_pairs__free(struct clock_pairs *p); /* NULL is fine */

/* A window opens: what was learnt of the clocks is forgotten. */
void clock_pairs__open(struct clock_pairs *p, uint64_t open_ns);
/* One of CUDA's that returned. is_copy: when what it copies to the host is there. */
void clock_pairs__call(struct clock_pairs *p, const struct shim_call *call, bool is_copy);
/* The call's begin; 0: it is not known. */
uint64_t clock_pairs__begin_ns(const struct clock_pairs *p, uint32_t correlation);
/* A kernel, copy or set. to_host: a copy to the host. 0 or -ENOMEM, as the next ones. */
int clock_pairs__work(struct clock_pairs *p, const struct shim_activity *work, uint64_t begin_ns,
		      uint64_t end_ns, bool to_host);
/* The call `wait` returned when what the stream (or CLOCK_ALL_STREAMS) of the context had got
 * before the call `before` began was done. */
int clock_pairs__wait(struct clock_pairs *p, uint32_t wait, uint32_t before, uint32_t context,
		      uint32_t stream);
/* A round is over. */
void clock_pairs__fit(struct clock_pairs *p);
/* At the end: the devices that told something, by number. Calls take for each. */
void clock_pairs__lines(struct clock_pairs *p,
			void (*take)(void *ctx, uint32_t device, uint64_t origin_ns,
				     const struct clock_line *line),
			void *ctx);

#endif
