/* SPDX-License-Identifier: BSD-2-Clause */
/* The name and the category that MXNet's own profiler gives an event of ours. */
#ifndef PROFTRACE_MXNET_CATEGORY_H
#define PROFTRACE_MXNET_CATEGORY_H

#include "model/model.h"

struct mxnet_category {
	const char *category; /* category_len bytes of it; NULL: the same as in any framework */
	size_t category_len;
	const char *name;
};

/* An operator is what the engine executes. The call from Python only pushes it. */
struct mxnet_category mxnet_category__of_span(enum span_kind kind, const char *name);
/* For a counter or mark: its domain, or an event. */
struct mxnet_category mxnet_category__of_user(const char *name);

#endif
