/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Device work in clock time: which kernels, copies and sets ran between two moments, whoever
 * launched them and whenever. (The model answers another question: what a step, phase or operator
 * launched.)
 *
 * It reads the recording twice: first to find how late events come, then in the order of their
 * begins. Memory is bounded by that lateness, and by 2^20 events. More events take more passes, not
 * more memory.
 */
#ifndef PROFTRACE_DEVICE_CLOCK_H
#define PROFTRACE_DEVICE_CLOCK_H

#include "model/model.h"

struct device_work {
	uint64_t begin_ns, end_ns; /* the part between the two moments */
	uint64_t id;		   /* correlation id */
	int64_t bytes;
	const struct track *track;
	uint32_t name;
	enum span_kind kind; /* KERNEL, MEMCPY, MEMSET */
	bool continued;	     /* an earlier call of device_clock__between() gave another part of
				it */
	bool is_from_before; /* launched before the window */
};

struct device_clock;
/* 0 or a negative errno; r is borrowed. */
int device_clock__open(const struct recording *r, struct device_clock **out);
/* Calls take for each one that ran between the two moments, by begin. Later calls must ask for
 * later times. Returns the first non-zero result of take, 0, or a negative errno. */
int device_clock__between(struct device_clock *c, uint64_t begin_ns, uint64_t end_ns,
			  int (*take)(const struct device_work *w, void *ctx), void *ctx);
void device_clock__close(struct device_clock *c);
/* For tests: limits the events in memory. */
void device_clock__limit(struct device_clock *c, size_t cnt);

/* Length of a union of intervals, which come sorted by begin. */
struct busy_time {
	uint64_t total_ns, until_ns;
};
/* Returns by how much the interval extends the union. */
uint64_t busy_time__add(struct busy_time *t, uint64_t begin_ns, uint64_t end_ns);

#endif
