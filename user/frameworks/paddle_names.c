// SPDX-License-Identifier: BSD-2-Clause
#include "frameworks/paddle_names.h"
#include "common/util.h"
#include <ctype.h>
#include <string.h>

#define FORWARD_SUFFIX "_ad_func"
#define LEGACY_SUFFIX  "_dygraph_function"
#define PYTHON_PREFIX  "eager_api_"
/* the only node whose printed name differs from its class */
#define PROGRAM_NODE "GradNodeRunProgram"

struct part {
	const char *text;
	size_t len;
};

/* The last component of a mangled function's name ("conv2d_ad_func"), and its first namespace. */
static bool last_part(const char *symbol, struct part *part, struct part *space)
{
	bool nested;
	const char *p;

	*part = *space = (struct part){NULL, 0};
	if (strncmp(symbol, "_Z", 2) != 0)
		return false;
	nested = symbol[2] == 'N';
	for (p = symbol + 2 + nested; isdigit((unsigned char)*p);) {
		size_t len = 0;

		while (isdigit((unsigned char)*p) && len < 1000)
			len = 10 * len + (size_t)(*p++ - '0');
		if (!len || strnlen(p, len) < len)
			return false;
		if (part->text && !space->text)
			*space = *part;
		*part = (struct part){p, len};
		p += len;
		if (!nested)
			break;
	}
	return part->text != NULL;
}

/* Operators that only an optimizer's step calls: updates, and before them the clipping of
 * gradients. */
static bool is_optimizer(const char *op, size_t len)
{
	static const char *const ops[] = {
		"adadelta_",
		"adagrad_",
		"adam_",
		"adamax_",
		"adamw_",
		"asgd_",
		"clip_by_norm",
		"decayed_adagrad",
		"dgc_momentum",
		"dpsgd",
		"ftrl",
		"fused_adam_",
		"lamb_",
		"lars_momentum",
		"merged_adam_",
		"merged_momentum_",
		"momentum_",
		"nadam_",
		"radam_",
		"rmsprop_",
		"rprop_",
		"sgd_",
		"sparse_momentum",
		"squared_l2_norm",
	};

	for (size_t i = 0; i < ARRAY_SIZE(ops); i++)
		if (strlen(ops[i]) == len && !memcmp(ops[i], op, len))
			return true;
	return false;
}

bool paddle_names__is_optimizer(const char *op)
{
	return is_optimizer(op, strlen(op));
}

/* The part of a function's name before the suffix, and the first namespace. */
static bool part_before(const char *symbol, const char *suffix, struct part *part,
			struct part *space)
{
	const size_t len = strlen(suffix);

	if (!last_part(symbol, part, space) || part->len <= len ||
	    memcmp(part->text + part->len - len, suffix, len) != 0)
		return false;
	part->len -= len;
	return true;
}

bool paddle_names__forward(const char *symbol, char *out, size_t size)
{
	struct part part, space;
	bool sparse;

	if (!part_before(symbol, FORWARD_SUFFIX, &part, &space) ||
	    is_optimizer(part.text, part.len))
		return false;
	sparse = space.len == strlen("sparse") && !memcmp(space.text, "sparse", space.len);
	snprintf(out, size, "%s%.*s dygraph", sparse ? "sparse::" : "", (int)part.len, part.text);
	return true;
}

/* In-place functions have the same names as in programs: adam, not adam_. */
static bool legacy_operator(const char *symbol, bool optimizer, char *out, size_t size)
{
	struct part part, space;
	char op[128];

	if (!part_before(symbol, LEGACY_SUFFIX, &part, &space) || part.len + 2 > sizeof(op))
		return false;
	snprintf(op, sizeof(op), "%.*s_", (int)part.len, part.text);
	if (optimizer != (is_optimizer(op, part.len) || is_optimizer(op, part.len + 1)))
		return false;
	snprintf(out, size, "%.*s dygraph", (int)part.len, part.text);
	return true;
}

bool paddle_names__legacy(const char *symbol, char *out, size_t size)
{
	return legacy_operator(symbol, false, out, size);
}

bool paddle_names__legacy_optimizer(const char *symbol, char *out, size_t size)
{
	return legacy_operator(symbol, true, out, size);
}

bool paddle_names__node(const char *symbol, char *out, size_t size)
{
	struct part part, space;

	if (!last_part(symbol, &part, &space) || strncmp(part.text + part.len, "clE", 3) != 0 ||
	    !memmem(part.text, part.len, "GradNode", strlen("GradNode")))
		return false;
	if (part.len == strlen(PROGRAM_NODE) && !memcmp(part.text, PROGRAM_NODE, part.len))
		part = (struct part){"Dy2StGradNode", strlen("Dy2StGradNode")};
	snprintf(out, size, PADDLE_NODE_PREFIX "%.*s", (int)part.len, part.text);
	return true;
}

static bool python_operator(const char *symbol, struct part *op)
{
	const size_t prefix = strlen(PYTHON_PREFIX);
	struct part space;

	if (!last_part(symbol, op, &space) || op->len <= prefix ||
	    memcmp(op->text, PYTHON_PREFIX, prefix) != 0)
		return false;
	op->text += prefix;
	op->len -= prefix;
	return true;
}

bool paddle_names__python(const char *symbol, char *out, size_t size)
{
	struct part op;

	if (!python_operator(symbol, &op))
		return false;
	snprintf(out, size, "%.*s dygraph", (int)op.len, op.text);
	return true;
}

bool paddle_names__optimizer(const char *symbol, char *out, size_t size)
{
	struct part op;

	return python_operator(symbol, &op) && is_optimizer(op.text, op.len) &&
	       paddle_names__python(symbol, out, size);
}

bool paddle_names__gloo(const char *symbol, char *out, size_t size)
{
	static const char *const by_tensor[] = {"Reduce", "Scatter", "Gather", "Barrier"};
	static const char by_list[] = "ERSt6vector";
	struct part part, space;
	const char *arguments;

	if (!last_part(symbol, &part, &space))
		return false;
	arguments = part.text + part.len;
	for (size_t i = 0; i < ARRAY_SIZE(by_tensor); i++)
		if (part.len == strlen(by_tensor[i]) && !strncmp(part.text, by_tensor[i], part.len))
			arguments = by_list;
	if (strncmp(arguments, by_list, strlen(by_list)) != 0)
		return false;
	snprintf(out, size, "ProcessGroupGloo::%.*s", (int)part.len, part.text);
	return true;
}
