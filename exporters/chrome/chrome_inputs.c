// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>
#include "exporters/chrome/chrome_args.h"
#include "exporters/parts/concrete.h"
#include "recording/event_args.h"

#define ROWS_MAX 64 /* arguments and tensors described per event */

struct inputs {
	const struct chrome_names *names;
	const struct chrome_name *name;
	struct event_arg rows[ROWS_MAX];
	size_t cnt, arg_cnt;
};

/* A tensor whose type has no name is undefined. Kineto prints no dimensions for it, although its
 * storage has one dimension of 0. */
static bool is_undefined(const struct chrome_names *names, const struct event_arg *row)
{
	const struct event_tensor *t = &row->tensor;

	return t->ndim == EVENT_TENSOR_UNDEFINED ||
	       (t->dtype < names->dtype_cnt && !strcmp(names->dtypes[t->dtype], "\"\""));
}

static bool is_tensor(const struct event_arg *row)
{
	return row->kind == EVENT_ARG_TENSOR;
}

/* Does the argument also exist in a shorter signature? */
static bool counts(const struct inputs *in, const struct event_arg *row)
{
	if (row->kind == EVENT_ARG_KEYWORDS || row->arg >= ROWS_MAX)
		return false;
	return !in->name->params || (is_tensor(row) && row->tensor.ndim != EVENT_TENSOR_UNDEFINED);
}

static void inputs__parse(struct inputs *in, const struct event *e)
{
	struct event_args_reader r = event_args__read(e);

	in->cnt = 0;
	in->arg_cnt = in->name->param_cnt;
	while (in->cnt < ROWS_MAX && event_args__next(&r, &in->rows[in->cnt])) {
		struct event_arg *row = &in->rows[in->cnt++];

		if (is_tensor(row) && is_undefined(in->names, row)) {
			row->cnt = 0;
			row->tensor.ndim = EVENT_TENSOR_UNDEFINED;
		}
		if (row->arg >= in->arg_cnt && counts(in, row))
			in->arg_cnt = row->arg + 1u;
	}
}

static char *put_dims(char *p, const struct event_arg *row)
{
	*p++ = '[';
	for (unsigned int i = 0; i < row->cnt; i++) {
		if (i)
			*p++ = ',';
		p = text__i64(p, event_arg__word(row, i));
	}
	*p++ = ']';
	return p;
}

/* Overloads share a name, and so the schema of the first overload. So a call may have more
 * arguments. */
static enum chrome_param param_at(const struct chrome_name *n, size_t arg)
{
	return n->params && arg < n->param_cnt ? (enum chrome_param)n->params[arg] : PARAM_TENSOR;
}

/* The tensors of an argument. A list of tensors is a list of lists, as in Kineto. */
static char *put_arg_dims(char *p, const struct inputs *in, size_t arg)
{
	const bool list = param_at(in->name, arg) == PARAM_TENSOR_LIST;
	bool any = false;

	if (list)
		*p++ = '[';
	for (size_t i = 0; i < in->cnt; i++) {
		if (in->rows[i].arg != arg || !is_tensor(&in->rows[i]) || (any && !list))
			continue;
		if (any)
			*p++ = ',';
		p = put_dims(p, &in->rows[i]);
		any = true;
	}
	if (list)
		*p++ = ']';
	return any || list ? p : TEXT_LIT(p, "[]");
}

/* The row of a described argument that is no tensor. NULL: it has none. */
static const struct event_arg *value_of(const struct inputs *in, size_t arg)
{
	for (size_t i = 0; i < in->cnt; i++)
		if (in->rows[i].arg == arg && in->rows[i].kind >= EVENT_ARG_INT &&
		    in->rows[i].kind <= EVENT_ARG_FLOATS)
			return &in->rows[i];
	return NULL;
}

static const char *dtype_of(const struct inputs *in, size_t arg)
{
	for (size_t i = 0; i < in->cnt; i++) {
		const struct event_arg *row = &in->rows[i];

		if (row->arg == arg && is_tensor(row) &&
		    row->tensor.ndim != EVENT_TENSOR_UNDEFINED &&
		    row->tensor.dtype < in->names->dtype_cnt)
			return in->names->dtypes[row->tensor.dtype];
	}
	return NULL;
}

static char *put_arg_type(char *p, const struct inputs *in, size_t arg)
{
	const enum chrome_param param = param_at(in->name, arg);
	const struct event_arg *value = value_of(in, arg);
	const char *dtype = NULL;

	if (param == PARAM_TENSOR_LIST)
		return TEXT_LIT(p, "\"TensorList\"");
	/* a number may be a tensor if the call is of another overload */
	if (param == PARAM_TENSOR || param == PARAM_SCALAR)
		dtype = dtype_of(in, arg);
	if (dtype)
		return put_bounded(p, dtype);
	if (param == PARAM_SCALAR_LIST || (value && concrete__is_list(value)))
		return TEXT_LIT(p, "\"ScalarList\"");
	return param == PARAM_SCALAR || value ? TEXT_LIT(p, "\"Scalar\"") : TEXT_LIT(p, "\"\"");
}

static char *put_arg_value(char *p, const struct inputs *in, size_t arg)
{
	const struct event_arg *value = value_of(in, arg);
	char text[CONCRETE_TEXT_MAX];

	*p++ = '"';
	if (value)
		p = text__str(p, text, concrete__text(value, text));
	*p++ = '"';
	return p;
}

static char *put_list(char *p, const struct inputs *in,
		      char *(*put)(char *p, const struct inputs *in, size_t arg))
{
	for (size_t arg = 0; arg < in->arg_cnt; arg++) {
		if (arg)
			*p++ = ',';
		p = put(p, in, arg);
	}
	return TEXT_LIT(p, "],");
}

char *chrome_inputs__put(char *p, const struct chrome_names *names, const struct chrome_name *n,
			 const struct event *e)
{
	struct inputs in = {.names = names, .name = n};

	inputs__parse(&in, e);
	p = put_list(TEXT_LIT(p, "\"Input Dims\":["), &in, put_arg_dims);
	p = put_list(TEXT_LIT(p, "\"Input type\":["), &in, put_arg_type);
	if (names->values)
		p = put_list(TEXT_LIT(p, "\"Concrete Inputs\":["), &in, put_arg_value);
	return p;
}
