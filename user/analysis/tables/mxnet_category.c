// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/tables/mxnet_category.h"
#include <ctype.h>
#include <string.h>

static struct mxnet_category in(const char *category, const char *name)
{
	return (struct mxnet_category){category, category ? strlen(category) : 0, name};
}

struct mxnet_category mxnet_category__of_user(const char *name)
{
	const char *colons = strstr(name, "::");

	if (!colons || colons == name)
		return in("event", name);
	return (struct mxnet_category){name, (size_t)(colons - name), colons + 2};
}

/* Is it a function of the C API, such as MXNDArrayWaitAll? */
static bool is_api(const char *name)
{
	return name[0] == 'M' && name[1] == 'X' && isupper((unsigned char)name[2]);
}

struct mxnet_category mxnet_category__of_span(enum span_kind kind, const char *name)
{
	static const char engine[] = "engine: ";

	if (kind == KIND_USER)
		return mxnet_category__of_user(name);
	if (!strncmp(name, engine, sizeof(engine) - 1))
		return in("operator", name + sizeof(engine) - 1);
	if (is_api(name))
		return in("MXNET_C_API", name);
	return in(kind == KIND_OPERATOR || kind == KIND_OPERATOR_INNER ? "push" : NULL, name);
}
