// SPDX-License-Identifier: BSD-2-Clause
#include "frameworks/torch/torch_wrappers.h"
#include "common/util.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SYMBOL_PREFIX  "_ZN5torch8autogradL"
#define WRAPPER_PREFIX "THPVariable_"
#define GETTER_PREFIX  "_ZN10GetterBaseI"
/* followed by the wrapper's name */
#define ALIASED "TypeError_to_NotImplemented_IXadL_ZNS0_L"
/* At least two PyObject. With another second argument it is a helper of a wrapper. */
#define ARGS_PREFIX "EP7_objectS"

/* Wrappers that read the tensor itself and run no operator. Sorted. */
static const char *const answers_alone[] = {
	"_is_view",
	"_is_zerotensor",
	"_parse_to",
	"const_data_ptr",
	"data_ptr",
	"dim",
	"element_size",
	"get_device",
	"has_names",
	"is_complex",
	"is_conj",
	"is_contiguous",
	"is_floating_point",
	"is_inference",
	"is_neg",
	"is_signed",
	"length",
	"ndimension",
	"nelement",
	"numel",
	"requires_grad_",
	"size",
	"storage",
	"storage_offset",
	"stride",
};

/* Wrappers whose operator has another name. Sorted. */
static const struct renamed {
	const char *wrapper, *op;
} renamed[] = {
	{"bfloat16", "to"},
	{"bool", "to"},
	{"bool_scalar", "item"},
	{"byte", "to"},
	{"cdouble", "to"},
	{"cfloat", "to"},
	{"char", "to"},
	{"complex_scalar", "item"},
	{"cpu", "to"},
	{"cuda", "to"},
	{"double", "to"},
	{"float", "to"},
	{"float_scalar", "item"},
	{"half", "to"},
	{"index_scalar", "item"},
	{"int", "to"},
	{"integral_scalar", "item"},
	{"invert", "bitwise_not"},
	{"ipu", "to"},
	{"long", "to"},
	{"mtia", "to"},
	{"short", "to"},
	{"type", "to"},
	{"xpu", "to"},
};

/* Attributes that run an operator. Others read the tensor itself. */
static const struct attribute {
	const char *property, *op;
} attributes[] = {
	{"9PropertyTE", "numpy_T"}, {"9PropertyHE", "matrix_H"}, {"10PropertymTE", "mT"},
	{"10PropertymHE", "mH"},    {"12PropertyRealE", "real"}, {"12PropertyImagE", "imag"},
};

static int compare_names(const void *key, const void *item)
{
	return strcmp(key, *(const char *const *)item);
}

static bool has_prefix(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

/* The wrapper's name without its prefix: "add" for "15THPVariable_addEP7_objectS1_". */
static bool wrapper_name(const char *at, char *name, size_t size)
{
	size_t prefix_len = strlen(WRAPPER_PREFIX);
	unsigned long len;
	char *rest;

	len = strtoul(at, &rest, 10);
	if (len <= prefix_len || len > 200 || strlen(rest) <= len ||
	    !has_prefix(rest, WRAPPER_PREFIX) || !has_prefix(rest + len, ARGS_PREFIX))
		return false;
	if (strchr(rest + len, '.')) /* .cold, .part: no function of its own */
		return false;
	snprintf(name, size, "%.*s", (int)(len - prefix_len), rest + prefix_len);
	return true;
}

static bool operator_of(const char *at, char *op, size_t size)
{
	const struct renamed *other;

	if (!wrapper_name(at, op, size) || bsearch(op, answers_alone, ARRAY_SIZE(answers_alone),
						   sizeof(answers_alone[0]), compare_names))
		return false;
	other = bsearch(op, renamed, ARRAY_SIZE(renamed), sizeof(renamed[0]), compare_names);
	if (other)
		snprintf(op, size, "%s", other->op);
	return true;
}

bool torch_wrapper__operator(const char *symbol, char *op, size_t size)
{
	return has_prefix(symbol, SYMBOL_PREFIX) &&
	       operator_of(symbol + strlen(SYMBOL_PREFIX), op, size);
}

bool torch_wrapper__aliased(const char *symbol, char *op, size_t size)
{
	const char *at = strstr(symbol, ALIASED);

	return at && operator_of(at + strlen(ALIASED), op, size);
}

bool torch_attribute__operator(const char *symbol, char *op, size_t size)
{
	const char *at = symbol + strlen(GETTER_PREFIX);

	if (!has_prefix(symbol, GETTER_PREFIX) || strchr(symbol, '.')) /* .cold */
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(attributes); i++) {
		const size_t len = strlen(attributes[i].property);

		if (!has_prefix(at, attributes[i].property) || !has_prefix(at + len, "6getterE"))
			continue;
		snprintf(op, size, "%s", attributes[i].op);
		return true;
	}
	return false;
}

bool torch_wrapper__is_shared(const char *symbol)
{
	/* bool_scalar calls this wrapper */
	return strstr(symbol, "22THPVariable_is_nonzeroE") != NULL;
}
