// SPDX-License-Identifier: BSD-2-Clause
/* FLOPs of calls: computed by hand from the formulas, and calls whose FLOPs are not known. */
#include <criterion/criterion.h>
#include <string.h>
#include "analysis/flops.h"
#include "common/util.h"

/* The args of an event under construction. */
struct given {
	unsigned char bytes[1024];
	size_t len;
	bool values;
};

static void put(struct given *g, const void *data, size_t size)
{
	memcpy(g->bytes + g->len, data, size);
	g->len += size;
}

static void put_words(struct given *g, uint8_t cnt, const int64_t *words)
{
	if (cnt)
		put(g, words, cnt * sizeof(*words));
}

static void tensor(struct given *g, uint8_t arg, uint8_t ndim, const int64_t *dims)
{
	put(g, &(struct event_tensor){.arg = arg, .ndim = ndim}, sizeof(struct event_tensor));
	if (ndim != EVENT_TENSOR_UNDEFINED)
		put_words(g, ndim, dims);
}

static void value(struct given *g, uint8_t arg, uint8_t kind, uint8_t cnt, const int64_t *words)
{
	if (!g->values)
		put(g, &(struct event_tensor){.ndim = EVENT_TENSOR_VALUES},
		    sizeof(struct event_tensor));
	g->values = true;
	put(g, &(struct event_value){.arg = arg, .kind = kind, .cnt = cnt},
	    sizeof(struct event_value));
	put_words(g, cnt, words);
}

#define DIMS(...)                                                                                  \
	sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (const int64_t[])                      \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

static enum flops_state of(const char *op, const struct given *g, bool defaults, uint64_t *flops)
{
	const struct event e = {.type = EVENT_SPAN, .args = g->bytes, .args_len = (uint32_t)g->len};

	return flops__of(flops__formula(op), &e, defaults, flops);
}

static void expect(const char *op, const struct given *g, uint64_t want)
{
	uint64_t flops = 0;

	cr_expect_eq(of(op, g, false, &flops), FLOPS_KNOWN, "%s", op);
	cr_expect_eq(flops, want, "%s: %lu, not %lu", op, flops, want);
}

static void expect_unknown(const char *op, const struct given *g, bool defaults)
{
	uint64_t flops;

	cr_expect_eq(of(op, g, defaults, &flops), FLOPS_UNKNOWN, "%s", op);
}

Test(flops, products_of_matrices)
{
	struct given mm = {}, addmm = {}, bmm = {}, baddbmm = {};

	tensor(&mm, 0, DIMS(4, 5));
	tensor(&mm, 1, DIMS(5, 6));
	expect("aten::mm", &mm, 2ul * 4 * 5 * 6);
	tensor(&addmm, 0, DIMS(6));
	tensor(&addmm, 1, DIMS(4, 5));
	tensor(&addmm, 2, DIMS(5, 6));
	expect("aten::addmm", &addmm, 2ul * 4 * 5 * 6);
	tensor(&bmm, 0, DIMS(2, 4, 5));
	tensor(&bmm, 1, DIMS(2, 5, 6));
	expect("aten::bmm", &bmm, 2ul * 2 * 4 * 5 * 6);
	tensor(&baddbmm, 0, DIMS(2, 4, 6));
	tensor(&baddbmm, 1, DIMS(2, 4, 5));
	tensor(&baddbmm, 2, DIMS(2, 5, 6));
	expect("aten::baddbmm", &baddbmm, 2ul * 2 * 4 * 5 * 6);
	expect_unknown("aten::bmm", &mm, false);
	expect_unknown("aten::mm", &addmm, false);
	expect_unknown("aten::addmm", &mm, false);
}

Test(flops, add_and_mul_by_the_first_tensor)
{
	struct given a = {}, none = {}, number = {}, undefined = {}, many = {};

	tensor(&a, 0, DIMS(4, 5));
	expect("aten::mul", &a, 20);
	tensor(&none, 0, 0, NULL);
	expect("aten::add", &none, 1);
	value(&number, 0, EVENT_ARG_INT, DIMS(2));
	expect_unknown("aten::add", &number, false);
	tensor(&undefined, 0, EVENT_TENSOR_UNDEFINED, NULL);
	expect_unknown("aten::add", &undefined, false);
	/* there may be a ninth dimension */
	tensor(&many, 0, DIMS(1, 1, 1, 1, 1, 1, 1, 2));
	expect_unknown("aten::add", &many, false);
	cr_expect_eq(flops__formula("aten::add_"), FORMULA_NONE);
	cr_expect_eq(flops__formula(NULL), FORMULA_NONE);
}

static struct given image(int64_t channels)
{
	struct given g = {};

	tensor(&g, 0, DIMS(4, 6, 32, 20));
	tensor(&g, 1, DIMS(8, channels, 3, 5));
	return g;
}

Test(flops, conv2d_as_cpp_calls_it)
{
	struct given g = image(3);

	tensor(&g, 2, DIMS(8));
	value(&g, 3, EVENT_ARG_INTS, DIMS(2, 1));
	value(&g, 4, EVENT_ARG_INTS, DIMS(1, 0));
	value(&g, 5, EVENT_ARG_INTS, DIMS(1, 2));
	expect_unknown("aten::conv2d", &g, false);
	value(&g, 6, EVENT_ARG_INT, DIMS(2));
	/* (32 + 2 - 2 - 1) / 2 + 1 = 16 places high, (20 - 8 - 1) / 1 + 1 = 12 wide */
	expect("aten::conv2d", &g, 2ul * 4 * 16 * 12 * 3 * 5 * 6 * 8 / 2);
}

Test(flops, conv2d_as_python_calls_it)
{
	struct given g = image(6), keywords = image(6), text = image(6);
	uint64_t flops;

	expect_unknown("aten::conv2d", &g, false);
	cr_expect_eq(of("aten::conv2d", &g, true, &flops), FLOPS_KNOWN);
	cr_expect_eq(flops, 2ul * 4 * 30 * 16 * 3 * 5 * 6 * 8);
	value(&g, 2, EVENT_ARG_OTHER, 0, NULL);
	value(&g, 3, EVENT_ARG_INT, DIMS(2));
	cr_expect_eq(of("aten::conv2d", &g, true, &flops), FLOPS_KNOWN);
	cr_expect_eq(flops, 2ul * 4 * 15 * 8 * 3 * 5 * 6 * 8);
	value(&keywords, 0, EVENT_ARG_KEYWORDS, 0, NULL);
	expect_unknown("aten::conv2d", &keywords, true);
	value(&text, 3, EVENT_ARG_INT, DIMS(1));
	value(&text, 4, EVENT_ARG_OTHER, 0, NULL);
	expect_unknown("aten::conv2d", &text, true);
}

Test(flops, conv2d_of_what_cannot_be)
{
	static const struct {
		int64_t stride, padding, dilation, groups;
	} bad[] = {{0, 0, 1, 1},   {-1, 0, 1, 1},	 {1, -1, 1, 1},
		   {1, 0, 0, 1},   {1, 0, INT64_MAX, 1}, {1, INT64_MAX, 1, 1},
		   {1, 0, 100, 1}, {1, 0, 1, 0},	 {1, 0, 1, -1}};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct given g = image(6);

		value(&g, 3, EVENT_ARG_INT, DIMS(bad[i].stride));
		value(&g, 4, EVENT_ARG_INT, DIMS(bad[i].padding));
		value(&g, 5, EVENT_ARG_INT, DIMS(bad[i].dilation));
		value(&g, 6, EVENT_ARG_INT, DIMS(bad[i].groups));
		expect_unknown("aten::conv2d", &g, true);
	}
}

Test(flops, sizes_are_not_trusted)
{
	struct given huge = {}, negative = {}, cut = {};

	tensor(&huge, 0, DIMS(INT64_MAX, 3, 2));
	expect_unknown("aten::mul", &huge, false);
	tensor(&negative, 0, DIMS(-1, 3));
	expect_unknown("aten::mul", &negative, false);
	tensor(&cut, 0, DIMS(4, 5));
	cut.len -= 8;
	expect_unknown("aten::mul", &cut, false);
	cut.len = 0;
	expect_unknown("aten::mul", &cut, true);
}
