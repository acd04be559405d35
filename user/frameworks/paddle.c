// SPDX-License-Identifier: BSD-2-Clause
/*
 * PaddlePaddle: the functions that show its steps, phases and operators, by symbol. Measured on
 * 3.3.1 and 2.6.2. Most C++ functions let exceptions through (a shape error, the end of an epoch),
 * so they get no return probe. They end where their caller returns, a function that Python calls
 * and that catches all exceptions. Others end at their return instructions.
 */
#include "attach/attach.h"
#include "attach/site.h"
#include "common/err.h"
#include "common/util.h"
#include "frameworks/package.h"
#include "frameworks/paddle_ends.h"
#include "frameworks/paddle_events.h"
#include "frameworks/paddle_names.h"
#include "frameworks/paddle_programs.h"
#include "frameworks/probe_table.h"
#include "frameworks/python/python_ranges.h"
#include "frameworks/python/python_watch.h"
#include <stdlib.h>
#include <string.h>

extern const struct framework framework_paddle;

enum paddle_lib { LIB_PADDLE, LIB_PHI, LIB_CXX, LIB_CNT };

static const char *const libs[] = {
	[LIB_PADDLE] = "libpaddle.so*",
	[LIB_PHI] = "libphi_core.so*",
	[LIB_CXX] = "libstdc++.so*",
};

/* Before 3.0 the kernels are part of the other library. */
static const char *const other_libs[LIB_CNT] = {[LIB_PHI] = "libpaddle.so*"};

#define FORWARDING	100 /* bytes; a shorter function only calls another form */
#define PYTHON_FUNCTION PADDLE_PYTHON_FUNCTIONS "*eager_api_*EP7_object*"
#define LEGACY_FUNCTION "_Z*_dygraph_function*"

/* offset of OperatorBase's type, a std::string after the vtable pointer */
#define OPERATOR_TYPE 8

static const struct probe_row rows[] = {
	/* The main thread waits for a batch. An exception ends the epoch. */
	{
		.lib = LIB_PADDLE,
		.symbol = "_ZN6paddle6pybind21MultiDeviceFeedReader*12ReadNextListEv",
		.details = AT_ALL,
		.group = GROUP_STEP,
		.category = CAT_DATALOADER,
		.program = "phase_entry",
		.leaves = true,
		.name = "DataLoader",
		.cfg = {.code = PT_CLASS_DATALOADER},
		.loses = "steps by the data loader, and Dataloader",
	},
	/* Catches exceptions: what it called has ended, and all that the exception passed. */
	{
		.lib = LIB_CXX,
		.symbol = "__cxa_begin_catch",
		.details = AT_ALL,
		.group = GROUP_PHASE,
		.category = CAT_NONE,
		.program = "call_unwound",
		.slide = true,
		.loses = "where an ask that ends an epoch ends: it lasts until the thread's next "
			 "event",
	},
	/* Tensor.backward(). Its own RecordEvent ends one call after the pass. */
	{
		.lib = LIB_PADDLE,
		.symbol = "_ZN3egr8BackwardE",
		.details = AT_ALL,
		.group = GROUP_STEP,
		.category = CAT_BACKWARD,
		.program = "phase_entry",
		.site_program = "call_site",
		.leaves = true,
		.name = "Gradient Backward",
		.cfg = {.code = PT_CLASS_BACKWARD},
		.loses = "Backward, and with it Forward",
	},
	/* paddle.grad(). In 2.6 the code that all paths share comes before the pass. */
	{
		.lib = LIB_PADDLE,
		.symbol = "_ZN3egr4GradE",
		.details = AT_ALL,
		.group = GROUP_STEP,
		.category = CAT_BACKWARD,
		.program = "phase_entry",
		.leaves = true,
		.name = "Gradient Backward",
		.cfg = {.code = PT_CLASS_BACKWARD},
		.loses = "paddle.grad()",
	},
	{
		.lib = LIB_PADDLE,
		.symbol = PYTHON_FUNCTION,
		.details = AT_ALL,
		.group = GROUP_STEP,
		.category = CAT_OPTIMIZER_OP,
		.program = "phase_entry",
		.return_program = "call_return",
		.returns_safely = PADDLE_CATCHES_ALL,
		.name_of = paddle_names__optimizer,
		.cfg = {.code = PT_CLASS_OPTIMIZER_OP},
		.loses = "Optimization",
	},
	{
		.lib = LIB_PADDLE,
		.symbol = LEGACY_FUNCTION,
		.details = AT_ALL,
		.group = GROUP_STEP,
		.category = CAT_OPTIMIZER_OP,
		.program = "phase_entry",
		.leaves = true,
		.name_of = paddle_names__legacy_optimizer,
		.cfg = {.code = PT_CLASS_OPTIMIZER_OP},
	},
	/* Sets whether gradients are recorded. An optimizer's step is called without gradients. */
	{
		.lib = LIB_PADDLE,
		.symbol = "_ZN6paddle10imperative6Tracer10SetHasGradEb",
		.details = AT_ALL,
		.group = GROUP_ENCLOSING,
		.category = CAT_OPTIMIZER,
		.program = OPTIMIZER_ENCLOSING_PROGRAM,
		.name = "Optimization Step",
		.cfg = {.code = PT_CLASS_OPTIMIZER_OP},
	},
	/* The static Executor runs a program: the whole of a step but its batch. */
	{
		.lib = LIB_PADDLE,
		.symbol = "_ZN6paddle9framework18StandaloneExecutor3RunE",
		.details = AT_ALL,
		.group = GROUP_STEP,
		.category = CAT_SCRIPT,
		.program = "phase_entry",
		.leaves = true,
		.name = "StandaloneExecutor::run",
		.cfg = {.code = PT_CLASS_GRAPH},
		.loses = "steps of static programs",
	},
	/* The same for paddle.inference: Predictor.run(), with and without inputs. */
	{
		.lib = LIB_PADDLE,
		.symbol = "_ZN6paddle17AnalysisPredictor11ZeroCopyRunE",
		.other_symbol = "_ZN6paddle17AnalysisPredictor3RunERKSt6vector*",
		.details = AT_ALL,
		.group = GROUP_STEP,
		.category = CAT_SCRIPT,
		.program = "phase_entry",
		.slide = true,
		.slide_keep = SITE_RSP,
		.leaves = true,
		.name = "Predictor::run",
		.cfg = {.code = PT_CLASS_GRAPH},
	},
	/* A function compiled by to_static. */
	{
		.lib = LIB_PADDLE,
		.symbol = "_ZN3egr9to_static*run_program_ad_func*",
		.other_symbol = "_Z*run_program_ad_funcRKSt6vector*",
		.details = AT_SPANS,
		.group = GROUP_OPERATOR,
		.category = CAT_SCRIPT,
		.program = "call_entry",
		.leaves = true,
		.name = "run_program",
	},
	/* Each operator of a program, on the executor's threads. It catches all exceptions and
	 * keeps them for the waiting thread. */
	{
		.lib = LIB_PADDLE,
		.symbol = "_ZN6paddle9framework14PirInterpreter18RunInstructionBaseEPNS0_"
			  "15InstructionBaseE",
		.details = AT_SPANS,
		.group = GROUP_OPERATOR,
		.category = CAT_OPERATOR,
		.program = "named_entry",
		.return_program = "call_return",
		.returns_safely = "catches every exception, for another thread",
		.cfg = {.name_source = PT_NAME_CXX11, .name_reg = 1, .flags = PT_NAMED_BY_CLASS},
		.loses = "operators of static programs",
	},
	/* The same for the executor before 3.0; see paddle_programs__plan(). */
	{
		.lib = LIB_PADDLE,
		.symbol = PADDLE_OLD_INSTRUCTION,
		.details = AT_SPANS,
		.group = GROUP_OPERATOR,
		.category = CAT_OPERATOR,
		.program = "named_entry",
		.return_program = "call_return",
		.returns_safely = "catches every exception, for another thread",
		.cfg = {.name_source = PT_NAME_CXX11,
			.name_reg = 1,
			.name_path = {0, OPERATOR_TYPE},
			.name_derefs = 1},
	},
	/* Operators that a predictor before 3.0 runs itself, one after the other. */
	{
		.lib = LIB_PADDLE,
		.symbol = "_ZN6paddle9framework12OperatorBase3RunERKNS0_5ScopeE",
		.details = AT_SPANS,
		.group = GROUP_OPERATOR,
		.category = CAT_OPERATOR,
		.program = "named_entry",
		.leaves = true,
		.cfg = {.name_source = PT_NAME_CXX11, .name_reg = 0, .name_path = {OPERATOR_TYPE}},
	},
	/* Collectives between processors: the calling thread does the work. */
	{
		.lib = LIB_PADDLE,
		.symbol = "_ZN6paddle11distributed16ProcessGroupGloo*",
		.details = AT_SPANS,
		.group = GROUP_OPERATOR,
		.category = CAT_COMMUNICATION,
		.program = "call_entry",
		.aligned_program = "call_entry_aligned",
		.slide = true,
		.slide_keep = SITE_RSP,
		.leaves = true,
		.name_of = paddle_names__gloo,
		.min_size = FORWARDING,
	},
	/* Operators, with any caller; see paddle_ends__plan(). */
	{
		.lib = LIB_PADDLE,
		.symbol = "_Z*_ad_func*",
		.details = AT_SPANS,
		.group = GROUP_OPERATOR,
		.category = CAT_OPERATOR,
		.program = "call_entry",
		.aligned_program = "call_entry_aligned",
		.pointer_hook = POINTER_HOOK_PART, /* in the table by which the library calls its
						      own functions */
		.name_of = paddle_names__forward,
		.slide = true,
		.slide_keep = SITE_RSP,
		.loses = "operators",
	},
	/* Functions of _legacy_C_ops. The executor's kind of operator computes them. */
	{
		.lib = LIB_PADDLE,
		.symbol = LEGACY_FUNCTION,
		.details = AT_SPANS,
		.group = GROUP_OPERATOR,
		.category = CAT_OPERATOR,
		.program = "call_entry",
		.aligned_program = "call_entry_aligned",
		.name_of = paddle_names__legacy,
		.slide = true,
		.slide_keep = SITE_RSP,
		.leaves = true,
	},
	/* Errors of a user's hook pass through, so it ends where the next one begins. */
	{
		.lib = LIB_PADDLE,
		.symbol = "_ZN*GradNode*clERN6paddle12small_vector*",
		.details = AT_SPANS,
		.group = GROUP_OPERATOR,
		.category = CAT_BACKWARD_NODE,
		.program = "call_entry",
		.aligned_program = "call_entry_aligned",
		.pointer_hook = POINTER_HOOK_NODE, /* virtual functions */
		.name_of = paddle_names__node,
		.slide = true,
		.slide_keep = SITE_RSP,
		.loses = "operators of the backward pass",
	},
	/* allocators of hosts and devices, which make the event with or without a profiler */
	{
		.lib = LIB_PHI,
		.symbol = "_ZN6paddle8platform14RecordMemEventC1E",
		.details = AT_ALL,
		.group = GROUP_MEMORY,
		.category = CAT_ALLOCATION,
		.program = "memory_placed",
		.slide = true,
		.slide_keep = SITE_RSI | SITE_RDX | SITE_RCX | SITE_R8,
		.memory = true,
		.loses = "allocations and frees",
	},
};

static const struct probe_table table = {libs, other_libs, LIB_CNT, rows, ARRAY_SIZE(rows)};

/* Used if the events inside operators are not found. */
static const struct probe_row kernel_rows[] = {
	/* Inside an operator: each kernel, from its selection to the next event. */
	{
		.lib = LIB_PHI,
		.symbol = "_ZNK3phi13KernelFactory24SelectKernelOrThrowErrorE",
		.details = AT_INNER,
		.group = GROUP_INNER,
		.category = CAT_OPERATOR,
		.program = "named_entry",
		.name_suffix = " kernel launch",
		.cfg = {.name_source = PT_NAME_CXX11, .name_reg = 1},
		.loses = "kernels of operators",
	},
};

static const struct probe_table kernel_table = {libs, other_libs, LIB_CNT, kernel_rows,
						ARRAY_SIZE(kernel_rows)};

/* ---- recognition ---- */

static int paddle_recognise(struct target *t, struct framework_match *m)
{
	const struct target_lib *lib = target__find_lib(t, libs[LIB_PADDLE]);

	if (!lib)
		return 0;
	memset(m, 0, sizeof(*m));
	m->framework = &framework_paddle;
	m->ready = true;
	package__text(t, lib, 2, "version/__init__.py", "full_version", m->version,
		      sizeof(m->version));
	m->known_version = !strncmp(m->version, "3.3.", 4) || !strncmp(m->version, "2.6.", 4);
	snprintf(m->why, sizeof(m->why), "maps %s; version %s%s", lib->path,
		 m->version[0] ? m->version : "unknown (no version/__init__.py beside it)",
		 m->known_version ? "" : ", not measured by us: symbols are matched by name");
	return 1;
}

/* In programs, operators' names have a dialect: pd_op.adam_, where the last _ means in place.
 * Without PIR the name is adam. */
static const char *plain_name(const char *op)
{
	const char *dot = strrchr(op, '.');

	return dot ? dot + 1 : op;
}

static bool updates_parameters(const char *op)
{
	char in_place[64];

	if (snprintf(in_place, sizeof(in_place), "%s_", op) < (int)sizeof(in_place) &&
	    paddle_names__is_optimizer(in_place))
		return true;
	return paddle_names__is_optimizer(plain_name(op));
}

/* The function's name without its class, because CPython 3.10 gives no class. */
static const char *own_name(const char *function)
{
	const char *dot = strrchr(function, '.');

	return dot ? dot + 1 : function;
}

/* Optimizer.step, Adam.step and similar: those of the library, also for derived classes. */
static bool is_optimizer_step(const char *file, const char *function)
{
	const char *name = own_name(function);

	return strstr(file, "/paddle/optimizer/") &&
	       (!strcmp(name, "step") || !strcmp(name, "minimize"));
}

/* The wrappers of paddle.no_grad around a function. */
static bool encloses_step(const char *file, const char *function)
{
	static const char *const names[] = {"_decorate_function", "__impl__"};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(own_name(function), names[i]))
			return strstr(file, "/paddle/base/dygraph/base.py");
	return false;
}

static bool computes_gradients(const char *op)
{
	const char *name = plain_name(op);
	size_t len = strlen(name);

	len -= len && name[len - 1] == '_'; /* an in-place operator */
	return len > strlen("_grad") &&
	       !strncmp(name + len - strlen("_grad"), "_grad", strlen("_grad"));
}

/* Adds the prefix of backward nodes. The library does so itself, but not before 3.0. */
static void name_nodes(struct table_scan *s)
{
	static const char prefix[] = PADDLE_NODE_PREFIX;
	const uint8_t *rodata;
	uint64_t vaddr;
	size_t len;

	rodata = elf_file__section(s->elfs[LIB_PADDLE], ".rodata", &vaddr, &len);
	if (!rodata || memmem(rodata, len, prefix, sizeof(prefix)))
		return;
	for (size_t i = 0; i < s->plan->cnt; i++) {
		char *name = (char *)s->plan->probes[i].name; /* the plan owns the name */

		if (!name || s->plan->probes[i].category != CAT_BACKWARD_NODE ||
		    strncmp(name, prefix, strlen(prefix)) != 0)
			continue;
		if (!strcmp(name, PADDLE_PROGRAM_NODE)) /* this node's class has no name of its
							   own there */
			memcpy(name, "GradNodeBase", sizeof("GradNodeBase"));
		else
			memmove(name, name + strlen(prefix), strlen(name + strlen(prefix)) + 1);
	}
}

/* Without a running profiler it returns in Python and calls no C function. */
static const struct python_range_class record_event = {
	.module = "paddle.profiler.utils",
	.class = "RecordEvent",
	.begin = "begin",
	.end = "end",
	.name = "name",
};

/* One file may be both libraries. */
static int plan_inside(struct target *t, struct table_scan *s)
{
	size_t kernels = 0;
	int err = paddle_events__plan(s, LIB_PADDLE, &kernels);

	if (!err && s->elfs[LIB_PHI] != s->elfs[LIB_PADDLE])
		err = paddle_events__plan(s, LIB_PHI, &kernels);
	if (!err && !kernels)
		err = probe_table__plan(&kernel_table, t, s->opts, s->plan, s);
	return err;
}

static int paddle_plan(struct target *t, const struct framework_match *m,
		       const struct plan_opts *opts, struct probe_plan *plan)
{
	struct table_scan scan;
	int err = probe_table__plan(&table, t, opts, plan, &scan);

	if (err || !scan.elfs[LIB_PADDLE])
		return err;
	name_nodes(&scan);
	err = paddle_programs__plan(&scan, LIB_PADDLE);
	if (!err)
		err = python_ranges__plan(t, &record_event, plan);
	if (!err)
		err = paddle_ends__plan(&scan, LIB_PADDLE);
	if (!err && opts->detail == DETAIL_INNER)
		err = plan_inside(t, &scan);
	return err || opts->detail == DETAIL_PHASE ? err
						   : paddle_ends__plan_methods(&scan, LIB_PADDLE);
}

const struct framework framework_paddle = {
	.name = "paddle",
	.title = "PaddlePaddle",
	.library = "libpaddle.so",
	.recognise = paddle_recognise,
	.plan = paddle_plan,
	.updates_parameters = updates_parameters,
	.is_optimizer_step = is_optimizer_step,
	.encloses_step = encloses_step,
	.computes_gradients = computes_gradients,
	/* 1.5 us, while a hit is 5 us: an MLP in bench/overhead. */
	.peer_hits_per_call = 0.29,
};
