// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <string.h>
#include "common/util.h"
#include "frameworks/torch/torch_layout.h"

/* New ScalarType codes were always added at the end, before Undefined. Here are those that each
 * version added. */
#define CODES_0_17                                                                                 \
	"unsigned char", "signed char", "short int", "int", "long int", "c10::Half", "float",      \
		"double", "c10::complex<c10::Half>", "c10::complex<float>",                        \
		"c10::complex<double>", "bool", "c10::qint8", "c10::quint8", "c10::qint32",        \
		"c10::BFloat16", "c10::quint4x2", "c10::quint2x4"
#define CODES_18_24                                                                                \
	"c10::bits1x8", "c10::bits2x4", "c10::bits4x2", "c10::bits8", "c10::bits16",               \
		"c10::Float8_e5m2", "c10::Float8_e4m3fn"
#define CODES_25_26 "c10::Float8_e5m2fnuz", "c10::Float8_e4m3fnuz"
#define CODES_27_36                                                                                \
	"short unsigned int", "unsigned int", "long unsigned int", "c10::dummy_uint1_7_t<1>",      \
		"c10::dummy_uint1_7_t<2>", "c10::dummy_uint1_7_t<3>", "c10::dummy_uint1_7_t<4>",   \
		"c10::dummy_uint1_7_t<5>", "c10::dummy_uint1_7_t<6>", "c10::dummy_uint1_7_t<7>"
#define CODES_0_36 CODES_0_17, CODES_18_24, CODES_25_26, CODES_27_36
#define CODES_37_43                                                                                \
	"c10::dummy_int1_7_t<1>", "c10::dummy_int1_7_t<2>", "c10::dummy_int1_7_t<3>",              \
		"c10::dummy_int1_7_t<4>", "c10::dummy_int1_7_t<5>", "c10::dummy_int1_7_t<6>",      \
		"c10::dummy_int1_7_t<7>"

static const char *const dtypes_18[] = {CODES_0_17, "", NULL};
static const char *const dtypes_25[] = {CODES_0_17, CODES_18_24, "", NULL};
static const char *const dtypes_27[] = {CODES_0_17, CODES_18_24, CODES_25_26, "", NULL};
static const char *const dtypes_37[] = {CODES_0_36, "", NULL};
#define CODE_44 "c10::Float8_e8m0fnu"
#define CODE_45 "c10::Float4_e2m1fn_x2"
#define CODE_46 "c10::complex<c10::BFloat16>"

static const char *const dtypes_44[] = {CODES_0_36, CODES_37_43, "", NULL};
static const char *const dtypes_45[] = {CODES_0_36, CODES_37_43, CODE_44, "", NULL};
static const char *const dtypes_46[] = {CODES_0_36, CODES_37_43, CODE_44, CODE_45, "", NULL};
static const char *const dtypes_47[] = {
	CODES_0_36, CODES_37_43, CODE_44, CODE_45, CODE_46, "", NULL,
};

/* Measured by scripts/torch-layout on PyPI's wheels of the last release of each minor version
 * (1.13: before that script existed). Oldest first. The tags of numbers were measured on 2.0, 2.4,
 * 2.11 and 2.15, and inferred for versions between. Tags of bools in boxed calls are left out for
 * other versions, because they may differ. Tags of Scalar changed in 2.3 with unsigned integers. */
static const struct torch_layout layouts[] = {
	{
		.major = 1,
		.minor = 13,
		.last_minor = 13,
		.fields = {.tensor_sizes = 72,
			   .tensor_dtype = 176,
			   .tensor_device = 178,
			   .node_seq = 24,
			   .node_pyobj = 0x188,
			   .record_function = 24,
			   .opt_tensor_flag = 0,
			   .python_tensor = 24,
			   .tensor_autograd = 32,
			   .autograd_node = 24},
		.constant_string = 24,
		.storage_size = 56,
		.dtypes = dtypes_18,
		.dtype_cnt = ARRAY_SIZE(dtypes_18) - 1,
	},
	{
		.major = 2,
		.minor = 0,
		.last_minor = 0,
		.fields = {.tensor_sizes = 72,
			   .tensor_dtype = 176,
			   .tensor_device = 178,
			   .node_seq = 24,
			   .node_pyobj = 0x1d8,
			   .record_function = 24,
			   .opt_tensor_flag = 0,
			   .python_tensor = 24,
			   .schema_args = 40,
			   .argument_size = 88,
			   .tensor_autograd = 32,
			   .autograd_node = 24,
			   .scalar_value = 16,
			   .scalar_bool = 3,
			   .ivalue_bool = 8},
		.constant_string = 24,
		.storage_size = 56,
		.dtypes = dtypes_18,
		.dtype_cnt = ARRAY_SIZE(dtypes_18) - 1,
	},
	{
		.major = 2,
		.minor = 1,
		.last_minor = 1,
		.fields = {.tensor_sizes = 72,
			   .tensor_dtype = 176,
			   .tensor_device = 178,
			   .node_seq = 24,
			   .node_pyobj = 0x1d8,
			   .record_function = 24,
			   .opt_tensor_flag = 0,
			   .python_tensor = 24,
			   .schema_args = 40,
			   .argument_size = 88,
			   .tensor_autograd = 32,
			   .autograd_node = 24,
			   .scalar_value = 16,
			   .scalar_bool = 3},
		.constant_string = 24,
		.storage_size = 56,
		.dtypes = dtypes_25,
		.dtype_cnt = ARRAY_SIZE(dtypes_25) - 1,
	},
	{
		.major = 2,
		.minor = 2,
		.last_minor = 2,
		.fields = {.tensor_sizes = 72,
			   .tensor_dtype = 176,
			   .tensor_device = 178,
			   .node_seq = 24,
			   .node_pyobj = 0x1d8,
			   .record_function = 24,
			   .opt_tensor_flag = 8,
			   .python_tensor = 24,
			   .schema_args = 32,
			   .argument_size = 88,
			   .tensor_autograd = 32,
			   .autograd_node = 24,
			   .scalar_value = 16,
			   .scalar_bool = 3},
		.constant_string = 24,
		.storage_size = 56,
		.dtypes = dtypes_27,
		.dtype_cnt = ARRAY_SIZE(dtypes_27) - 1,
	},
	{
		.major = 2,
		.minor = 3,
		.last_minor = 5,
		.fields = {.tensor_sizes = 64,
			   .tensor_dtype = 168,
			   .tensor_device = 170,
			   .node_seq = 24,
			   .node_pyobj = 0x1d8,
			   .record_function = 16,
			   .opt_tensor_flag = 8,
			   .python_tensor = 24,
			   .schema_args = 32,
			   .argument_size = 88,
			   .tensor_autograd = 24,
			   .autograd_node = 24,
			   .scalar_value = 16,
			   .scalar_bool = 4,
			   .ivalue_bool = 9},
		.constant_string = 16,
		.storage_size = 48,
		.dtypes = dtypes_37,
		.dtype_cnt = ARRAY_SIZE(dtypes_37) - 1,
	},
	{
		.major = 2,
		.minor = 6,
		.last_minor = 6,
		.fields = {.tensor_sizes = 64,
			   .tensor_dtype = 168,
			   .tensor_device = 170,
			   .node_seq = 24,
			   .node_pyobj = 0x1d8,
			   .record_function = 16,
			   .opt_tensor_flag = 8,
			   .python_tensor = 24,
			   .schema_args = 32,
			   .argument_size = 88,
			   .tensor_autograd = 24,
			   .autograd_node = 24,
			   .scalar_value = 16,
			   .scalar_bool = 4},
		.constant_string = 16,
		.storage_size = 48,
		.dtypes = dtypes_44,
		.dtype_cnt = ARRAY_SIZE(dtypes_44) - 1,
	},
	{
		.major = 2,
		.minor = 7,
		.last_minor = 7,
		.fields = {.tensor_sizes = 64,
			   .tensor_dtype = 168,
			   .tensor_device = 170,
			   .node_seq = 24,
			   .node_pyobj = 0x1d8,
			   .record_function = 16,
			   .opt_tensor_flag = 8,
			   .python_tensor = 24,
			   .schema_args = 128,
			   .argument_size = 112,
			   .tensor_autograd = 24,
			   .autograd_node = 48,
			   .scalar_value = 16,
			   .scalar_bool = 4},
		.constant_string = 16,
		.storage_size = 48,
		.dtypes = dtypes_45,
		.dtype_cnt = ARRAY_SIZE(dtypes_45) - 1,
	},
	{
		.major = 2,
		.minor = 8,
		.last_minor = 9,
		.fields = {.tensor_sizes = 64,
			   .tensor_dtype = 168,
			   .tensor_device = 170,
			   .node_seq = 24,
			   .node_pyobj = 0x1d8,
			   .record_function = 16,
			   .opt_tensor_flag = 8,
			   .python_tensor = 24,
			   .schema_args = 128,
			   .argument_size = 112,
			   .tensor_autograd = 24,
			   .autograd_node = 48,
			   .scalar_value = 16,
			   .scalar_bool = 4},
		.constant_string = 16,
		.storage_size = 48,
		.dtypes = dtypes_46,
		.dtype_cnt = ARRAY_SIZE(dtypes_46) - 1,
	},
	{
		.major = 2,
		.minor = 10,
		.last_minor = 12,
		.fields = {.tensor_sizes = 64,
			   .tensor_dtype = 168,
			   .tensor_device = 170,
			   .node_seq = 24,
			   .node_pyobj = 0x1d8,
			   .record_function = 16,
			   .opt_tensor_flag = 8,
			   .python_tensor = 16,
			   .schema_args = 128,
			   .argument_size = 112,
			   .tensor_autograd = 24,
			   .autograd_node = 48,
			   .scalar_value = 16,
			   .scalar_bool = 4,
			   .ivalue_bool = 10},
		.constant_string = 16,
		.storage_size = 48,
		.dtypes = dtypes_46,
		.dtype_cnt = ARRAY_SIZE(dtypes_46) - 1,
	},
	{
		.major = 2,
		.minor = 13,
		.last_minor = 13,
		.fields = {.tensor_sizes = 56,
			   .tensor_dtype = 160,
			   .tensor_device = 162,
			   .node_seq = 16,
			   .node_pyobj = 0x70,
			   .record_function = 16,
			   .opt_tensor_flag = 8,
			   .python_tensor = 16,
			   .schema_args = 128,
			   .argument_size = 112,
			   .tensor_autograd = 24,
			   .autograd_node = 48,
			   .scalar_value = 16,
			   .scalar_bool = 4,
			   .ivalue_bool = 10},
		.constant_string = 16,
		.storage_size = 48,
		.dtypes = dtypes_46,
		.dtype_cnt = ARRAY_SIZE(dtypes_46) - 1,
	},
	{
		.major = 2,
		.minor = 14,
		.last_minor = 15,
		.fields = {.tensor_sizes = 56,
			   .tensor_dtype = 160,
			   .tensor_device = 162,
			   .node_seq = 16,
			   .node_pyobj = 0x70,
			   .record_function = 16,
			   .opt_tensor_flag = 8,
			   .python_tensor = 16,
			   .schema_args = 128,
			   .argument_size = 112,
			   .tensor_autograd = 24,
			   .autograd_node = 48,
			   .scalar_value = 16,
			   .scalar_bool = 4,
			   .ivalue_bool = 10},
		.constant_string = 16,
		.storage_size = 48,
		.dtypes = dtypes_47,
		.dtype_cnt = ARRAY_SIZE(dtypes_47) - 1,
	},
};

/* How far a version is from that of a row. A different major version is further than any minor
 * one. */
static unsigned int distance(const struct torch_layout *l, unsigned int major, unsigned int minor)
{
	int wanted = (int)(major * 1000 + minor);
	int first = (int)(l->major * 1000 + l->minor),
	    last = (int)(l->major * 1000 + l->last_minor);

	return (unsigned int)(wanted < first ? first - wanted : wanted > last ? wanted - last : 0);
}

/* The nearest row that fits (NULL: any); NULL if none fits. */
static const struct torch_layout *nearest(unsigned int major, unsigned int minor,
					  const uint8_t *undefined)
{
	const struct torch_layout *best = NULL;

	/* From the newest: of two equally near versions the newer one is likelier. */
	for (size_t i = ARRAY_SIZE(layouts); i-- > 0;)
		if ((!undefined || torch_layout__fits_undefined(&layouts[i], undefined)) &&
		    (!best || distance(&layouts[i], major, minor) < distance(best, major, minor)))
			best = &layouts[i];
	return best;
}

static void parse_version(const char *version, unsigned int *major, unsigned int *minor)
{
	if (!version || sscanf(version, "%3u.%3u", major, minor) != 2) {
		*major = layouts[ARRAY_SIZE(layouts) - 1].major;
		*minor = 999;
	}
}

const struct torch_layout *torch_layout__find(const char *version, bool *measured)
{
	const struct torch_layout *best;
	unsigned int major, minor;

	parse_version(version, &major, &minor);
	best = nearest(major, minor, NULL);
	*measured = !distance(best, major, minor);
	return best;
}

const struct torch_layout *torch_layout__fit(const char *version, const uint8_t *undefined)
{
	unsigned int major, minor;

	parse_version(version, &major, &minor);
	return nearest(major, minor, undefined);
}

/* By torch.profiler's type names. Several elements of a quint type share a byte. */
static uint8_t element_bytes(const char *dtype)
{
	static const struct {
		const char *dtype;
		uint8_t bytes;
	} sizes[] = {
		{"unsigned char", 1},
		{"signed char", 1},
		{"short int", 2},
		{"int", 4},
		{"long int", 8},
		{"c10::Half", 2},
		{"float", 4},
		{"double", 8},
		{"c10::complex<c10::Half>", 4},
		{"c10::complex<float>", 8},
		{"c10::complex<double>", 16},
		{"bool", 1},
		{"c10::BFloat16", 2},
		{"c10::Float8_e5m2", 1},
		{"c10::Float8_e4m3fn", 1},
		{"c10::Float8_e5m2fnuz", 1},
		{"c10::Float8_e4m3fnuz", 1},
		{"short unsigned int", 2},
		{"unsigned int", 4},
		{"long unsigned int", 8},
		{"c10::Float8_e8m0fnu", 1},
		{"c10::Float4_e2m1fn_x2", 1},
		{"c10::complex<c10::BFloat16>", 4},
	};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		if (!strcmp(dtype, sizes[i].dtype))
			return sizes[i].bytes;
	return 0;
}

void torch_layout__element_bytes(const struct torch_layout *l, uint8_t *bytes)
{
	for (size_t i = 0; i < PT_MAX_DTYPES; i++)
		bytes[i] = i < l->dtype_cnt ? element_bytes(l->dtypes[i]) : 0;
}

enum pt_name_source torch_layout__string_abi(const char *symbol)
{
	if (strstr(symbol, "__cxx1112basic_string"))
		return PT_NAME_CXX11;
	/* the abbreviation of std::string, as a reference or by value */
	return strstr(symbol, "RKSs") || strstr(symbol, "ESs") ? PT_NAME_COW : PT_NAME_STATIC;
}

static uint64_t read_word(const uint8_t *impl, uint32_t off)
{
	uint64_t v;

	memcpy(&v, impl + off, sizeof(v));
	return v;
}

static uint16_t read_half(const uint8_t *impl, uint32_t off)
{
	uint16_t v;

	memcpy(&v, impl + off, sizeof(v));
	return v;
}

enum {
	MAX_DIMS = 64,	      /* the limit of TensorIterator and others */
	INLINE_DIMS = 5,      /* c10::SizesAndStrides keeps more dimensions on the heap */
	DATA_DTYPES = 18,     /* so many codes have data in every version */
	MAX_DTYPES = 128,     /* 2.15 has 47 */
	MAX_DEVICE_TYPE = 40, /* 2.15 has 23 */
};

bool torch_layout__plausible(const struct torch_layout *l, const uint8_t *impl, uint64_t vtable)
{
	uint64_t ndim = read_word(impl, l->fields.tensor_sizes);
	uint16_t dtype = read_half(impl, l->fields.tensor_dtype);
	const uint8_t *device = impl + l->fields.tensor_device;

	if (vtable && read_word(impl, 0) != vtable)
		return false;
	if (ndim > MAX_DIMS || dtype >= l->dtype_cnt)
		return false;
	if (device[0] > MAX_DEVICE_TYPE || device[2] > 1)
		return false;
	for (uint32_t i = 0; ndim <= INLINE_DIMS && i < ndim; i++)
		if ((int64_t)read_word(impl, l->fields.tensor_sizes + 8 + 8 * i) < 0)
			return false;
	return true;
}

bool torch_layout__fits_undefined(const struct torch_layout *l, const uint8_t *impl)
{
	uint32_t sizes = l->fields.tensor_sizes;
	uint16_t dtype = read_half(impl, l->fields.tensor_dtype);

	/* no device: the optional is empty */
	return read_word(impl, sizes) == 1 && read_word(impl, sizes + 8) == 0 &&
	       dtype >= DATA_DTYPES && dtype < MAX_DTYPES && !impl[l->fields.tensor_device + 2];
}
