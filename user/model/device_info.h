/* SPDX-License-Identifier: BSD-2-Clause */
/* What a recording says of its devices, and what follows from it for a kernel. */
#ifndef PROFTRACE_DEVICE_INFO_H
#define PROFTRACE_DEVICE_INFO_H

#include "recording/recording.h"

/* 0: not known */
struct device_info {
	char name[96];
	uint64_t memory_bytes;
	uint32_t major, minor; /* compute capability */
	uint32_t multiprocessors, threads_per_multiprocessor, registers_per_multiprocessor;
	uint32_t shared_per_multiprocessor, blocks_per_multiprocessor;
	uint32_t threads_per_block, registers_per_block, shared_per_block, shared_per_block_optin;
	uint32_t shared_reserved_per_block, warp_size;
	/* Of the PCIe link when the window was written: millions of transfers a second of a lane, lanes */
	uint32_t link_mts, link_width;
};

struct device_infos {
	struct device_info *items; /* by device id; name empty: not known */
	size_t cnt;
};

int device_infos__load(const struct recording *r, struct device_infos *out); /* 0 or -ENOMEM */
void device_infos__free(struct device_infos *infos);
/* NULL: nothing is known of it. */
const struct device_info *device_infos__at(const struct device_infos *infos, int64_t device);

/* Bytes a second in one direction that the link carries, after its encoding; 0: not known. */
double device_info__link_rate(const struct device_info *device);

/*
 * How a kernel fills a device. Blocks and warps per multiprocessor are those of the whole grid, as
 * Kineto and the CUDA tools give them. Occupancy (0..1) is that of the blocks that fit at once by
 * the rules of CUDA's occupancy calculator, at most those of the grid.
 */
struct kernel_fill {
	double blocks_per_sm, warps_per_sm, occupancy;
};
/* False: the device or the launch is not known well enough. */
bool kernel_fill__of(const struct device_info *device, const struct event_kernel *k,
		     struct kernel_fill *out);

/* A kernel of a collective library: ncclKernel_*, ncclAllReduceRingLLKernel_*, ncclDevKernel_*. */
bool kernel_name__is_collective(const char *name);

#endif
