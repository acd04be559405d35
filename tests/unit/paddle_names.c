// SPDX-License-Identifier: BSD-2-Clause
#include "frameworks/framework.h"
#include "frameworks/paddle_names.h"
#include <criterion/criterion.h>

typedef bool (*name_of)(const char *symbol, char *out, size_t size);

static const char *name(name_of function, const char *symbol)
{
	static char text[128];

	return function(symbol, text, sizeof(text)) ? text : "";
}

Test(paddle_names, forward)
{
	cr_expect_str_eq(name(paddle_names__forward, "_Z11add_ad_funcRKN6paddle6TensorES2_"),
			 "add dygraph");
	cr_expect_str_eq(name(paddle_names__forward, "_ZN6sparse11abs_ad_funcERKN6paddle6TensorE"),
			 "sparse::abs dygraph");
	cr_expect_str_eq(
		name(paddle_names__forward, "_ZN3egr9to_static19run_program_ad_funcERKSt6vector"),
		"run_program dygraph");
	cr_expect_str_eq(name(paddle_names__forward, "_Z13adam__ad_funcRN6paddle6TensorE"), "");
	cr_expect_str_eq(name(paddle_names__forward, "_Z3addv"), "");
	cr_expect_str_eq(name(paddle_names__forward, "_Z99add_ad_func"), "");
}

Test(paddle_names, nodes)
{
	cr_expect_str_eq(name(paddle_names__node, "_ZN12ReluGradNodeclERN6paddle12small_vectorIE"),
			 "Global_ReluGradNode");
	cr_expect_str_eq(name(paddle_names__node,
			      "_ZN3egr20GradNodeAccumulationclERN6paddle12small_vectorIE"),
			 "Global_GradNodeAccumulation");
	cr_expect_str_eq(name(paddle_names__node, "_ZN12ReluGradNodeD1Ev"), "");
}

Test(paddle_names, python)
{
	cr_expect_str_eq(
		name(paddle_names__python, "_ZN6paddle6pybind16eager_api_conv2dEP7_objectS2_S2_"),
		"conv2d dygraph");
	cr_expect_str_eq(name(paddle_names__optimizer,
			      "_ZN6paddle6pybind16eager_api_conv2dEP7_objectS2_S2_"),
			 "");
	cr_expect_str_eq(
		name(paddle_names__optimizer, "_ZN6paddle6pybind15eager_api_adam_EP7_objectS2_S2_"),
		"adam_ dygraph");
	cr_expect_str_eq(name(paddle_names__optimizer,
			      "_ZN6paddle6pybind25eager_api_squared_l2_normEP7_objectS2_S2_"),
			 "squared_l2_norm dygraph");
}

Test(paddle_names, legacy)
{
	static const char lars[] = "_Z30lars_momentum_dygraph_functionRKSt6vectorIN6paddle6TensorE";
	static const char adam[] = "_Z21adam_dygraph_functionRKN6paddle6TensorES2_";
	static const char rnn[] = "_Z20rnn_dygraph_functionRKN6paddle6TensorERKSt6vectorIS0_E";

	cr_expect_str_eq(name(paddle_names__legacy, rnn), "rnn dygraph");
	cr_expect_str_eq(name(paddle_names__legacy_optimizer, rnn), "");
	cr_expect_str_eq(name(paddle_names__legacy, lars), "");
	cr_expect_str_eq(name(paddle_names__legacy_optimizer, lars), "lars_momentum dygraph");
	cr_expect_str_eq(name(paddle_names__legacy, adam), "");
	cr_expect_str_eq(name(paddle_names__legacy_optimizer, adam), "adam dygraph");
	cr_expect_str_eq(name(paddle_names__legacy, "_Z11add_ad_funcRKN6paddle6TensorES2_"), "");
}

#define GLOO "_ZN6paddle11distributed16ProcessGroupGloo"

Test(paddle_names, gloo)
{
	cr_expect_str_eq(name(paddle_names__gloo,
			      GLOO "9AllReduceERSt6vectorIN3phi11DenseTensorESaIS4_EES7_RKNS3_"
				   "11distributed16AllreduceOptionsEb"),
			 "ProcessGroupGloo::AllReduce");
	cr_expect_str_eq(name(paddle_names__gloo, GLOO "9AllReduceEPN3phi11DenseTensorERKS3_b"),
			 "");
	cr_expect_str_eq(name(paddle_names__gloo, GLOO "6ReduceEPN3phi11DenseTensorERKS3_b"),
			 "ProcessGroupGloo::Reduce");
	cr_expect_str_eq(
		name(paddle_names__gloo, GLOO "7BarrierERKN3phi11distributed14BarrierOptionsE"),
		"ProcessGroupGloo::Barrier");
	cr_expect_str_eq(name(paddle_names__gloo, GLOO "10CreateTaskEi"), "");
}

extern const struct framework framework_paddle;

/* CPython 3.10 names a method without its class. */
Test(paddle_names, optimizers_steps)
{
	static const char adam[] = "/usr/lib/python3/paddle/optimizer/adam.py";

	cr_expect(framework_paddle.is_optimizer_step(adam, "Adam.step"));
	cr_expect(framework_paddle.is_optimizer_step(adam, "step"));
	cr_expect(framework_paddle.is_optimizer_step(adam, "Optimizer.minimize"));
	cr_expect_not(framework_paddle.is_optimizer_step(adam, "Adam._append_optimize_op"));
	cr_expect_not(framework_paddle.is_optimizer_step("/home/me/train.py", "step"));
}
