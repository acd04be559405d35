// SPDX-License-Identifier: BSD-2-Clause
/*
 * MindSpore: the functions that show its steps, phases, operators and memory, by symbol. Measured
 * on 2.10.0 and 2.7.0 for CPUs. Its functions let C++ exceptions pass, so none gets a return probe.
 * The end of a phase's function is its stack check, which each normal return passes.
 */
#include "frameworks/mindspore_names.h"
#include "frameworks/package.h"
#include "frameworks/probe_table.h"
#include "attach/site.h"
#include "common/cycles.h"
#include "common/util.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

extern const struct framework framework_mindspore;

enum mindspore_lib {
	LIB_CPU,
	LIB_BACKEND,
	LIB_PYNATIVE,
	LIB_DATASET,
	LIB_FRONTEND,
	LIB_PROFILER,
	LIB_PYBOOST,
	LIB_MEMORY,
	LIB_CORE,
	LIB_CXX,
	LIB_KERNELS,
	LIB_CNT
};

static const char *const libs[] = {
	[LIB_CPU] = "libmindspore_cpu.so",	     [LIB_BACKEND] = "libmindspore_ms_backend.so",
	[LIB_PYNATIVE] = "libmindspore_pynative.so", [LIB_DATASET] = "_c_dataengine*.so",
	[LIB_FRONTEND] = "libmindspore_frontend.so", [LIB_PROFILER] = "libmindspore_profiler.so",
	[LIB_PYBOOST] = "libmindspore_pyboost.so",   [LIB_MEMORY] = "libmindspore_memory_pool.so",
	[LIB_CORE] = "libmindspore_core.so",	     [LIB_CXX] = "libstdc++.so*",
	[LIB_KERNELS] = "libmindspore_ops_cpu.so",
};

/* In 2.7 the library with the host's operators contains the kernels for CPUs. */
static const char *const other_libs[LIB_CNT] = {[LIB_CPU] = "libmindspore_ops_host.so"};

/* offset of the name in a Primitive, as PyBoostUtils::LaunchKernel reads it */
#define PRIMITIVE_NAME 48

/* The name for _ZN9mindspore8pynative12PyboostDivOpE... is PyboostDiv. */
static bool pyboost_name(const char *symbol, char *out, size_t size)
{
	const char *name = symbol + strlen("_ZN9mindspore8pynative");
	unsigned long len = strtoul(name, (char **)&name, 10);

	if (strncmp(name, "Pyboost", strlen("Pyboost")) != 0 || len <= strlen("PyboostOp") ||
	    strncmp(name + len - strlen("Op"), "OpE", strlen("OpE")) != 0)
		return false;
	snprintf(out, size, "%.*s", (int)(len - strlen("Op")), name);
	return true;
}

#define QUEUE_OF_ROWS "_ZN9mindspore7dataset5QueueINS0_9TensorRowEE"

/* An operation of the data pipeline puts a row into its queue, or into that of a worker. */
#define QUEUE_PUT(function)                                                                        \
	{                                                                                          \
		.lib = LIB_DATASET,                                                                \
		.symbol = (function),                                                              \
		.details = AT_INNER,                                                               \
		.group = GROUP_INNER,                                                              \
		.category = CAT_QUEUE_FULL,                                                        \
		.program = "queue_put",                                                            \
		.site_program = "call_site",                                                       \
		.name = "queue full",                                                              \
		.cfg = {.key_reg = 1},                                                             \
	}

static const struct probe_row rows[] = {
	{
		.lib = LIB_DATASET,
		.symbol = "_ZN9mindspore7dataset16IteratorConsumer15GetNextAsVectorE",
		.details = AT_ALL,
		.group = GROUP_STEP,
		.category = CAT_DATALOADER,
		.program = "phase_entry",
		.site_program = "batch_site",
		.name = "IteratorConsumer::GetNextAsVector",
		.cfg = {.code = PT_CLASS_DATALOADER, .key_reg = 2, .flags = PT_BATCH_IN_VECTOR},
		.loses = "Dataloader",
	},
	{
		.lib = LIB_DATASET,
		.symbol = "_ZN9mindspore7dataset16IteratorConsumer12GetNextAsMapE",
		.details = AT_ALL,
		.group = GROUP_STEP,
		.category = CAT_DATALOADER,
		.program = "phase_entry",
		.site_program = "batch_site",
		.name = "IteratorConsumer::GetNextAsMap",
		.cfg = {.code = PT_CLASS_DATALOADER, .key_reg = 2, .flags = PT_BATCH_IN_MAP},
		.loses = "Dataloader",
	},
	{
		.lib = LIB_PYNATIVE,
		.symbol = "_ZNK9mindspore8pynative16PyNativeExecutor7RunGradE",
		.details = AT_ALL,
		.group = GROUP_STEP,
		.category = CAT_BACKWARD,
		.program = "phase_entry",
		.site_program = "call_site",
		.name = "PyNativeExecutor::RunGrad",
		.cfg = {.code = PT_CLASS_BACKWARD},
		.loses = "Backward of PyNative mode, and with it Forward",
	},
	/* Early in each call of a compiled function. The Python of an optimizer comes after it. */
	{
		.lib = LIB_FRONTEND,
		.symbol = "_ZN9mindspore8pipeline12InitPipelineEv",
		.details = AT_ALL,
		.group = GROUP_STEP,
		.category = CAT_NONE,
		.program = "phase_ahead",
		.loses = "what an optimizer does in Python before its graph runs, in Optimization",
	},
	/* Python calls a compiled graph: all of a step but its batch, or a function decorated with
	 * jit, such as an optimizer. (result, this, arguments, phase) */
	{
		.lib = LIB_FRONTEND,
		.symbol = "_ZN9mindspore8pipeline10ExecutorPy3RunERK",
		.details = AT_ALL,
		.group = GROUP_STEP,
		.category = CAT_SCRIPT,
		.program = "named_phase_entry",
		.site_program = "call_site",
		.cfg = {.code = PT_CLASS_GRAPH,
			.name_reg = 3,
			.name_source = PT_NAME_PYTHON,
			.name_derefs = 1},
		.loses = "runs of compiled graphs, with them Optimization",
	},
	/* The execution of the same graph: in PyNative mode it is on another thread. */
	{
		.lib = LIB_BACKEND,
		.symbol = "_ZN9mindspore7runtime14GraphScheduler3RunEP",
		.details = AT_SPANS,
		.group = GROUP_OPERATOR,
		.category = CAT_SCRIPT,
		.program = "call_entry",
		.site_program = "call_site",
		.name = "GraphScheduler::Run",
	},
	/* A function that catches the error of a launch: the launch has ended, and all that the
	 * error passed. */
	{
		.lib = LIB_CXX,
		.symbol = "__cxa_begin_catch",
		.details = AT_SPANS,
		.group = GROUP_OPERATOR,
		.category = CAT_NONE,
		.program = "call_unwound",
		.slide = true,
		.loses = "where a launch that raises ends: it lasts until the thread's next event",
	},
	/* Each kernel of each mode, except those that PyBoostUtils::LaunchKernel launches, if that
	 * has a probe. It ends in a tail call, so its end is where its callers continue. */
	{
		.lib = LIB_CPU,
		.symbol = "_ZN9mindspore6kernel18NativeCpuKernelMod6LaunchE*_Pv",
		.details = AT_SPANS,
		.group = GROUP_OPERATOR,
		.category = CAT_OPERATOR,
		.program = "named_entry",
		.return_site_program = "call_return_site",
		.cfg = {.name_source = PT_NAME_COW,
			.name_path = {8},
			.flags = PT_NAMED_IN_FULL | PT_NAMED_OUTERMOST},
		.slide = true,
		.slide_keep = SITE_RDI | SITE_KEPT,
		.pointer_hook = POINTER_HOOK_RETURNING, /* a virtual function with five words of
							   arguments */
		.pointers_lib = LIB_KERNELS,
		.loses = "operators",
	},
	/* RecordFunction */
	{
		.lib = LIB_PROFILER,
		.symbol = "_ZN9mindspore7runtime22PythonProfilerRecorder12record_startE",
		.details = AT_ALL,
		.group = GROUP_STEP,
		.category = CAT_USER,
		.program = "range_start",
		.cfg = {.name_source = PT_NAME_COW, .name_path = {8}},
	},
	{
		.lib = LIB_PROFILER,
		.symbol = "_ZN9mindspore7runtime22PythonProfilerRecorder10record_endE",
		.details = AT_ALL,
		.group = GROUP_STEP,
		.category = CAT_USER,
		.program = "range_stop",
	},
	/* Functions that Python calls in PyNative mode, and launches of them on another thread. */
	{
		.lib = LIB_PYNATIVE,
		.symbol = "_ZN9mindspore8pynative*OpERKSt10shared_ptrINS_9PrimitiveEE*",
		.details = AT_INNER,
		.group = GROUP_INNER,
		.category = CAT_OPERATOR,
		.program = "call_entry",
		.site_program = "call_site",
		.name_of = pyboost_name,
	},
	{
		.lib = LIB_PYBOOST,
		.symbol = "_ZN9mindspore6kernel7pyboost12PyBoostUtils12LaunchKernelE",
		.details = AT_INNER,
		.group = GROUP_INNER,
		.category = CAT_OPERATOR,
		.program = "named_entry",
		.site_program = "call_site",
		.cfg = {.name_source = PT_NAME_COW,
			.name_path = {0, PRIMITIVE_NAME},
			.name_derefs = 1},
	},
	/* The data pipeline: (result, operation, row). The next operation, or the iterator, asks
	 * for a row. */
	{
		.lib = LIB_DATASET,
		.symbol = "_ZN9mindspore7dataset9DatasetOp10GetNextRowEPNS0_9TensorRowE",
		.details = AT_INNER,
		.group = GROUP_INNER,
		.category = CAT_QUEUE_EMPTY,
		.program = "queue_take",
		.site_program = "call_site",
		.name = "queue empty",
		.cfg = {.key_reg = 1},
		.loses = "queues of the data pipeline",
	},
	QUEUE_PUT(QUEUE_OF_ROWS "3AddEOS2_"),
	QUEUE_PUT(QUEUE_OF_ROWS "11EmplaceBackI"),
	/* Called at the end of each stage, with or without a profiler: (module, operation, stage,
	 * begin, end, ...) */
	{
		.lib = LIB_PROFILER,
		.symbol = "_ZN9mindspore8profiler15CollectHostInfoERKSsS2_S2_RKmS4_",
		.details = AT_INNER,
		.group = GROUP_INNER,
		.category = CAT_PIPELINE,
		.program = "stage_end",
		.cfg = {.domain = 2, .name_reg = 2, .name_source = PT_NAME_COW},
		.loses = "what operations of the data pipeline do themselves",
	},
	/* The memory pool. Other callers reach it through thunks, which lead here. */
	{
		.lib = LIB_MEMORY,
		.symbol = "_ZN9mindspore6device21DynamicMemPoolBestFit14AllocTensorMemEmbbj",
		.other_symbol = "_ZN9mindspore6device22AbstractDynamicMemPool14AllocTensorMemEmbbj",
		.details = AT_ALL,
		.group = GROUP_MEMORY,
		.category = CAT_ALLOCATION,
		.program = "memory_ask",
		.return_site_program = "memory_return_site",
		.memory = true,
		.loses = "allocations",
	},
	{
		.lib = LIB_MEMORY,
		.symbol = "_ZN9mindspore6device21DynamicMemPoolBestFit18FreeTensorMemInnerERKPv",
		.other_symbol = "_ZN9mindspore6device22AbstractDynamicMemPool13FreeTensorMemERKPv",
		.details = AT_ALL,
		.group = GROUP_MEMORY,
		.category = CAT_ALLOCATION,
		.program = "memory_delete",
		.cfg = {.flags = 1},
		.memory = true,
		.loses = "frees",
	},
};

static const struct probe_table table = {libs, other_libs, LIB_CNT, rows, ARRAY_SIZE(rows)};

/* The name of a graph's phase begins with the place of its definition (for grad() and
 * value_and_grad() in after_grad), or with Model's purpose. */
static const struct pt_name_rule name_rules[] = {
	{"mindspore.ops.composite.base.af", 31, PT_CLASS_GRADIENTS},
	{"eval.", 5, PT_CLASS_EVALUATION},
	{"mindspore.nn.optim.", 19, PT_CLASS_OPTIMIZER},
};

/* ---- operators by name ---- */

/* Compares the begin of the name with prefixes, and the whole with names. NULL ends each list. */
static bool is_one_of(const char *op, const char *const *prefixes, const char *const *names)
{
	for (; *prefixes; prefixes++)
		if (!strncmp(op, *prefixes, strlen(*prefixes)))
			return true;
	for (; *names; names++)
		if (!strcmp(op, *names))
			return true;
	return false;
}

/* Operators of mindspore.nn.optim and mindspore.ops that update a parameter in place. */
static bool updates_parameters(const char *op)
{
	static const char *const prefixes[] = {"Apply",
					       "SparseApply",
					       "FusedSparse",
					       "FusedCastAdam",
					       "FusedWeightScaleApply",
					       "FusedScaleApply",
					       NULL};
	static const char *const names[] = {
		"Adam",		"AdamWeightDecay", "AdamNoUpdateParam", "SGD", "Lamb",
		"AdamApplyOne", "ApplyMomentum",   "LARSUpdate",	NULL};

	return is_one_of(op, prefixes, names);
}

static bool computes_gradients(const char *op)
{
	return strstr(op, "Grad") || strstr(op, "Backprop");
}

/* Operators of mindspore.ops and mindspore.ops.communication, by the names of their kernels. */
static bool communicates(const char *op)
{
	static const char *const prefixes[] = {"InnerComm", "DistComm",	     "AllGather",
					       "AlltoAll",  "ReduceScatter", NULL};
	static const char *const names[] = {"AllReduce",
					    "Broadcast",
					    "Reduce",
					    "Send",
					    "Receive",
					    "CollectiveScatter",
					    "CollectiveGather",
					    "Barrier",
					    "NeighborExchange",
					    "NeighborExchangeV2",
					    "MuxSend",
					    "MuxReceive",
					    NULL};

	return is_one_of(op, prefixes, names);
}

/* A cell that trains a network in one step calls its optimizer by this name. An optimizer that is a
 * function has no such name. */
static const struct framework_scope scopes[] = {
	{"Gradients/", "backward"},
	{"Default/optimizer-", "optimization"},
	{"Default/", "forward"},
	{},
};

/* Shortens names such as "mindspore.nn.optim.adam.construct./.../adam.py.98..." or
 * "train.1795306678623995392.1401...". After a graph's name come the file and line, the time and an
 * address. */
static void shorten(char *name)
{
	for (char *at = strchr(name, '.'); at; at = strchr(at + 1, '.')) {
		if (at[1] != '/' && !isdigit((unsigned char)at[1]))
			continue;
		*at = '\0';
		return;
	}
}

/* ---- the data pipeline ---- */

/* Offsets as read by DatasetOp::ConnectorSize(), ConnectorCapacity() and NameWithID() of 2.7.0 and
 * 2.10.0. */
static const struct pt_pipeline pipeline = {.operation_queue = 0x80,
					    .operation_id = 0x5c,
					    .queue_capacity = 8,
					    .queue_head = 0x68,
					    .queue_tail = 0x70};

/* N9mindspore7dataset5MapOpE is MapOp, as the Name() of the class returns. */
static char *operation_type(const char *type_info, const char *type_obj)
{
	static const char scope[] = "N9mindspore7dataset";
	unsigned long len;
	char *name;

	(void)type_obj;
	if (!type_info || strncmp(type_info, scope, strlen(scope)) != 0)
		return NULL;
	len = strtoul(type_info + strlen(scope), &name, 10);
	return len && len < strlen(name) ? strndup(name, len) : NULL;
}

/* True for MapOp(ID:1)::WorkerProcess. Other stages wait for a row, or for the interpreter's
 * lock. */
static bool is_own_work(const char *stage)
{
	static const char *const own[] = {"__next__", "WorkerProcess"};
	const char *name = strstr(stage, "(ID:") ? strstr(stage, "::") : NULL;

	for (size_t i = 0; name && i < ARRAY_SIZE(own); i++)
		if (!strcmp(name + strlen("::"), own[i]))
			return true;
	return false;
}

static int plan_pipeline(const struct framework_match *m, struct probe_plan *plan)
{
	int err = 0;

	if (m->known_version)
		plan->layout.pipeline = pipeline;
	else
		err = probe_plan__missing(plan, "layout of a data pipeline's operations not known "
						"of this version; not shown: their queues");
	plan->layout.pipeline.ns_per_cycle_shifted = cycles__ns_shifted(PT_CYCLE_SHIFT);
	if (!err && !plan->layout.pipeline.ns_per_cycle_shifted)
		err = probe_plan__missing(plan, "the processor's counter has no constant rate; not "
						"shown: what operations of the data pipeline do "
						"themselves");
	return err;
}

/* ---- recognition ---- */

static int mindspore_recognise(struct target *t, struct framework_match *m)
{
	const struct target_lib *backend = target__find_lib(t, libs[LIB_BACKEND]);

	if (!backend)
		return 0;
	memset(m, 0, sizeof(*m));
	m->framework = &framework_mindspore;
	m->ready = probe_table__lib(&table, t, LIB_CPU) && target__find_lib(t, libs[LIB_DATASET]);
	package__text(t, backend, 2, "version.py", "__version__", m->version, sizeof(m->version));
	m->known_version = !strncmp(m->version, "2.10.", strlen("2.10.")) ||
			   !strncmp(m->version, "2.7.", strlen("2.7."));
	snprintf(m->why, sizeof(m->why), "maps %s; version %s%s", backend->path,
		 m->version[0] ? m->version : "unknown (no version.py beside it)",
		 m->known_version ? ""
				  : ", not measured by us: symbols are matched by name, and "
				    "names of operators are read only where they look sound");
	return 1;
}

/* In 2.10, and in 2.7. */
static const unsigned int launchers[] = {LIB_CPU, LIB_BACKEND};

static int mindspore_plan(struct target *t, const struct framework_match *m,
			  const struct plan_opts *opts, struct probe_plan *plan)
{
	struct table_scan scan;
	int err;

	memcpy(plan->name_rules, name_rules, sizeof(name_rules));
	plan->name_rule_cnt = ARRAY_SIZE(name_rules);
	plan->layout.python_str = target__python_str_head(t);
	err = opts->detail == DETAIL_INNER ? plan_pipeline(m, plan) : 0;
	if (!err)
		err = probe_table__plan(&table, t, opts, plan, &scan);
	if (!m->known_version)
		probe_plan__forget_pointers(plan);
	if (err || opts->detail == DETAIL_PHASE)
		return err;
	return mindspore_names__plan(&scan, LIB_CORE, launchers, ARRAY_SIZE(launchers));
}

const struct framework framework_mindspore = {
	.name = "mindspore",
	.title = "MindSpore",
	.library = "libmindspore_",
	.recognise = mindspore_recognise,
	.plan = mindspore_plan,
	.updates_parameters = updates_parameters,
	.computes_gradients = computes_gradients,
	.communicates = communicates,
	.scopes = scopes,
	.shorten = shorten,
	.node_name = operation_type,
	.is_own_work = is_own_work,
};
