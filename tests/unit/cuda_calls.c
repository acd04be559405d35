// SPDX-License-Identifier: BSD-2-Clause
#include "device/cuda_calls.h"
#include <criterion/criterion.h>

static const struct pt_call_cfg *cfg(const char *symbol)
{
	const struct cuda_call *call = cuda_call__find(symbol);

	cr_assert(call, "%s", symbol);
	return &call->cfg;
}

Test(cuda_calls, versions_and_variants_are_one_function)
{
	cr_assert_eq(cuda_call__find("cudaLaunchKernel_ptsz"), cuda_call__find("cudaLaunchKernel"));
	cr_assert_eq(cuda_call__find("cuMemcpyHtoDAsync_v2_ptsz"),
		     cuda_call__find("cuMemcpyHtoDAsync_v2"));
	cr_assert_eq(cuda_call__find("cuMemsetD8_v2_ptds"), cuda_call__find("cuMemsetD8"));
	cr_assert_neq(cuda_call__find("cuMemcpyHtoDAsync_v2"), cuda_call__find("cuMemcpyHtoD_v2"));
}

Test(cuda_calls, others_are_left_alone)
{
	cr_assert_null(cuda_call__find("cudaGetDevice"));
	cr_assert_null(cuda_call__find("cudaLaunch"));
	cr_assert_null(cuda_call__find(""));
}

/* cudaMemcpy2DAsync(dst, dpitch, src, spitch, width, height, kind, stream) and
 * cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, stream, ...) */
Test(cuda_calls, arguments_are_counted_from_one)
{
	const struct pt_call_cfg *copy = cfg("cudaMemcpy2DAsync"), *launch = cfg("cuLaunchKernel");

	cr_assert_eq(copy->call_class, PT_CALL_COPY);
	cr_assert_eq(copy->bytes, 5);
	cr_assert_eq(copy->rows, 6);
	cr_assert_eq(copy->copy, 7);
	cr_assert_eq(copy->stream, 8);
	cr_assert_eq(launch->call_class, PT_CALL_LAUNCH);
	cr_assert_eq(launch->object, 1);
	cr_assert_eq(launch->stream, 9);
}

/* cudaMemcpy2DToArrayAsync(dst, wOffset, hOffset, src, spitch, width, height, kind, stream): the
 * ninth is the last one that is read. */
Test(cuda_calls, arguments_on_the_stack)
{
	const struct pt_call_cfg *copy = cfg("cudaMemcpy2DToArrayAsync");

	cr_assert_eq(copy->bytes, 6);
	cr_assert_eq(copy->rows, 7);
	cr_assert_eq(copy->copy, 8);
	cr_assert_eq(copy->stream, 9);
}
