/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The time in which the thread of the steps waits for a device that computes. It waits in a call
 * that synchronizes or copies (until the copy begins), or in a launch while the queue is full.
 * Kernels of collectives are no computation: they wait for other processes.
 */
#ifndef PROFTRACE_GPU_WAIT_H
#define PROFTRACE_GPU_WAIT_H

#include "model/device_clock.h"

#define GPU_WAIT_DEVICES 64

struct analysis;
struct gpu_wait {
	/* Calls of the current step in which its thread may wait, by begin. None is inside
	 * another. */
	struct gpu_call {
		uint64_t begin_ns, end_ns, waited_ns;
		uint64_t id; /* correlation id */
		uint32_t name, stack;
		enum span_kind phase;
	} *calls;
	size_t call_cnt, call_cap;
	struct gpu_use {
		struct busy_time work, computation; /* work: kernels, copies and sets;
						       computation: kernels */
		size_t call; /* index of the first call that ends later than the computation so
				far */
		uint64_t waited_ns;
	} devices[GPU_WAIT_DEVICES], any;
	/* Waits of the current step, for any device; by phase, with OTHER for none. */
	uint64_t step_ns, phase_ns[KIND_CNT];
};

/* Call order: begin_step gets the step's calls; add gets the devices' work, by begin; end_step
 * sums. 0 or -ENOMEM. */
int gpu_wait__begin_step(struct analysis *a, const struct batch *b);
void gpu_wait__add(struct analysis *a, const struct device_work *w);
int gpu_wait__end_step(struct analysis *a);
void gpu_wait__free(struct analysis *a);

/* The device with most work, and its time in *work_ns. -1: none. */
int gpu_wait__busiest(const struct analysis *a, uint64_t *work_ns);

#endif
