// SPDX-License-Identifier: BSD-2-Clause
#include <criterion/criterion.h>
#include <string.h>
#include "common/util.h"
#include "frameworks/torch/torch_schema.h"

static struct torch_schema parse(const char *text)
{
	struct torch_schema s;

	cr_assert_eq(torch_schema__parse(text, strlen(text), &s), 0, "%s", text);
	return s;
}

/* "sret 0:1 2:3? 3:4* 4:0&": argument 0 in slot 1, optional argument 2 in slot 3, lists by value
 * and by reference. */
static void plan_text(const struct torch_arg_plan *p, char *buf, size_t size)
{
	static const char *const kinds[] = {[PT_ARG_TENSOR] = "",
					    [PT_ARG_OPT_TENSOR] = "?",
					    [PT_ARG_TENSORS] = "*",
					    [PT_ARG_TENSORS_REF] = "&"};
	size_t n = (size_t)snprintf(buf, size, "%s", p->sret ? "sret" : "-");

	for (int i = 0; i < p->read_cnt; i++)
		if (p->kind[i] <= PT_ARG_TENSORS_REF)
			n += (size_t)snprintf(buf + n, size - n, " %d:%d%s", p->index[i],
					      p->slot[i], kinds[p->kind[i]]);
	if (!p->complete)
		snprintf(buf + n, size - n, " ...");
}

/*
 * Expected values follow by hand from the System V ABI: six general registers (slots 0-5), one for
 * the result's address if that is in memory; an argument that does not fit goes onto the stack
 * whole (slots 6 and up), and later ones may still use the registers left.
 */
static const struct {
	const char *schema, *params, *plan;
} plans[] = {
	{"abs(Tensor self) -> Tensor", NULL, "sret 0:1"},
	{"abs_(Tensor(a!) self) -> Tensor(a!)", NULL, "- 0:0"},
	{"abs.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", NULL, "- 0:0 1:1"},
	{"add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", NULL,
	 "sret 0:1 1:2"},
	{"linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor", NULL,
	 "sret 0:1 1:2 2:3?"},
	{"addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
	 NULL, "sret 0:1 1:2 2:3"},
	{"item(Tensor self) -> Scalar", NULL, "sret 0:1"},
	{"is_nonzero(Tensor self) -> bool", NULL, "- 0:0"},
	{"size.int(Tensor self, int dim) -> int", NULL, "- 0:0"},
	{"q_scale(Tensor self) -> float", NULL, "- 0:0"},
	{"sym_numel(Tensor self) -> SymInt", NULL, "sret 0:1"},
	{"result_type.Tensor(Tensor tensor, Tensor other) -> ScalarType", NULL, "- 0:0 1:1"},
	{"qscheme(Tensor self) -> QScheme", NULL, "- 0:0"},
	{"_backward(Tensor self, Tensor[] inputs, Tensor? gradient=None, bool? retain_graph=None, "
	 "bool create_graph=False) -> ()",
	 NULL, "- 0:0 1:1* 2:3?"},
	{"view(Tensor(a) self, SymInt[] size) -> Tensor(a)", NULL, "sret 0:1"},
	{"chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]", NULL, "sret 0:1"},
	{"max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
	 NULL, "sret 0:1"},
	/* a tuple of references is not trivially copyable in libstdc++ */
	{"max.dim_max(Tensor self, int dim, bool keepdim=False, *, Tensor(a!) max, Tensor(b!) "
	 "max_values) -> (Tensor(a!) values, Tensor(b!) indices)",
	 NULL, "sret 0:1 3:4 4:5"},
	{"convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] "
	 "padding, "
	 "SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups) -> Tensor",
	 NULL, "sret 0:1 1:2 2:3?"},
	/* the list of two words takes rdx, rcx */
	{"a(Tensor(a!) self, Tensor other, int[] x, Tensor third) -> Tensor(a!)", NULL,
	 "- 0:0 1:1 3:4"},
	/* one register left is too few for the list: it goes to the stack, the tensor into r9 */
	{"b(Tensor a, Tensor b, Tensor c, Tensor d, int[2] x, Tensor e, Tensor f) -> Tensor", NULL,
	 "sret 0:1 1:2 2:3 3:4 5:5 6:8"},
	/* float goes to xmm0 and costs no slot, float? costs one for its flag */
	{"c(Tensor a, float p, Tensor b) -> Tensor", NULL, "sret 0:1 2:2"},
	{"d(Tensor a, float? p, Tensor b) -> Tensor", NULL, "sret 0:1 2:3"},
	{"e(Tensor a, int? p, Tensor b) -> Tensor", NULL, "sret 0:1 2:4"},
	{"f(Tensor a, bool? p, ScalarType? q, Tensor b) -> Tensor", NULL, "sret 0:1 3:4"},
	/* optional<ArrayRef> has 24 bytes: always memory */
	{"g(Tensor a, int[1]? p, Tensor b) -> Tensor", NULL, "sret 0:1 2:2"},
	{"h(Tensor a, str? p, Tensor b, Tensor c, Tensor d, Tensor e, Tensor f) -> Tensor", NULL,
	 "sret 0:1 2:2 3:3 4:4 5:5 6:9"},
	{"i(Tensor a, str p, Tensor b) -> Tensor", NULL, "sret 0:1 2:4"},
	/* std::array<bool, 3> is one word, c10::List<optional<Tensor>> const & too */
	{"j(Tensor a, bool[3] mask, Tensor b) -> Tensor", NULL, "sret 0:1 2:3"},
	{"index.Tensor(Tensor self, Tensor?[] indices, Tensor x) -> Tensor", NULL, "sret 0:1 2:3"},
	{"k(Tensor a, Scalar? min=None, Tensor b) -> Tensor", NULL, "sret 0:1 2:3"},
	{"l(Tensor a, Generator? g=None, SymInt n=1, SymInt? m=None, Tensor b) -> Tensor", NULL,
	 "sret 0:1 4:5"},
	{"native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, "
	 "Tensor? running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, "
	 "Tensor)",
	 NULL, "sret 0:1 1:2? 2:3? 3:4? 4:5?"},
	{"m(Tensor a, Tensor b, Tensor c, Tensor d, Tensor e, Tensor f, bool x, Tensor g) -> ()",
	 NULL, "- 0:0 1:1 2:2 3:3 4:4 5:5 7:7"},
	/* the ninth double finds no vector register: a word on the stack */
	{"n(Tensor a, float p0, float p1, float p2, float p3, float p4, float p5, float p6, float "
	 "p7, float p8, Tensor b, Tensor c, Tensor d, Tensor e, Tensor f, Tensor g) -> ()",
	 NULL, "- 0:0 10:1 11:2 12:3 13:4 14:5 15:7"},
	{"copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)", NULL,
	 "- 0:0 1:1"},
	{"batch_norm(Tensor(a!)? running_mean, Tensor(b!)? running_var) -> Tensor", NULL,
	 "sret 0:1? 1:2?"},
	{"gelu.out(Tensor self, *, str approximate='none', Tensor(a!) out) -> Tensor(a!)", NULL,
	 "- 0:0 2:3"},
	{"record_stream(Tensor(a!) self, Stream s, Tensor x) -> ()", NULL, "- 0:0 2:3"},
	/* structured kernels take const IListRef<Tensor> &, one word; the mangling shows it */
	{"cat.out(Tensor[] tensors, int dim=0, *, Tensor(a!) out) -> Tensor(a!)", NULL,
	 "- 0:0* 2:3"},
	{"cat.out(Tensor[] tensors, int dim=0, *, Tensor(a!) out) -> Tensor(a!)",
	 "RKN3c108IListRefINS_6TensorEEElRS4_", "- 0:0& 2:2"},
	/* arguments after an unknown type are not guessed */
	{"o(Tensor a, Newtype b, Tensor c) -> Tensor", NULL, "sret 0:1 ..."},
	/* more than is described */
	{"p(Tensor a, Tensor b, Tensor c, Tensor d, Tensor e, Tensor f, Tensor g, Tensor h, Tensor "
	 "i, Tensor j, Tensor k, Tensor l, Tensor m, Tensor n, Tensor o, Tensor p, Tensor q) -> ()",
	 NULL, "- 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7 8:8 9:9 10:10 11:11 12:12 13:13 14:14 15:15"},
	{"q() -> Tensor", NULL, "sret"},
};

Test(torch_schema, places_tensors_as_the_abi_says)
{
	char text[256];

	for (size_t i = 0; i < ARRAY_SIZE(plans); i++) {
		struct torch_schema s = parse(plans[i].schema);
		struct torch_arg_plan p;

		torch_schema__plan(&s, plans[i].params, false, &p);
		plan_text(&p, text, sizeof(text));
		cr_expect_str_eq(text, plans[i].plan, "%s: got \"%s\", want \"%s\"",
				 plans[i].schema, text, plans[i].plan);
	}
}

/* Arguments that are no tensors follow the same rules. */
static const struct {
	const char *schema, *params, *plan;
} numbers[] = {
	{"conv2d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1, SymInt[2] "
	 "padding=0, SymInt[2] dilation=1, SymInt groups=1) -> Tensor",
	 NULL, "3:ints@4 4:ints@6 5:ints@8 6:int&@10"},
	{"conv2d.padding(Tensor input, Tensor weight, Tensor? bias, SymInt[2] stride, str padding)"
	 " -> Tensor",
	 NULL, "3:ints@4"},
	{"add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
	 "RKNS_6TensorES4_RKN3c106ScalarE", "2:scalar&@3"},
	{"clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor", NULL,
	 "1:scalar?&@2 2:scalar?&@3"},
	{"softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", NULL,
	 "1:int@2 2:byte?@3"},
	{"transpose.int(Tensor(a) self, int d, int? e) -> Tensor(a)", NULL, "1:int@2 2:int?@3"},
	{"empty_like(Tensor self, *, ScalarType t, Layout? layout=None, Device? device=None, bool? "
	 "pin_memory=None) -> Tensor",
	 NULL, "1:byte@2 2:byte?@3 4:bool?@5"},
	{"slice.Tensor(Tensor self, int dim, SymInt? start, SymInt? end, SymInt step) -> Tensor",
	 NULL, "1:int@2 2:int?&@3 3:int?&@4 4:int&@5"},
	{"sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False) -> Tensor", NULL,
	 "1:ints?@6 2:bool@2"},
	{"a(Tensor self, float p, float? q, float[] r, float[]? s) -> Tensor", NULL,
	 "3:floats@3 4:floats?@6"},
	{"b(Tensor self, bool[3] mask, bool[] masks) -> Tensor", NULL, "1:bools3@2"},
	/* passed by address although numbers are passed by value, so it is not known */
	{"c(Tensor self, int[1]? dim, bool x) -> Tensor", "RKNS_6TensorERKSt8optionalIlEb",
	 "2:bool@3"},
	{"d(Tensor self, str s, Generator? g, Scalar[] l, int?[] m) -> Tensor", NULL, ""},
};

static void numbers_text(const struct torch_arg_plan *p, char *buf, size_t size)
{
	static const char *const kinds[] = {
		[PT_ARG_INT] = "int",	     [PT_ARG_BYTE] = "byte",
		[PT_ARG_BOOL] = "bool",	     [PT_ARG_OPT_INT] = "int?",
		[PT_ARG_OPT_BYTE] = "byte?", [PT_ARG_OPT_BOOL] = "bool?",
		[PT_ARG_INT_AT] = "int&",    [PT_ARG_OPT_INT_AT] = "int?&",
		[PT_ARG_SCALAR] = "scalar&", [PT_ARG_OPT_SCALAR] = "scalar?&",
		[PT_ARG_INTS] = "ints",	     [PT_ARG_FLOATS] = "floats",
		[PT_ARG_OPT_INTS] = "ints?", [PT_ARG_OPT_FLOATS] = "floats?",
		[PT_ARG_BOOLS] = "bools",
	};
	size_t n = 0;

	*buf = '\0';
	for (int i = 0; i < p->read_cnt; i++) {
		int kind = p->kind[i] & PT_ARG_KIND_MASK, cnt = p->kind[i] >> PT_ARG_CNT_SHIFT;

		if (kind <= PT_ARG_TENSORS_REF)
			continue;
		n += (size_t)snprintf(buf + n, size - n, "%s%d:%s%.*d@%d", n ? " " : "",
				      p->index[i], kinds[kind], cnt ? 1 : 0, cnt, p->slot[i]);
	}
}

Test(torch_schema, places_numbers_as_the_abi_says)
{
	char text[256];

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		struct torch_schema s = parse(numbers[i].schema);
		struct torch_arg_plan p;

		torch_schema__plan(&s, numbers[i].params, false, &p);
		numbers_text(&p, text, sizeof(text));
		cr_expect_str_eq(text, numbers[i].plan, "%s: got \"%s\", want \"%s\"",
				 numbers[i].schema, text, numbers[i].plan);
	}
}

/* The data behind the address in rdi when the call has ended. */
static const struct {
	const char *schema;
	uint8_t result;
	uint32_t offset;
} results[] = {
	{"relu(Tensor self) -> Tensor", PT_RESULT_TENSOR},
	{"t(Tensor(a) self) -> Tensor(a)", PT_RESULT_TENSOR},
	{"add_(Tensor(a!) self, Tensor other) -> Tensor(a!)", PT_RESULT_TENSOR},
	{"max.dim(Tensor self, int dim) -> (Tensor values, Tensor indices)", PT_RESULT_TENSOR, 8},
	{"lstm(Tensor x, Tensor[] hx) -> (Tensor, Tensor, Tensor)", PT_RESULT_TENSOR, 16},
	{"sdpa(Tensor q) -> (Tensor output, Tensor logsumexp, SymInt max_q)", PT_RESULT_TENSOR, 16},
	{"r(Tensor q) -> (Tensor output, bool flag)", 0},
	{"split(Tensor(a -> *) self, int size) -> Tensor(a)[]", PT_RESULT_TENSORS},
	{"unbind(Tensor self) -> Tensor[]", PT_RESULT_TENSORS},
	{"gelu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", 0},
	{"max.max(Tensor self, *, Tensor(a!) v, Tensor(b!) i) -> (Tensor(a!) v, Tensor(b!) i)", 0},
	{"item(Tensor self) -> Scalar", 0},
	{"is_same_size(Tensor self, Tensor other) -> bool", 0},
	{"_foreach_add_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()", 0},
};

Test(torch_schema, knows_where_the_result_is)
{
	for (size_t i = 0; i < ARRAY_SIZE(results); i++) {
		struct torch_schema s = parse(results[i].schema);
		struct torch_arg_plan p;

		torch_schema__plan(&s, NULL, false, &p);
		cr_expect_eq(p.result, results[i].result, "%s: got %u", results[i].schema,
			     p.result);
		if (p.result)
			cr_expect_eq(p.result_offset, results[i].offset, "%s: got %u",
				     results[i].schema, p.result_offset);
	}
}

Test(torch_schema, knows_the_optional_lists_of_c10)
{
	struct torch_schema s =
		parse("sum.IntList_out(Tensor self, int[1]? dim, bool keepdim=False, *, "
		      "ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)");
	struct torch_arg_plan p;
	char text[256];

	torch_schema__plan(&s, NULL, true, &p);
	plan_text(&p, text, sizeof(text));
	cr_expect_str_eq(text, "- 0:0 4:5"); /* pointer and length in rsi, rdx */
	torch_schema__plan(&s, NULL, false, &p);
	plan_text(&p, text, sizeof(text));
	cr_expect_str_eq(text, "- 0:0 4:3");
}

Test(torch_schema, splits_the_text)
{
	const char *text =
		"aten::to.dtype(Tensor(a) self, ScalarType dtype, str s=',)') -> (Tensor)";
	struct torch_schema s = parse("aten::add_.Tensor(Tensor(a!) self) -> Tensor(a!)");

	cr_expect(s.prefixed);
	cr_expect_eq(strncmp(s.name.p, "aten::add_", s.name.len), 0);
	cr_expect_eq(s.overload.len, 6);
	cr_expect_eq(s.args.len, strlen("Tensor(a!) self"));
	cr_expect_str_eq(s.returns.p, "Tensor(a!)");
	/* a parenthesis in a default's text ends the list early: not taken for a schema */
	cr_expect_eq(torch_schema__parse(text, strlen(text), &s), -EINVAL);
}

Test(torch_schema, refuses_what_is_no_schema)
{
	static const char *const bad[] = {
		"",
		"(",
		"a",
		"a(",
		"a() ->",
		"a() -> ",
		") -> x",
		"a(b -> c",
		"a::(x) -> y",
		"a b(c) -> d",
		"a.b.c(d) -> e",
		"a((((((() -> b",
		"::a() -> b",
	};
	struct torch_schema s;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		cr_expect_eq(torch_schema__parse(bad[i], strlen(bad[i]), &s), -EINVAL, "\"%s\"",
			     bad[i]);
}

/* Every prefix of a schema, as in a file that was cut off. */
Test(torch_schema, survives_truncation)
{
	const char *text =
		"aten::x.y(Tensor(a -> *)?[3] a=[], *, bool[3]? b, str? c='(') -> (Tensor)";

	for (size_t len = 0; len <= strlen(text); len++) {
		char *copy = strndup(text, len);
		struct torch_schema s;
		struct torch_arg_plan p;

		if (!torch_schema__parse(copy, len, &s))
			torch_schema__plan(&s, "", false, &p);
		free(copy);
	}
	cr_assert(true);
}

Test(torch_schema, tells_schemas_of_one_name_apart)
{
	struct torch_schema plain = parse("squeeze(Tensor(a) self) -> Tensor(a)");
	struct torch_schema dim = parse("aten::squeeze(Tensor self, int dim) -> Tensor");
	struct torch_schema list =
		parse("aten::index_put(Tensor self, Tensor[] i, Tensor v) -> Tensor");
	struct torch_schema opts = parse("index_put(Tensor self, Tensor?[] i, Tensor v) -> Tensor");
	const char *index_put = "RKNS_6TensorERKN3c104ListISt8optionalIS2_EEES4_";

	cr_expect(torch_schema__fits(&plain, "RKNS_6TensorE"));
	cr_expect_not(torch_schema__fits(&dim, "RKNS_6TensorE"));
	cr_expect(torch_schema__fits(&dim, "RKNS_6TensorEl"));
	cr_expect_not(torch_schema__fits(&dim, "RKNS_6TensorEb"));
	cr_expect_not(torch_schema__fits(&list, index_put));
	cr_expect(torch_schema__fits(&opts, index_put));
	cr_expect_not(torch_schema__fits(&plain, "RKNS_6Tens"));
	cr_expect_not(torch_schema__fits(&plain, ""));
}
