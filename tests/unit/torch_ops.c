// SPDX-License-Identifier: BSD-2-Clause
#include <criterion/criterion.h>
#include <string.h>
#include "common/err.h"
#include "common/util.h"
#include "frameworks/itanium.h"
#include "frameworks/torch/torch_layout.h"
#include "frameworks/torch/torch_ops.h"
#include "frameworks/torch/torch_schemas.h"
#include "frameworks/torch/torch_boxed.h"
#include "frameworks/torch/torch_sites.h"

/* ---- names of backward nodes, as torch.profiler 2.15 prints them ---- */
static const struct {
	const char *type_info, *type_obj, *name;
} nodes[] = {
	{"N5torch8autograd9generated14AddmmBackward0E", NULL, "AddmmBackward0"},
	{"N5torch8autograd14AccumulateGradE", NULL, "torch::autograd::AccumulateGrad"},
	{"N5torch8autograd10CopySlicesE", NULL, "torch::autograd::CopySlices"},
	{"N5torch8autograd6PyNodeE", "MyReluBackward", "MyReluBackward"},
	{"N5torch8autograd6PyNodeE", NULL, "torch::autograd::PyNode"},
	{"N5torch8autograd7CppNodeIN12_GLOBAL__N_16MyFuncEEE", NULL,
	 "torch::autograd::CppNode<(anonymous namespace)::MyFunc>"},
	{"N5torch8autograd7CppNodeINS0_3FooINS0_3BarES3_EEEE", NULL,
	 "torch::autograd::CppNode<torch::autograd::Foo<torch::autograd::Bar, "
	 "torch::autograd::Bar> >"},
	{"*N5torch3jit12_GLOBAL__N_127DifferentiableGraphBackwardE", NULL,
	 "torch::jit::(anonymous namespace)::DifferentiableGraphBackward"},
	{"3Foo", NULL, "Foo"},
	{"Z4mainE3Foo", NULL, "Z4mainE3Foo"}, /* local types keep their mangled name */
};

Test(torch_ops, names_backward_nodes)
{
	for (size_t i = 0; i < ARRAY_SIZE(nodes); i++) {
		char *name = torch_node_name(nodes[i].type_info, nodes[i].type_obj);

		cr_expect_str_eq(name, nodes[i].name);
		free(name);
	}
	cr_expect_null(torch_node_name(NULL, NULL));
}

Test(torch_ops, knows_the_node_that_a_function_runs)
{
	static const char args[] = "5applyEOSt6vectorIN2at6TensorESaIS4_EE";
	char symbol[128], type[128], small[16];

	snprintf(symbol, sizeof(symbol), "_ZN5torch8autograd14AccumulateGrad%s", args);
	cr_expect(torch_node_of_apply(symbol, type, sizeof(type)));
	cr_expect_str_eq(type, "N5torch8autograd14AccumulateGradE");
	cr_expect_not(torch_node_of_apply(symbol, small, sizeof(small)));
	cr_expect_not(torch_node_of_apply("_ZN5torch8autograd4Node5applyEi", type, sizeof(type)));
	snprintf(symbol, sizeof(symbol), "_ZZN5torch8autograd13UndefinedGrad%s", args);
	cr_expect_not(torch_node_of_apply(symbol, type, sizeof(type)));
	/* of 2.0, where apply() calls this with a lambda */
	cr_expect_not(torch_node_of_apply(
		"_ZN5torch8autograd14AccumulateGrad14accumulateGradIZNS1_5applyEOSt6vectorIN2at6"
		"TensorESaIS5_EEEUlOS5_E_EEvRKS5_RS5_SC_mRKT_",
		type, sizeof(type)));
}

/* Names as c++filt -t prints them. */
static const struct {
	const char *mangled, *readable;
} types[] = {
	{"RKN2at6TensorE", "at::Tensor const&"},
	{"PKc", "char const*"},
	{"St6vectorIN2at6TensorESaIS1_EE", "std::vector<at::Tensor, std::allocator<at::Tensor> >"},
	{"St5arrayIbLm4EE", "std::array<bool, 4ul>"},
	{"3FooILi5ELb1ELin3EE", "Foo<5, true, -3>"},
	{"St5tupleIJiS_IJEEEE", "std::tuple<int, std::tuple<> >"},
	{"NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
	 "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"},
};

Test(itanium, demangles_types)
{
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		char *text = itanium__demangle_type(types[i].mangled);

		cr_assert_not_null(text, "%s", types[i].mangled);
		cr_expect_str_eq(text, types[i].readable);
		free(text);
	}
}

Test(itanium, refuses_hostile_names)
{
	static const char *const bad[] = {
		"",	    "N",	  "NE",	   "N3FoE",   "9999999999999999999999a",
		"S_",	    "S99999999_", "3FooI", "3FooIE3", "3FooILi",
		"3FooILiE", "NSt",	  "PPPP",  "N3FooES", "L",
		"3FooIJ",
	};
	char deep[4096], wide[8192] = "N";

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		cr_expect_null(itanium__demangle_type(bad[i]), "%s", bad[i]);
	memset(deep, 'P', sizeof(deep) - 2);
	strcpy(deep + sizeof(deep) - 2, "i");
	cr_expect_null(itanium__demangle_type(deep));
	for (size_t n = 1; n + 4 < sizeof(wide); n += 2)
		strcpy(wide + n, "1a");
	strcat(wide, "E");
	cr_expect_null(itanium__demangle_type(wide));
}

/* ---- schemas in read-only data ---- */
Test(torch_schemas, finds_merged_and_overloaded_schemas)
{
	/* the linker keeps one copy of strings with a common tail */
	static const char rodata[] =
		"\0junk\001view_as_real(Tensor(a) self) -> Tensor(a)\0"
		"aten::squeeze(Tensor self, int dim) -> Tensor\0"
		"squeeze(Tensor(a) self) -> Tensor(a)\0"
		"quantized::linear(Tensor X, float s) -> Tensor\0"
		"usage: f(x) -> y\0"
		"add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor";
	struct torch_schemas *all;
	struct torch_schema s;

	cr_assert_eq(torch_schemas__scan((const uint8_t *)rodata, sizeof(rodata) - 1, &all), 0);
	cr_expect_eq(torch_schemas__cnt(all), 4);
	cr_expect_eq(torch_schemas__find(all, "real", 4, "RKNS_6TensorE", &s), 0);
	cr_expect_eq(strncmp(s.name.p, "real(Tensor(a) self)", 20), 0);
	cr_expect_eq(torch_schemas__find(all, "squeeze", 7, "RKNS_6TensorE", &s), 0);
	cr_expect_not(s.prefixed);
	cr_expect_eq(torch_schemas__find(all, "squeeze", 7, "RKNS_6TensorEl", &s), 0);
	cr_expect(s.prefixed);
	cr_expect_eq(
		torch_schemas__find(all, "add_Tensor", 10, "RKNS_6TensorES4_RKN3c106ScalarE", &s),
		0);
	cr_expect_eq(torch_schemas__find(all, "linear", 6, "RKNS_6TensorEd", &s), -ENOENT);
	torch_schemas__free(all);
}

/* ---- end sites ---- */
#define CALL	      0xe8, 0, 0, 0, 0
#define TEST_FLAG     0x80, 0x7d, 0xc0, 0x00 /* cmpb $0, -0x40(%rbp) */
#define CALL_RAX      0xff, 0xd0
#define JE(distance)  0x74, distance
#define JMP(distance) 0xeb, distance
#define RET	      0xc3
#define NOP	      0x90

static int find_end(const uint8_t *code, size_t len, uint32_t *first)
{
	struct torch_sites *s = torch_sites__new();
	uint32_t offsets[TORCH_MAX_ENDS] = {0};
	int n = torch_sites__find(s, code, len, offsets, TORCH_MAX_ENDS);

	torch_sites__free(s);
	*first = offsets[0];
	return n;
}

Test(torch_sites, takes_the_jump_behind_the_second_test)
{
	static const uint8_t code[] = {CALL,	  TEST_FLAG, JE(0), CALL_RAX,
				       TEST_FLAG, JE(1),     NOP,   RET};
	uint32_t at;

	cr_expect_eq(find_end(code, sizeof(code), &at), 1);
	cr_expect_eq(at, 17);
}

Test(torch_sites, refuses_unproven_flow)
{
	/* a return that passes no site */
	static const uint8_t early[] = {CALL,	   TEST_FLAG, JE(9), CALL_RAX,
					TEST_FLAG, JE(0),     RET,   RET};
	/* two sites on one way out */
	static const uint8_t twice[] = {CALL,  TEST_FLAG, JE(0), CALL_RAX, TEST_FLAG,
					JE(0), TEST_FLAG, JE(0), RET};
	/* no call between the tests */
	static const uint8_t no_call[] = {CALL, TEST_FLAG, JE(0), TEST_FLAG, JE(0), RET};
	/* one test only */
	static const uint8_t once[] = {CALL, TEST_FLAG, JE(0), CALL_RAX, RET};
	/* %r13 is not the frame: 41 80 7d c0 00 */
	static const uint8_t other[] = {CALL, 0x41,	 TEST_FLAG, JE(0), CALL_RAX,
					0x41, TEST_FLAG, JE(0),	    RET};
	uint32_t at;

	cr_expect_eq(find_end(early, sizeof(early), &at), -EINVAL);
	cr_expect_eq(find_end(twice, sizeof(twice), &at), -EINVAL);
	cr_expect_eq(find_end(no_call, sizeof(no_call), &at), -EINVAL);
	cr_expect_eq(find_end(once, sizeof(once), &at), -ENOENT);
	cr_expect_eq(find_end(other, sizeof(other), &at), -ENOENT);
	cr_expect_eq(find_end(once, 0, &at), -ENOENT);
}

/* ---- layouts ---- */
static const struct {
	const char *version;
	bool measured;
	unsigned int major, minor;
} versions[] = {
	{"2.15.0+cu132", true, 2, 14},
	{"2.11.0", true, 2, 10},
	{"2.4.1", true, 2, 3},
	{"2.0.1", true, 2, 0},
	{"1.13.1", true, 1, 13},
	{"2.16.0.dev20270101", false, 2, 14},
	{"1.10", false, 1, 13},
	{"nightly", false, 2, 14},
	{"", false, 2, 14},
	{NULL, false, 2, 14},
	{"99999999999.1", false, 2, 14},
};

Test(torch_layout, takes_the_measured_or_the_nearest)
{
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		bool measured;
		const struct torch_layout *l = torch_layout__find(versions[i].version, &measured);

		cr_expect_eq(measured, versions[i].measured, "%s", versions[i].version);
		cr_expect_eq(l->major, versions[i].major, "%s", versions[i].version);
		cr_expect_eq(l->minor, versions[i].minor, "%s", versions[i].version);
		cr_expect_null(l->dtypes[l->dtype_cnt]);
		cr_expect_str_eq(l->dtypes[l->dtype_cnt - 1], "");
		cr_expect_str_eq(l->dtypes[6], "float");
	}
}

Test(torch_layout, knows_the_measured_fields)
{
	bool measured;
	const struct torch_layout *l = torch_layout__find("2.15.0", &measured);

	cr_expect_eq(l->fields.tensor_sizes, 56);
	cr_expect_eq(l->fields.node_seq, 16);
	cr_expect_str_eq(l->dtypes[46], "c10::complex<c10::BFloat16>");
	cr_expect_eq(l->dtype_cnt, 48);
	cr_expect_eq(torch_layout__find("2.4.0", &measured)->dtype_cnt, 38);
	cr_expect_eq(torch_layout__find("1.13.1", &measured)->dtype_cnt, 19);
	cr_expect_eq(torch_layout__find("1.13.1", &measured)->fields.opt_tensor_flag, 0);
	/* ScalarType::Undefined by the headers of each wheel */
	cr_expect_eq(torch_layout__find("2.0.1", &measured)->dtype_cnt, 19);
	cr_expect_eq(torch_layout__find("2.1.2", &measured)->dtype_cnt, 26);
	cr_expect_eq(torch_layout__find("2.2.2", &measured)->dtype_cnt, 28);
	cr_expect_eq(torch_layout__find("2.7.1", &measured)->dtype_cnt, 46);
	cr_expect_eq(torch_layout__find("2.11.0", &measured)->dtype_cnt, 47);
}

Test(torch_layout, tells_strings_by_the_mangling)
{
	cr_expect_eq(torch_layout__string_abi("_ZN5torch1fERKNSt7__cxx1112basic_stringIcEE"),
		     PT_NAME_CXX11);
	cr_expect_eq(torch_layout__string_abi("_ZN5torch1fERKSs"), PT_NAME_COW);
	cr_expect_eq(torch_layout__string_abi("_ZN5torch1fEv"), PT_NAME_STATIC);
}

Test(torch_layout, believes_only_tensors)
{
	uint8_t impl[TORCH_IMPL_BYTES] = {0};
	bool measured;
	const struct torch_layout *l = torch_layout__find("2.15.0", &measured);
	const struct torch_layout *old = torch_layout__find("2.4.0", &measured);
	uint64_t word = 2;

	memcpy(impl + 56, &word, 8); /* two dimensions, float */
	impl[160] = 6;
	impl[164] = 1;
	cr_expect(torch_layout__plausible(l, impl, 0));
	cr_expect_not(torch_layout__plausible(l, impl, 0x1000));
	cr_expect_not(torch_layout__fits_undefined(l, impl));
	word = (uint64_t)-5;
	memcpy(impl + 72, &word, 8);
	cr_expect_not(torch_layout__plausible(l, impl, 0));
	memset(impl, 0, sizeof(impl)); /* the undefined tensor of 2.15, read from a process */
	impl[56] = 1;
	impl[160] = 47;
	impl[162] = 0x7f;
	cr_expect(torch_layout__fits_undefined(l, impl));
	cr_expect_not(torch_layout__fits_undefined(old, impl));
	/* a version that was not measured, or a build that claims another version */
	cr_expect_eq(torch_layout__fit("2.16.0", impl), l);
	cr_expect_eq(torch_layout__fit("2.4.0", impl), torch_layout__find("2.13.0", &measured));
	impl[56] = 2;
	cr_expect_null(torch_layout__fit("2.15.0", impl));
}

/* ---- the real library, if TORCH_LIB names the directory that holds it ---- */
static const struct torch_op *op_named(const struct torch_ops *ops, const char *schema)
{
	for (size_t i = 0; i < ops->cnt; i++)
		if (ops->ops[i].schema && !strncmp(ops->ops[i].schema, schema, strlen(schema)))
			return &ops->ops[i];
	return NULL;
}

static bool is_jcc(struct elf_file *f, uint64_t vaddr)
{
	size_t len;
	const uint8_t *p = elf_file__bytes(f, vaddr, &len);

	return p && len > 5 && (p[0] >> 4 == 7 || (p[0] == 0x0f && p[1] >> 4 == 8));
}

static void check_op(struct elf_file *f, const struct torch_op *op, size_t *jccs)
{
	cr_expect_not_null(op->schema, "%s", op->symbol);
	cr_expect(op->args.complete, "%s", op->schema);
	for (int i = 0; i < op->end_cnt; i++)
		*jccs += is_jcc(f, op->end_vaddrs[i]);
	cr_expect_gt(op->end_cnt, 0, "%s", op->symbol);
}

Test(torch_ops, resolves_every_operator_of_torch_2_15)
{
	const char *dir = getenv("TORCH_LIB");
	const struct torch_op *cat;
	struct torch_boxed_list boxed;
	struct torch_ops *ops;
	struct elf_file *f;
	char path[4096];
	size_t jccs = 0, boxed_ends = 0;
	uint64_t start;

	if (!dir)
		cr_skip("TORCH_LIB is not set");
	snprintf(path, sizeof(path), "%s/libtorch_cpu.so", dir);
	cr_assert_eq(elf_file__open(path, &f), 0);
	start = clock__ns(CLOCK_PROCESS_CPUTIME_ID);
	cr_assert_eq(torch_ops__load(f, &ops), 0);
	cr_log_info("loaded in %.0f ms of CPU time",
		    (double)(clock__ns(CLOCK_PROCESS_CPUTIME_ID) - start) / 1e6);
	cr_expect_eq(ops->cnt, 3110);
	cr_expect_eq(ops->schema_cnt, 3110);
	cr_expect_eq(ops->end_cnt, 3110);
	for (size_t i = 0; i < ops->cnt; i++)
		check_op(f, &ops->ops[i], &jccs);
	cr_expect_eq(jccs, 3115); /* eye.out, randint.out, tril_, triu_, set_ have two */
	cr_assert_eq(torch_boxed__find(f, &boxed), 0);
	cr_expect_eq(boxed.cnt, 13);
	for (size_t i = 0; i < boxed.cnt; i++)
		boxed_ends += (size_t)boxed.items[i].end_cnt;
	free(boxed.items);
	cr_expect_eq(boxed_ends, 29);
	cat = op_named(ops, "aten::cat.out(");
	cr_assert_not_null(cat);
	cr_expect_eq(cat->args.slot[0], 2);
	cr_expect_not_null(op_named(ops, "aten::real(Tensor(a) self) -> Tensor(a)"));
	torch_ops__free(ops);
	elf_file__close(f);
}
