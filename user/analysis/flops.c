// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/flops.h"
#include <string.h>
#include "common/util.h"
#include "recording/event_args.h"

#define ARGS_MAX 7 /* arguments of conv2d */
#define DIMS_MAX 8 /* dimensions that are recorded; a tensor may have more */

struct call {
	struct event_arg args[ARGS_MAX];
	bool given[ARGS_MAX];
	bool defaults;
	unsigned int behind; /* index of the last recorded argument */
};

enum flops_formula flops__formula(const char *op)
{
	static const struct {
		const char *op;
		enum flops_formula formula;
	} rows[] = {
		{"aten::conv2d", FORMULA_CONV2D},   {"aten::mm", FORMULA_MM},
		{"aten::addmm", FORMULA_ADDMM},	    {"aten::bmm", FORMULA_BMM},
		{"aten::baddbmm", FORMULA_BADDBMM}, {"aten::add", FORMULA_ELEMENTWISE},
		{"aten::mul", FORMULA_ELEMENTWISE},
	};

	for (size_t i = 0; op && i < ARRAY_SIZE(rows); i++)
		if (!strcmp(op, rows[i].op))
			return rows[i].formula;
	return FORMULA_NONE;
}

static void read_call(const struct event *e, bool defaults, struct call *c)
{
	struct event_args_reader r = event_args__read(e);
	struct event_arg arg;

	*c = (struct call){.defaults = defaults && e->args_len};
	while (event_args__next(&r, &arg)) {
		if (arg.kind == EVENT_ARG_KEYWORDS) {
			c->defaults = false;
			continue;
		}
		if (arg.arg >= c->behind)
			c->behind = arg.arg + 1u;
		if (arg.arg >= ARGS_MAX || c->given[arg.arg] ||
		    (arg.kind == EVENT_ARG_TENSOR && arg.tensor.arg & EVENT_TENSOR_LISTED))
			continue;
		c->args[arg.arg] = arg;
		c->given[arg.arg] = true;
	}
}

/* The tensor of an argument. NULL: it is no tensor, or has more dimensions than are recorded. */
static const struct event_arg *tensor(const struct call *c, unsigned int arg)
{
	const struct event_arg *a = &c->args[arg];

	if (!c->given[arg] || a->kind != EVENT_ARG_TENSOR || a->cnt >= DIMS_MAX ||
	    a->tensor.ndim == EVENT_TENSOR_UNDEFINED)
		return NULL;
	for (unsigned int i = 0; i < a->cnt; i++)
		if (event_arg__word(a, i) < 0)
			return NULL;
	return a;
}

/* *product times the sizes of a tensor's dimensions [from, to); false: too large. */
static bool multiply(const struct event_arg *t, unsigned int from, unsigned int to,
		     uint64_t *product)
{
	for (unsigned int i = from; i < to; i++)
		if (__builtin_mul_overflow(*product, (uint64_t)event_arg__word(t, i), product))
			return false;
	return true;
}

static enum flops_state elementwise(const struct call *c, uint64_t *flops)
{
	const struct event_arg *t = tensor(c, 0);

	*flops = 1;
	return t && multiply(t, 0, t->cnt, flops) ? FLOPS_KNOWN : FLOPS_UNKNOWN;
}

/* Product of the matrices, or batches of matrices, in arguments left and left + 1. */
static enum flops_state product(const struct call *c, unsigned int left, unsigned int dims,
				uint64_t *flops)
{
	const struct event_arg *l = tensor(c, left), *r = tensor(c, left + 1);

	*flops = 2;
	if (!l || !r || l->cnt != dims || r->cnt != dims || (left && !tensor(c, 0)))
		return FLOPS_UNKNOWN;
	return multiply(l, 0, dims - 1, flops) && multiply(r, dims - 1, dims, flops) &&
			       multiply(r, dims - 2, dims - 1, flops)
		       ? FLOPS_KNOWN
		       : FLOPS_UNKNOWN;
}

/* A pair argument: a list of two, or, from Python, one number for both. */
static bool pair(const struct call *c, unsigned int arg, int64_t otherwise, int64_t out[2])
{
	const struct event_arg *a = &c->args[arg];

	out[0] = out[1] = otherwise;
	if (!c->given[arg])
		return c->defaults && arg >= c->behind;
	if (a->kind == EVENT_ARG_INTS && a->cnt == 2) {
		out[0] = event_arg__word(a, 0);
		out[1] = event_arg__word(a, 1);
		return true;
	}
	if (a->kind != EVENT_ARG_INT || a->cnt != 1)
		return false;
	out[0] = out[1] = event_arg__word(a, 0);
	return true;
}

#define SIZE_LIMIT (INT64_C(1) << 40) /* largest size of a dimension of a convolution */

struct conv2d {
	const struct event_arg *input, *weight;
	int64_t stride[2], padding[2], dilation[2], groups[2];
};

static bool read_conv2d(const struct call *c, struct conv2d *conv)
{
	conv->input = tensor(c, 0);
	conv->weight = tensor(c, 1);
	return conv->input && conv->weight && conv->input->cnt == 4 && conv->weight->cnt == 4 &&
	       pair(c, 3, 1, conv->stride) && pair(c, 4, 0, conv->padding) &&
	       pair(c, 5, 1, conv->dilation) && pair(c, 6, 1, conv->groups) &&
	       conv->groups[0] == conv->groups[1] && conv->groups[0] > 0;
}

/* The number of the kernel's positions along one side. 0: unknown. */
static uint64_t places(const struct conv2d *conv, unsigned int side)
{
	const int64_t size = event_arg__word(conv->input, 2 + side),
		      kernel = event_arg__word(conv->weight, 2 + side), stride = conv->stride[side],
		      padding = conv->padding[side], dilation = conv->dilation[side];
	int64_t room;

	if (stride <= 0 || padding < 0 || dilation <= 0 || kernel <= 0 || size > SIZE_LIMIT ||
	    padding > SIZE_LIMIT || dilation > SIZE_LIMIT / kernel)
		return 0;
	room = size + 2 * padding - dilation * (kernel - 1) - 1;
	return room < 0 ? 0 : (uint64_t)(room / stride) + 1;
}

static enum flops_state conv2d(const struct call *c, uint64_t *flops)
{
	struct conv2d conv;
	uint64_t high, wide;

	if (!read_conv2d(c, &conv))
		return FLOPS_UNKNOWN;
	high = places(&conv, 0);
	wide = places(&conv, 1);
	*flops = 2;
	if (!high || !wide || __builtin_mul_overflow(high, wide, &high) ||
	    __builtin_mul_overflow(*flops, high, flops) || !multiply(conv.input, 0, 2, flops) ||
	    !multiply(conv.weight, 0, 1, flops) || !multiply(conv.weight, 2, 4, flops))
		return FLOPS_UNKNOWN;
	*flops /= (uint64_t)conv.groups[0];
	return FLOPS_KNOWN;
}

enum flops_state flops__of(enum flops_formula formula, const struct event *call, bool defaults,
			   uint64_t *flops)
{
	struct call c;

	*flops = 0;
	if (formula == FORMULA_NONE)
		return FLOPS_NONE;
	read_call(call, defaults, &c);
	switch (formula) {
	case FORMULA_CONV2D:
		return conv2d(&c, flops);
	case FORMULA_MM:
		return product(&c, 0, 2, flops);
	case FORMULA_ADDMM:
		return product(&c, 1, 2, flops);
	case FORMULA_BMM:
		return product(&c, 0, 3, flops);
	case FORMULA_BADDBMM:
		return product(&c, 1, 3, flops);
	default:
		return elementwise(&c, flops);
	}
}
