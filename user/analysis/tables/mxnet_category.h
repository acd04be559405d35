/* SPDX-License-Identifier: BSD-2-Clause */
/* What MXNet's own profiler calls an event of ours, and in which of its categories it has it. */
#ifndef PROFTRACE_MXNET_CATEGORY_H
#define PROFTRACE_MXNET_CATEGORY_H

#include "model/model.h"

struct mxnet_category {
	const char *category; /* category_len bytes of it; NULL: as in any framework */
	size_t category_len;
	const char *name;
};

/* An operator is what the engine executes; a call from Python only pushes it. */
struct mxnet_category mxnet_category__of_span(enum span_kind kind, const char *name);
/* A counter or mark: of its domain, or an event. */
struct mxnet_category mxnet_category__of_user(const char *name);

#endif
