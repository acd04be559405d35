// SPDX-License-Identifier: BSD-2-Clause
/* Names of kernels and API functions; clocks; sets of correlation ids. */
#include "device/kernels/demangle.h"
#include "device/device_events.h"
#include "device/id_map.h"
#include <criterion/criterion.h>
#include <stdlib.h>

static void expect_kernel(const char *mangled, const char *readable)
{
	char *text = kernel_name__readable(mangled);

	cr_expect_str_eq(text, readable);
	free(text);
}

/* Each part contains the previous one twice. In full it would be a terabyte. */
Test(device_names, a_name_that_doubles_without_end_stays_mangled)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char name[512] = "_Z1f1PI1AS0_E";

	for (int i = 1; i < 36; i++)
		snprintf(name + strlen(name), sizeof(name) - strlen(name), "S_IS%c_S%c_E",
			 digits[i], digits[i]);
	expect_kernel(name, name);
	expect_kernel("_Z1f1PI1AS0_ES_IS1_S1_E", "f(P<A, A>, P<P<A, A>, P<A, A> >)");
}

Test(device_names, kernels_are_demangled)
{
	expect_kernel("_Z7forwardPKfS0_Pfi", "forward(float const*, float const*, float*, int)");
	expect_kernel("_ZN2at6native13im2col_kernelIfEEvlPKT_llllllllllllPS2_",
		      "void at::native::im2col_kernel<float>(long, float const*, long, long, long, "
		      "long, long, long, long, long, long, long, long, long, float*)");
	/* Triton's, cuDNN's and NCCL's names are plain. A broken name stays as it is. */
	expect_kernel("triton_per_fused_add_gelu_mul_sum_0", "triton_per_fused_add_gelu_mul_sum_0");
	expect_kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
		      "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)");
	expect_kernel("_Z7for", "_Z7for");
	expect_kernel("", "");
}

static void expect_function(const char *name, const char *plain)
{
	char out[64];

	api_name__plain(name, out, sizeof(out));
	cr_expect_str_eq(out, plain);
}

Test(device_names, functions_lose_their_versions)
{
	expect_function("cudaLaunchKernel_v7000", "cudaLaunchKernel");
	expect_function("cudaLaunchKernel_ptsz_v7000", "cudaLaunchKernel");
	expect_function("cudaLaunchKernelExC_v11060", "cudaLaunchKernelExC");
	expect_function("__cudaLaunchKernel_v13000", "__cudaLaunchKernel");
	expect_function("cuMemcpyHtoDAsync_v2", "cuMemcpyHtoDAsync");
	expect_function("cuMemcpyHtoDAsync_v2_ptsz", "cuMemcpyHtoDAsync");
	expect_function("cuLaunchKernel", "cuLaunchKernel");
	expect_function("cuMemcpy3D", "cuMemcpy3D");
	expect_function("cudaMemcpy2DToArray_ptds_v7000", "cudaMemcpy2DToArray");
	expect_function("_v2", "_v2");
}

Test(device_names, clocks_are_joined_by_two_points)
{
	const struct device_clock own = {.identity = true};
	/* the other clock runs 1 % fast and has another zero */
	const struct device_clock other = {
		.begin = {.cupti_ns = 5000, .mono_ns = 1000000},
		.end = {.cupti_ns = 5000 + 101000, .mono_ns = 1000000 + 100000}};
	/* a window that was too short for a second point */
	const struct device_clock point = {.begin = {.cupti_ns = 5000, .mono_ns = 1000000},
					   .end = {.cupti_ns = 5000, .mono_ns = 1000000}};

	cr_expect_eq(device_clock__monotonic(&own, 12345), 12345);
	cr_expect_eq(device_clock__monotonic(&other, 5000), 1000000);
	cr_expect_eq(device_clock__monotonic(&other, 5000 + 50500), 1000000 + 50000);
	cr_expect_eq(device_clock__monotonic(&other, 5000 - 1010), 1000000 - 1000);
	cr_expect_eq(device_clock__monotonic(&point, 5007), 1000007);
}

Test(device_names, ids_have_the_number_that_was_put)
{
	struct id_map map = {0};

	cr_expect_eq(id_map__get(&map, 0), 0);
	cr_expect_eq(id_map__get(&map, 7), 0);
	for (uint32_t i = 0; i < 100000; i += 3)
		cr_assert_eq(id_map__put(&map, i, i + 1), 0);
	for (uint32_t i = 0; i < 100000; i++)
		cr_assert_eq(id_map__get(&map, i), i % 3 ? 0 : i + 1);
	cr_assert_eq(id_map__put(&map, UINT32_MAX, UINT32_MAX), 0);
	cr_expect_eq(id_map__get(&map, UINT32_MAX), UINT32_MAX);
	id_map__clear(&map);
	cr_expect_eq(id_map__get(&map, 3), 0);
}
