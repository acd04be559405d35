// SPDX-License-Identifier: BSD-2-Clause
/* Properties of a span: its category, its kind, and whether it cost a probe. */
#include "model/model_internal.h"

enum span_category model__category(const struct model *m, const struct span *s)
{
	const struct name *n = s->ev.name ? recording__name(m->r, s->ev.name) : NULL;

	return n ? n->category : CAT_NONE;
}

enum span_kind kind__of_category(enum span_category cat)
{
	static const enum span_kind kinds[CAT_CNT] = {
		[CAT_NONE] = KIND_OTHER,
		[CAT_OPERATOR] = KIND_OPERATOR,
		[CAT_BACKWARD_NODE] = KIND_OPERATOR,
		[CAT_PYTHON_OP] = KIND_PYTHON_OP,
		[CAT_USER] = KIND_USER,
		[CAT_DATALOADER] = KIND_DATALOADER,
		[CAT_FORWARD] = KIND_FORWARD,
		[CAT_BACKWARD] = KIND_BACKWARD,
		[CAT_OPTIMIZER] = KIND_OPTIMIZATION,
		[CAT_ZERO_GRAD] = KIND_USER,
		[CAT_PROFILER_STEP] = KIND_USER,
		[CAT_COMMUNICATION] = KIND_COMMUNICATION,
		[CAT_RUNTIME] = KIND_RUNTIME,
		[CAT_DRIVER] = KIND_RUNTIME,
		[CAT_KERNEL] = KIND_KERNEL,
		[CAT_MEMCPY] = KIND_MEMCPY,
		[CAT_MEMSET] = KIND_MEMSET,
		[CAT_SYNC] = KIND_SYNC,
		[CAT_SCRIPT] = KIND_SCRIPT,
		[CAT_ALLOCATION] = KIND_OTHER,
		[CAT_OPTIMIZER_OP] = KIND_OPERATOR,
		[CAT_FUNCTION] = KIND_OPERATOR,
		[CAT_REGION] = KIND_SCRIPT,
		[CAT_PIPELINE] = KIND_PIPELINE,
		[CAT_QUEUE_EMPTY] = KIND_PIPELINE_WAIT,
		[CAT_QUEUE_FULL] = KIND_PIPELINE_WAIT,
		[CAT_EVALUATION] = KIND_SCRIPT,
		[CAT_OPTIMIZER_BEGIN] = KIND_OTHER,
		[CAT_EXECUTION] = KIND_EXECUTION,
		[CAT_STORAGE] = KIND_OTHER,
	};

	return cat < CAT_CNT ? kinds[cat] : KIND_OTHER;
}

bool model__is_probed(const struct model *m, const struct span *s)
{
	return !to_node((struct span *)s)->synthetic && !(s->ev.flags & EVENT_UNPROBED) &&
	       !(m->free_calls && s->kind == KIND_RUNTIME);
}

const char *span_kind__label(enum span_kind kind)
{
	static const char *const labels[KIND_CNT] = {
		[KIND_STEP] = "ProfileStep",
		[KIND_DATALOADER] = "Dataloader",
		[KIND_FORWARD] = "Forward",
		[KIND_BACKWARD] = "Backward",
		[KIND_OPTIMIZATION] = "Optimization",
		[KIND_OPERATOR] = "Operator",
		[KIND_OPERATOR_INNER] = "OperatorInner",
		[KIND_PYTHON_OP] = "PythonOp",
		[KIND_USER] = "UserDefined",
		[KIND_COMMUNICATION] = "Communication",
		[KIND_RUNTIME] = "Runtime",
		[KIND_KERNEL] = "Kernel",
		[KIND_MEMCPY] = "Memcpy",
		[KIND_MEMSET] = "Memset",
		[KIND_SYNC] = "Synchronization",
		[KIND_SCRIPT] = "Script",
		[KIND_OTHER] = "Other",
		[KIND_PIPELINE] = "DataPipeline",
		[KIND_PIPELINE_WAIT] = "DataPipelineWait",
		[KIND_EXECUTION] = "Execution",
	};

	return kind < KIND_CNT ? labels[kind] : "?";
}

bool span_kind__is_device_work(enum span_kind kind)
{
	return kind == KIND_KERNEL || kind == KIND_MEMCPY || kind == KIND_MEMSET;
}

bool span_kind__is_phase(enum span_kind kind)
{
	return kind == KIND_DATALOADER || kind == KIND_FORWARD || kind == KIND_BACKWARD ||
	       kind == KIND_OPTIMIZATION;
}
