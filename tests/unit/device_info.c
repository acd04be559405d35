// SPDX-License-Identifier: BSD-2-Clause
/* How kernels fill a device, against CUDA's own occupancy calculator; names of collectives. */
#include <criterion/criterion.h>
#include "model/device_info.h"

TestSuite(device_info);

static const struct device_info h100 = {
	.name = "H100",
	.major = 9,
	.multiprocessors = 132,
	.threads_per_multiprocessor = 2048,
	.registers_per_multiprocessor = 65536,
	.shared_per_multiprocessor = 233472,
	.blocks_per_multiprocessor = 32,
	.shared_reserved_per_block = 1024,
	.warp_size = 32,
};

/* Percent of a grid that is large enough. */
static double occupancy(uint32_t threads, uint32_t registers, uint32_t shared_bytes)
{
	const struct event_kernel k = {.grid = {1 << 20, 1, 1},
				       .block = {threads, 1, 1},
				       .registers = registers,
				       .dynamic_shared_bytes = shared_bytes};
	struct kernel_fill fill;

	cr_assert(kernel_fill__of(&h100, &k, &fill));
	return 100 * fill.occupancy;
}

Test(device_info, occupancy_is_limited_by_the_scarcest_resource)
{
	cr_expect_float_eq(occupancy(256, 32, 0), 100, 0.01);
	cr_expect_float_eq(occupancy(256, 64, 0), 50, 0.01, "registers");
	cr_expect_float_eq(occupancy(256, 33, 0), 75, 0.01, "registers come in units of a warp's");
	cr_expect_float_eq(occupancy(1024, 40, 0), 50, 0.01, "only whole blocks");
	cr_expect_float_eq(occupancy(256, 32, 100 << 10), 25, 0.01, "shared memory");
	cr_expect_float_eq(occupancy(32, 16, 0), 50, 0.01, "blocks");
}

Test(device_info, a_small_grid_fills_no_more_than_it_has)
{
	const struct event_kernel k = {.grid = {66, 1, 1}, .block = {128, 2, 1}, .registers = 32};
	struct kernel_fill fill;

	cr_assert(kernel_fill__of(&h100, &k, &fill));
	cr_expect_float_eq(fill.blocks_per_sm, 0.5, 1e-9);
	cr_expect_float_eq(fill.warps_per_sm, 4, 1e-9);
	cr_expect_float_eq(fill.occupancy, 0.0625, 1e-9);
}

Test(device_info, what_a_link_carries)
{
	const struct device_info second = {.link_mts = 5000, .link_width = 8};
	const struct device_info fourth = {.link_mts = 16000, .link_width = 16};
	const struct device_info sixth = {.link_mts = 64000, .link_width = 16};

	cr_expect_float_eq(device_info__link_rate(&second), 4e9, 1);
	cr_expect_float_eq(device_info__link_rate(&fourth), 31.508e9, 1e6);
	cr_expect_float_eq(device_info__link_rate(&sixth), 121e9, 1);
	cr_expect_eq(device_info__link_rate(&h100), 0);
}

Test(device_info, what_is_not_known_is_not_computed)
{
	const struct event_kernel k = {.grid = {1, 1, 1}, .block = {32, 1, 1}}, none = {};
	const struct device_info unknown = {.name = "GPU"};
	struct kernel_fill fill;

	cr_expect_not(kernel_fill__of(NULL, &k, &fill));
	cr_expect_not(kernel_fill__of(&unknown, &k, &fill));
	cr_expect_not(kernel_fill__of(&h100, &none, &fill));
}

Test(device_info, collectives_of_old_and_new_libraries)
{
	cr_expect(
		kernel_name__is_collective("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)"));
	cr_expect(kernel_name__is_collective("ncclAllReduceRingLLKernel_sum_f32(ncclColl)"));
	cr_expect(kernel_name__is_collective(
		"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"));
	cr_expect(kernel_name__is_collective("void ncclKernel_Broadcast<float>(int)"));
	cr_expect_not(kernel_name__is_collective("void copyKernel<ncclComm>(int)"));
	cr_expect_not(kernel_name__is_collective("ampere_sgemm_128x64_tn"));
	cr_expect_not(kernel_name__is_collective("myncclKernel(int)"));
}
