/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Clock time of devices: which kernels, copies and sets ran between two moments, whoever launched
 * them and whenever. (The model answers the other question: what a step, phase or operator
 * launched.)
 *
 * It reads the recording twice: once for how late events come, then in the order of their begin.
 * What it holds is bounded by that lateness, and by 2^20 events; more takes more passes, not more
 * memory.
 */
#ifndef PROFTRACE_DEVICE_CLOCK_H
#define PROFTRACE_DEVICE_CLOCK_H

#include "model/model.h"

struct device_work {
	uint64_t begin_ns, end_ns; /* the part that lies between the two moments */
	uint64_t id;		   /* correlation id */
	int64_t bytes;
	const struct track *track;
	uint32_t name;
	enum span_kind kind; /* KERNEL, MEMCPY, MEMSET */
	bool continued;	     /* an earlier call of device_clock__between() had another part of it */
	bool is_from_before; /* the window did not launch it */
};

struct device_clock;
/* 0 or a negative errno; r is borrowed. */
int device_clock__open(const struct recording *r, struct device_clock **out);
/* Calls take for each that ran between the two moments, by begin. Later calls ask for later times.
 * The first non-zero return of take, 0, or a negative errno. */
int device_clock__between(struct device_clock *c, uint64_t begin_ns, uint64_t end_ns,
			  int (*take)(const struct device_work *w, void *ctx), void *ctx);
void device_clock__close(struct device_clock *c);
/* For tests: hold no more than so many events. */
void device_clock__limit(struct device_clock *c, size_t cnt);

/* Length of a union of intervals that come by begin. */
struct busy_time {
	uint64_t total_ns, until_ns;
};
/* What the interval adds to it. */
uint64_t busy_time__add(struct busy_time *t, uint64_t begin_ns, uint64_t end_ns);

#endif
