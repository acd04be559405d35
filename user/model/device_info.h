/* SPDX-License-Identifier: BSD-2-Clause */
/* What a recording says about its devices, and what that means for a kernel. */
#ifndef PROFTRACE_DEVICE_INFO_H
#define PROFTRACE_DEVICE_INFO_H

#include "recording/recording.h"

/* 0: unknown */
struct device_info {
	char name[96];
	uint64_t memory_bytes;
	uint32_t major, minor; /* compute capability */
	uint32_t multiprocessors, threads_per_multiprocessor, registers_per_multiprocessor;
	uint32_t shared_per_multiprocessor, blocks_per_multiprocessor;
	uint32_t threads_per_block, registers_per_block, shared_per_block, shared_per_block_optin;
	uint32_t shared_reserved_per_block, warp_size;
	/* PCIe link when the window was written: millions of transfers per second and lane; number
	 * of lanes */
	uint32_t link_mts, link_width;
};

struct device_infos {
	struct device_info *items; /* by device id; an empty name: unknown */
	size_t cnt;
};

int device_infos__load(const struct recording *r, struct device_infos *out); /* 0 or -ENOMEM */
void device_infos__free(struct device_infos *infos);
/* NULL: nothing is known about it. */
const struct device_info *device_infos__at(const struct device_infos *infos, int64_t device);

/* Bytes per second in one direction that the link carries after its encoding. 0: unknown. */
double device_info__link_rate(const struct device_info *device);

/*
 * How much of a device a kernel uses. Blocks and warps per multiprocessor are of the whole grid, as
 * in Kineto and the CUDA tools. Occupancy (0..1) is of the blocks that fit at the same time by
 * CUDA's occupancy calculator, at most the grid's blocks.
 */
struct kernel_fill {
	double blocks_per_sm, warps_per_sm, occupancy;
};
/* False: too little is known about the device or the launch. */
bool kernel_fill__of(const struct device_info *device, const struct event_kernel *k,
		     struct kernel_fill *out);

/* Is it a kernel of a collective library: ncclKernel_*, ncclAllReduceRingLLKernel_*,
 * ncclDevKernel_*? */
bool kernel_name__is_collective(const char *name);

#endif
