// SPDX-License-Identifier: BSD-2-Clause
#include "frameworks/torch/torch_wrappers.h"
#include <criterion/criterion.h>

static const char *operator_of(const char *symbol)
{
	static char op[64];

	return torch_wrapper__operator(symbol, op, sizeof(op)) ? op : "";
}

Test(torch_wrappers, names_of_operators)
{
	cr_expect_str_eq(operator_of("_ZN5torch8autogradL15THPVariable_addEP7_objectS1_S1_"),
			 "add");
	cr_expect_str_eq(operator_of("_ZN5torch8autogradL17THPVariable_mean_EP7_objectS1_S1_"),
			 "mean_");
}

Test(torch_wrappers, wrappers_with_another_name_than_their_operator)
{
	cr_expect_str_eq(operator_of("_ZN5torch8autogradL16THPVariable_boolEP7_objectS2_"), "to");
	cr_expect_str_eq(operator_of("_ZN5torch8autogradL16THPVariable_charEP7_objectS2_"), "to");
	cr_expect_str_eq(operator_of("_ZN5torch8autogradL15THPVariable_xpuEP7_objectS2_"), "to");
	cr_expect_str_eq(operator_of("_ZN5torch8autogradL23THPVariable_bool_scalarEP7_objectS2_"),
			 "item");
}

Test(torch_wrappers, what_runs_no_operator)
{
	cr_expect_str_empty(operator_of("_ZN5torch8autogradL15THPVariable_dimEP7_objectS2_"));
	cr_expect_str_empty(operator_of("_ZN5torch8autogradL18THPVariable_strideEP7_objectS1_S1_"));
	cr_expect_str_empty(operator_of("_ZN5torch8autogradL20THPVariable__is_viewEP7_objectS2_"));
}

Test(torch_wrappers, what_is_no_wrapper)
{
	cr_expect_str_empty(operator_of(""));
	cr_expect_str_empty(operator_of("_ZN5torch8autogradL"));
	cr_expect_str_empty(operator_of("_ZN5torch8autogradL99THPVariable_addEP7_objectS1_S1_"));
	cr_expect_str_empty(operator_of("_ZN5torch8autogradL15THPVariable_addEPKc"));
	cr_expect_str_empty(
		operator_of("_ZN5torch8autogradL15THPVariable_addEP7_objectS1_S1_.cold"));
	cr_expect_str_empty(
		operator_of("_ZN5torch8autogradL19THPVariable_to_typeEP7_objectN3c1010ScalarTypeE"
			    "St8optionalINS3_12MemoryFormatEE"));
	cr_expect_str_empty(operator_of("_ZN5torch8autogradL12THPVariable_EP7_objectS1_S1_"));
}

Test(torch_wrappers, attributes_that_run_an_operator)
{
	char op[64] = "";

	cr_assert(torch_attribute__operator("_ZN10GetterBaseI9PropertyTE6getterEP11THPVariablePv",
					    op, sizeof(op)));
	cr_assert_str_eq(op, "numpy_T");
	cr_assert(torch_attribute__operator("_ZN10GetterBaseI10PropertymTE6getterEP11THPVariablePv",
					    op, sizeof(op)));
	cr_assert_str_eq(op, "mT");
	cr_assert_not(torch_attribute__operator(
		"_ZN10GetterBaseI12PropertyDataE6getterEP11THPVariablePv", op, sizeof(op)));
	cr_assert_not(torch_attribute__operator(
		"_ZN10GetterBaseI9PropertyTE6getterEP11THPVariablePv.cold", op, sizeof(op)));
}

Test(torch_wrappers, called_in_a_wrappers_place)
{
	char op[64];

	cr_assert(torch_wrapper__aliased(
		"_ZN5torch8autograd28TypeError_to_NotImplemented_IXadL_ZNS0_L15THPVariable_addEP7_"
		"objectS3_S3_EEEES3_S3_S3_S3_",
		op, sizeof(op)));
	cr_assert_str_eq(op, "add");
	cr_assert_not(torch_wrapper__aliased("_ZN5torch8autogradL15THPVariable_addEP7_objectS2_S2_",
					     op, sizeof(op)));
}

Test(torch_wrappers, called_by_another)
{
	cr_assert(torch_wrapper__is_shared(
		"_ZN5torch8autogradL22THPVariable_is_nonzeroEP7_objectS2_"));
	cr_assert_not(
		torch_wrapper__is_shared("_ZN5torch8autogradL15THPVariable_addEP7_objectS2_S2_"));
}
