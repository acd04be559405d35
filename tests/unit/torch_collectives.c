// SPDX-License-Identifier: BSD-2-Clause
#include <criterion/criterion.h>
#include "frameworks/torch/torch_collectives.h"
#include "frameworks/torch/torch_layout.h"

#define METHOD "_ZN4c10d12ProcessGroup"

static const char *op_of(const char *symbol)
{
	static char op[128];

	return torch_collective__operator(symbol, op, sizeof(op)) ? op : "";
}

Test(torch_collectives, methods_dispatch_operators)
{
	cr_expect_str_eq(op_of(METHOD "9allreduceERSt6vectorIN2at6TensorESaIS3_EE"),
			 "c10d::allreduce_");
	cr_expect_str_eq(op_of(METHOD "17all_gather_singleERN2at6TensorES3_"),
			 "c10d::_allgather_base_");
	cr_expect_str_eq(op_of(METHOD "15_allgather_baseERN2at6TensorES3_"),
			 "c10d::_allgather_base_");
	cr_expect_str_eq(op_of(METHOD "7barrierERKNS_14BarrierOptionsE"), "c10d::barrier");
	cr_expect_str_eq(op_of(METHOD "4sendERSt6vectorIN2at6TensorESaIS3_EEii"), "c10d::send");
}

Test(torch_collectives, other_functions_do_not)
{
	cr_expect_str_eq(op_of(METHOD "4initEv"), "");
	cr_expect_str_eq(op_of(METHOD "9allreduce"), "");
	cr_expect_str_eq(op_of("_ZN4c10d16ProcessGroupGloo9allreduceERSt6vector"), "");
	cr_expect_str_eq(op_of(METHOD "99allreduceE"), "");
	cr_expect_str_eq(op_of(METHOD), "");
}

Test(torch_collectives, work_is_called_as_the_profiler_does)
{
	cr_expect_str_eq(torch_collective__name(0), "broadcast");
	cr_expect_str_eq(torch_collective__name(1), "all_reduce");
	cr_expect_str_eq(torch_collective__name(15), "barrier");
	cr_expect_str_eq(torch_collective__name(200), "collective");
}

Test(torch_collectives, bytes_of_elements)
{
	bool measured;
	uint8_t bytes[PT_MAX_DTYPES];

	torch_layout__element_bytes(torch_layout__find("2.15.0", &measured), bytes);
	cr_expect_eq(bytes[6], 4, "float");
	cr_expect_eq(bytes[4], 8, "long");
	cr_expect_eq(bytes[15], 2, "bfloat16");
	cr_expect_eq(bytes[47], 0, "undefined");
	cr_expect_eq(bytes[PT_MAX_DTYPES - 1], 0);
}
