// SPDX-License-Identifier: BSD-2-Clause
/*
 * MXNet: measured on 1.9.1. Python calls its C API through ctypes. Each function of that turns
 * exceptions into an error code, so only these may have return probes. The engine runs the pushed
 * operators on threads of its own. So at the default detail an operator's time is that of the push.
 */
#include "frameworks/package.h"
#include "frameworks/probe_table.h"
#include "frameworks/python/python_loader.h"
#include "frameworks/python/python_watch.h"
#include "attach/site.h"
#include "common/util.h"
#include <stdlib.h>
#include <string.h>

extern const struct framework framework_mxnet;

enum mxnet_lib { LIB_MXNET, LIB_CNT };

static const char *const libs[] = {[LIB_MXNET] = "libmxnet.so*"};

#define C_API "C API function: turns every C++ exception into an error code"

static bool own_name(const char *symbol, char *out, size_t size)
{
	snprintf(out, size, "%s", symbol);
	/* MXInvokeCachedOpEx calls the function without Ex. */
	return strcmp(symbol, "MXInvokeCachedOpEx") != 0;
}

/* An nnvm::Op begins with its name. */
#define OP_NAME(reg) {.name_source = PT_NAME_COW, .name_reg = (reg)}
#define OP_NAME_BEHIND(reg, offset)                                                                \
	{.name_source = PT_NAME_COW,                                                               \
	 .name_reg = (reg),                                                                        \
	 .name_path = {offset},                                                                    \
	 .name_derefs = 1,                                                                         \
	 .flags = PT_NAMED_OUTERMOST}

/* profiler::ProfileTask and similar classes have 128 bytes of name after the vtable pointer.
 * 1.9.1 */
#define OBJECT_NAME 8

/* A counter has after the name its domain, with a name at the same offset, and its value. A task or
 * frame has its domain after another text. An event has none. 1.9.1 */
#define COUNTER_DOMAIN	0x88
#define COUNTER_VALUE	0x90
#define DURATION_DOMAIN 0x108
#define DOMAIN_CLASS	"_ZTVN5mxnet8profiler13ProfileDomainE"

#define NAME_IN_OBJECT(domain_offset)                                                              \
	.name_source = PT_NAME_CSTR, .name_path = {OBJECT_NAME}, .domain = 1,                      \
	.domain_at = (domain_offset), .domain_text = OBJECT_NAME

/* exec::OpExecutor: its attributes begin with a nnvm::Op *. 1.9.1 */
#define EXECUTOR_OP 0xa8

/* engine::OprBlock: its ThreadedOpr *, which has the name. 1.9.1 */
#define BLOCK_OPR 8
#define OPR_NAME  0x58

#define DEVICE_GPU 2 /* Context::kGPU */

/* A function of the C API under its own name, as the library's profiler shows it. */
#define API_CALL(function, cat)                                                                    \
	{                                                                                          \
		.lib = LIB_MXNET,                                                                  \
		.symbol = (function),                                                              \
		.details = AT_SPANS,                                                               \
		.group = GROUP_OPERATOR,                                                           \
		.category = (cat),                                                                 \
		.program = "call_entry",                                                           \
		.return_program = "call_return",                                                   \
		.returns_safely = C_API,                                                           \
		.name_of = own_name,                                                               \
	}

/* A function of the C API that is a phase of the step. */
#define API_PHASE(function, cat, step_class, label, without)                                       \
	{                                                                                          \
		.lib = LIB_MXNET,                                                                  \
		.symbol = (function),                                                              \
		.details = AT_ALL,                                                                 \
		.group = GROUP_STEP,                                                               \
		.category = (cat),                                                                 \
		.program = "phase_entry",                                                          \
		.return_program = "call_return",                                                   \
		.returns_safely = C_API,                                                           \
		.name = (label),                                                                   \
		.cfg = {.code = (step_class)},                                                     \
		.loses = (without),                                                                \
	}

/* A member function that returns an object, so context, attributes, inputs and outputs follow two
 * hidden arguments. */
#define INVOKE_OP "_ZN5mxnet10Imperative8InvokeOpERKNS_7ContextERKN4nnvm9NodeAttrsE"
#define OUTPUTS	  5

static const struct probe_row rows[] = {
	/* autograd.record() */
	{
		.lib = LIB_MXNET,
		.symbol = "MXAutogradSetIsRecording",
		.details = AT_ALL,
		.group = GROUP_STEP,
		.category = CAT_FORWARD,
		.program = "forward_switch",
		.name = "autograd.record",
		.loses = "steps and Forward of imperative code",
	},
	API_PHASE("MXAutogradBackwardEx", CAT_BACKWARD, PT_CLASS_BACKWARD, "MXAutogradBackwardEx",
		  "Backward of imperative code"),
	/* graphs of symbols: Module, simple_bind */
	API_PHASE("MXExecutorForward", CAT_FORWARD, PT_CLASS_FORWARD, "MXExecutorForward",
		  "steps and Forward of symbols"),
	API_PHASE("MXExecutorBackwardEx", CAT_BACKWARD, PT_CLASS_BACKWARD, "MXExecutorBackwardEx",
		  "Backward of symbols"),
	/* the library's own iterators */
	API_PHASE("MXDataIterNext", CAT_DATALOADER, PT_CLASS_DATALOADER, "MXDataIterNext",
		  "Dataloader of C++ iterators"),
	/* mx.profiler's Task, Frame and Event, which contain their names */
	{
		.lib = LIB_MXNET,
		.symbol = "MXProfileDurationStart",
		.details = AT_ALL,
		.group = GROUP_STEP,
		.category = CAT_USER,
		.program = "range_start",
		.cfg = {NAME_IN_OBJECT(DURATION_DOMAIN)},
		.loses = "mx.profiler's tasks, frames and events",
	},
	{
		.lib = LIB_MXNET,
		.symbol = "MXProfileDurationStop",
		.details = AT_ALL,
		.group = GROUP_STEP,
		.category = CAT_USER,
		.program = "range_stop",
		.loses = "the ends of mx.profiler's tasks, frames and events",
	},
	{
		.lib = LIB_MXNET,
		.symbol = "MXProfileSetCounter",
		.details = AT_ALL,
		.group = GROUP_OPERATOR,
		.category = CAT_USER,
		.program = "mark",
		.cfg = {NAME_IN_OBJECT(COUNTER_DOMAIN), .mark = {.op = PT_MARK_SET, .value = 2}},
		.loses = "mx.profiler's counters",
	},
	{
		.lib = LIB_MXNET,
		.symbol = "MXProfileAdjustCounter",
		.details = AT_ALL,
		.group = GROUP_OPERATOR,
		.category = CAT_USER,
		.program = "mark",
		.cfg = {NAME_IN_OBJECT(COUNTER_DOMAIN), .mark = {.op = PT_MARK_ADD,
								 .value = 2,
								 .base = 1,
								 .base_at = COUNTER_VALUE}},
		.loses = "mx.profiler's counters",
	},
	{
		.lib = LIB_MXNET,
		.symbol = "MXProfileSetMarker",
		.details = AT_ALL,
		.group = GROUP_OPERATOR,
		.category = CAT_USER,
		.program = "mark",
		.cfg = {.name_source = PT_NAME_CSTR,
			.name_reg = 1,
			.domain = 1,
			.domain_text = OBJECT_NAME,
			.mark = {.op = PT_MARK_INSTANT, .scope = 3, .scope_is_text = 1}},
		.loses = "mx.profiler's markers",
	},
	/* What Python calls, by MXImperativeInvokeEx and others, a backward pass and a cached
	   graph. Errors leave it. */
	{
		.lib = LIB_MXNET,
		.symbol = INVOKE_OP,
		.details = AT_SPANS,
		.group = GROUP_OPERATOR,
		.category = CAT_OPERATOR,
		.program = "named_entry",
		.site_program = "call_site",
		.cfg = OP_NAME_BEHIND(3, 0),
		.pointer_hook = POINTER_HOOK_RETURNING, /* called from the library's own table, with
							   three words of arguments */
		.loses = "operators, but those of planned graphs and of symbols",
	},
	/* operators of planned graphs and of symbols, which the engine runs on its own threads */
	{
		.lib = LIB_MXNET,
		.symbol = "_ZN5mxnet4exec*Executor3RunENS_10RunContextE*",
		.details = AT_SPANS,
		.group = GROUP_OPERATOR,
		.category = CAT_OPERATOR,
		.program = "named_entry",
		.site_program = "call_site",
		.cfg = {.name_source = PT_NAME_COW, .name_path = {EXECUTOR_OP}, .name_derefs = 1},
		.pointer_hook = POINTER_HOOK_RETURNING, /* a virtual function with five words of
							   arguments */
		.loses = "operators of planned graphs and of symbols",
	},
	API_CALL("MXInvokeCachedOp", CAT_SCRIPT),
	API_CALL("MXKVStorePush", CAT_COMMUNICATION),
	API_CALL("MXKVStorePull", CAT_COMMUNICATION),
	API_CALL("MXKVStoreBroadcast", CAT_COMMUNICATION),
	API_CALL("MXNDArraySync", CAT_NONE),
	API_CALL("MXNDArrayWaitToRead", CAT_NONE),
	API_CALL("MXNDArrayWaitToWrite", CAT_NONE),
	API_CALL("MXNDArrayWaitAll", CAT_NONE),
	/* what the engine runs, from its start until it is complete */
	{
		.lib = LIB_MXNET,
		.symbol = "_ZN5mxnet6engine14ThreadedEngine15ExecuteOprBlockE",
		.details = AT_INNER,
		.group = GROUP_INNER,
		.category = CAT_OPERATOR,
		.program = "object_entry",
		.name_prefix = "engine: ",
		.cfg = {.name_source = PT_NAME_COW,
			.name_reg = 1,
			.name_path = {BLOCK_OPR, OPR_NAME},
			.name_derefs = 1,
			.key_reg = 1,
			.code = BLOCK_OPR},
		.loses = "what the engine runs",
	},
	{
		.lib = LIB_MXNET,
		.symbol = "_ZN5mxnet6engine14ThreadedEngine10OnCompleteE",
		.details = AT_INNER,
		.group = GROUP_INNER,
		.category = CAT_OPERATOR,
		.program = "object_exit",
		.cfg = {.key_reg = 1},
		.loses = "the ends of what the engine runs",
	},
	/* every storage manager calls its profiler, whether or not that records */
	{
		.lib = LIB_MXNET,
		.symbol = "_ZN5mxnet7storage21DeviceStorageProfiler7OnAllocE",
		.other_symbol = "_ZN5mxnet8profiler21DeviceStorageProfiler7OnAllocE",
		.details = AT_ALL,
		.group = GROUP_MEMORY,
		.category = CAT_ALLOCATION,
		.program = "memory_block",
		.cfg = {.code = DEVICE_GPU},
		.memory = true,
		.loses = "allocations",
	},
	{
		.lib = LIB_MXNET,
		.symbol = "_ZN5mxnet7storage21DeviceStorageProfiler6OnFreeE",
		.other_symbol = "_ZN5mxnet8profiler21DeviceStorageProfiler6OnFreeE",
		.details = AT_ALL,
		.group = GROUP_MEMORY,
		.category = CAT_ALLOCATION,
		.program = "memory_block",
		.cfg = {.code = DEVICE_GPU, .flags = 1},
		.memory = true,
		.loses = "frees",
	},
};

/* Functions that InvokeOp passes to the engine, each with a copy of its arguments. The first
 * output's storage exists before, and until the function has run. Functions that write to one
 * storage run in the order of the calls. 1.9.1 */
#define GIVEN_TO_ENGINE(function, outputs, ...)                                                    \
	{                                                                                          \
		.lib = LIB_MXNET,                                                                  \
		.symbol = (function),                                                              \
		.details = AT_OPERATOR,                                                            \
		.group = GROUP_INNER,                                                              \
		.category = CAT_EXECUTION,                                                         \
		.program = "named_entry",                                                          \
		.site_program = "call_site",                                                       \
		.cfg = {.link = 1, .link_at = (outputs), .link_derefs = 2, __VA_ARGS__},           \
		.loses = "GPU times of operators and phases",                                      \
	}
#define NAME_IN_ATTRS(offset) .name_source = PT_NAME_COW, .name_path = {offset}, .name_derefs = 1

static const struct probe_row engine_rows[] = {
	GIVEN_TO_ENGINE("_ZZN5mxnet10imperative12PushFComputeE*ENKUlNS_10RunContextEE_clE*", 8,
			NAME_IN_ATTRS(0xb0)),
	GIVEN_TO_ENGINE("_ZZN5mxnet10imperative14PushFComputeExE*ENKUlNS_10RunContextEE_clE*", 0x28,
			NAME_IN_ATTRS(0x58)),
	/* it has a state, and no name */
	GIVEN_TO_ENGINE(
		"_ZZN5mxnet10imperative12PushOperatorE*ENKUlNS_10RunContextE*CallbackOn*_clE*",
		0x28, .flags = PT_NAMED_BY_CALL),
};

/* A Storage::Handle begins like struct memory_block; the profiler's scope and the name follow.
 * NDArray and Chunk begin with a pointer to a Handle, or with one. 2.0.0b1 */
#define STORAGE_VERSION "2.0.0beta1"
#define HANDLE_SCOPE	0x20
#define HANDLE_NAME	0x28

static const struct probe_row storage_rows[] = {
	{
		.lib = LIB_MXNET,
		.symbol = "_ZN5mxnet8profiler24GpuDeviceStorageProfiler7OnAllocE",
		.details = AT_ALL,
		.group = GROUP_MEMORY,
		.category = CAT_STORAGE,
		.program = "storage",
		.cfg = {.name_source = PT_NAME_COW,
			.name_reg = 1,
			.name_path = {HANDLE_NAME},
			.domain = 2,
			.domain_text = HANDLE_SCOPE,
			.link = 2,
			.link_derefs = 1,
			.flags = 1},
		.slide = true,
		.slide_keep = SITE_RSI | SITE_RDX | SITE_RCX,
		.memory = true,
		.loses = "GPU memory by profiler scope",
	},
	{
		.lib = LIB_MXNET,
		.symbol = "_ZN5mxnet7NDArray17AssignStorageInfoE",
		.details = AT_ALL,
		.group = GROUP_MEMORY,
		.category = CAT_STORAGE,
		.program = "storage",
		.cfg = {.name_source = PT_NAME_COW,
			.name_reg = 2,
			.domain = 2,
			.link = 1,
			.link_derefs = 2},
		.slide = true,
		.slide_keep = SITE_RDI | SITE_RSI | SITE_RDX,
		.memory = true,
		.loses = "GPU memory by profiler scope",
	},
};

static const struct probe_table storage_table = {libs, NULL, LIB_CNT, storage_rows,
						 ARRAY_SIZE(storage_rows)};

static const struct probe_table engine_table = {libs, NULL, LIB_CNT, engine_rows,
						ARRAY_SIZE(engine_rows)};

static const struct probe_table table = {libs, NULL, LIB_CNT, rows, ARRAY_SIZE(rows)};

/* The length of the prefix that gluon puts before a parameter's name: 8-4-4-4-12 hexadecimal
 * digits, each group followed by "_". 0: there is none. */
static size_t unique_prefix(const char *name)
{
	static const unsigned char groups[] = {8, 4, 4, 4, 12};
	const char *at = name;

	for (size_t i = 0; i < sizeof(groups); i++) {
		if (strspn(at, "0123456789abcdefABCDEF") != groups[i] || at[groups[i]] != '_')
			return 0;
		at += groups[i] + 1;
	}
	return (size_t)(at - name);
}

/* A block's scope ends with a colon; two more precede the name. MXNet's own csv shows the name
 * without its unique part. */
static void shorten(char *name)
{
	char *text = strstr(name, ":::"); /* the first colon belongs to the scope */
	size_t prefix;

	if (!text)
		return;
	text++;
	memmove(text, text + 2, strlen(text + 2) + 1);
	prefix = unique_prefix(text);
	if (text[prefix])
		memmove(text, text + prefix, strlen(text + prefix) + 1);
}

/* The names of all optimizer operators of 1.9.1 end so, except those of lamb's phases. */
static bool updates_parameters(const char *op)
{
	static const char *const ends[] = {"_update", "_update_phase1", "_update_phase2"};
	size_t len = strlen(op);

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		size_t end = strlen(ends[i]);

		if (len > end && !strcmp(op + len - end, ends[i]))
			return true;
	}
	return false;
}

/* Each batch of gluon passes through it. */
static const struct python_loader_class gluon_loader = {
	.module = "mxnet.gluon.data.dataloader",
	.class = "DataLoader",
	.iter = "__iter__",
	.name = "DataLoader.__iter__",
};

/* An optimizer is one operator, or Python code. Each of these functions contains either one, and
 * the work of the key-value store. */
static const struct step_function {
	const char *module, *class, *method, *name;
	const char *told_by;
	const char *shown;
} step_functions[] = {
	{"mxnet.gluon.trainer", "Trainer", "step", "Trainer.step", "MXAutogradBackwardEx",
	 "Trainer.step as Optimization"},
	{"mxnet.module.module", "Module", "update", "Module.update", "MXExecutorBackwardEx",
	 "Module.update as Optimization"},
};

static int plan_optimizer_step(struct target *t, const struct step_function *f,
			       struct probe_plan *plan)
{
	struct python_watch w;
	const char *why = python_watch__open(t, f->module, f->class, &w);
	uint64_t code = why ? 0 : python_watch__code(&w, f->method);

	if (w.absent)
		return 0;
	if (!code)
		return python_watch__missing(
			t, why ? why : "its class has no such function in Python", f->shown, plan);
	return python_watch__add_optimizer_step(w.o.layout.lib, f->name, code, PT_CLASS_NONE,
						f->told_by, plan);
}

static int plan_optimizer_steps(struct target *t, struct probe_plan *plan)
{
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(step_functions) && !err; i++)
		err = plan_optimizer_step(t, &step_functions[i], plan);
	return err;
}

/* ---- recognition ---- */

static int mxnet_recognise(struct target *t, struct framework_match *m)
{
	const struct target_lib *lib = target__find_lib(t, libs[LIB_MXNET]);

	if (!lib)
		return 0;
	memset(m, 0, sizeof(*m));
	m->framework = &framework_mxnet;
	m->ready = !python_loader__is_to_come(t, &gluon_loader); /* `import mxnet` defines the
								    class */
	package__text(t, lib, 1, "libinfo.py", "__version__", m->version, sizeof(m->version));
	m->known_version = !strcmp(m->version, "1.9.1");
	snprintf(m->why, sizeof(m->why), "maps %s; version %s%s", lib->path,
		 m->version[0] ? m->version : "unknown (no libinfo.py beside it)",
		 m->known_version ? ""
				  : ", not measured by us: functions are matched by name, and only "
				    "names of operators are read");
	return 1;
}

/* Names lie in objects of the library. Its symbols show the layout of its compiler's
 * std::string. */
static void set_string_abi(const struct table_scan *scan)
{
	bool cow = table_scan__address(scan, LIB_MXNET, "_ZN4nnvm2Op3GetERKSs");

	for (size_t i = 0; i < scan->plan->cnt && !cow; i++)
		if (scan->plan->probes[i].cfg.name_source == PT_NAME_COW)
			scan->plan->probes[i].cfg.name_source = PT_NAME_CXX11;
}

/* An object begins with a pointer into its class's vtable. */
static void set_domain_class(const struct table_scan *scan)
{
	uint64_t vtable = table_scan__address(scan, LIB_MXNET, DOMAIN_CLASS);

	scan->plan->layout.domain_class = vtable ? vtable + 2 * sizeof(uint64_t) : 0;
}

/* For a version that was not measured, only the first members of objects are read. */
static int forget_layouts(struct probe_plan *plan)
{
	size_t kept = 0;
	uint32_t told = 0; /* row that was reported last */

	for (size_t i = 0; i < plan->cnt; i++) {
		struct planned_probe *probe = &plan->probes[i];

		if (probe->program && !strcmp(probe->program, "mark") && probe->cfg.name_reg)
			probe->cfg.domain = 0; /* lies inside another object */
		if (probe->cfg.name_path[0] || probe->cfg.mark.base) {
			int err = told == probe->row
					  ? 0
					  : probe_plan__missing(
						    plan,
						    "%s: this version was not measured; not shown: "
						    "what has its name inside an object",
						    probe->symbol);

			if (err)
				return err;
			told = probe->row;
			free((char *)probe->symbol);
			free((char *)probe->name);
			continue;
		}
		plan->probes[kept++] = *probe;
	}
	plan->cnt = kept;
	return 0;
}

/* For a device, the engine's threads launch the kernels. The calls say what will run. */
static int plan_engine(struct target *t, const struct plan_opts *opts, struct probe_plan *plan)
{
	struct table_scan scan;
	int err;

	if (!target__find_lib(t, "libcuda.so*"))
		return 0;
	for (size_t i = 0; i < plan->cnt; i++) {
		struct planned_probe *probe = &plan->probes[i];

		if (!probe->symbol || strncmp(probe->symbol, INVOKE_OP, strlen(INVOKE_OP)) != 0)
			continue;
		probe->pointer_hook = POINTER_HOOK_NOT; /* the library in the process does not read
							   these arguments */
		probe->cfg.link = OUTPUTS + 1;
		probe->cfg.link_derefs = 3;
	}
	err = probe_table__plan(&engine_table, t, opts, plan, &scan);
	if (!err)
		set_string_abi(&scan);
	return err;
}

/* Plans the names of a device's memory. Versions before 2 have no such names; the table says so. */
static int plan_storage(struct target *t, const struct framework_match *m,
			const struct plan_opts *opts, struct probe_plan *plan)
{
	struct table_scan scan;

	if (!opts->profile_memory || m->version[0] == '1' || !target__find_lib(t, "libcuda.so*"))
		return 0;
	if (strcmp(m->version, STORAGE_VERSION) != 0)
		return probe_plan__missing(plan,
					   "MXNet %s was not measured: GPU memory by "
					   "profiler scope is not known",
					   m->version);
	for (size_t i = 0; i < plan->cnt; i++) {
		struct planned_probe *probe = &plan->probes[i];

		if (!probe->program || strcmp(probe->program, "memory_block") != 0 ||
		    probe->cfg.flags)
			continue;
		probe->cfg.name_source = PT_NAME_COW;
		probe->cfg.name_reg = 1;
		probe->cfg.name_path[0] = HANDLE_NAME;
		probe->cfg.domain = 2;
		probe->cfg.domain_text = HANDLE_SCOPE;
	}
	return probe_table__plan(&storage_table, t, opts, plan, &scan);
}

static int mxnet_plan(struct target *t, const struct framework_match *m,
		      const struct plan_opts *opts, struct probe_plan *plan)
{
	struct table_scan scan;
	int err = probe_table__plan(&table, t, opts, plan, &scan);

	if (!err) {
		set_string_abi(&scan);
		set_domain_class(&scan);
	}
	if (!err && !m->known_version)
		err = forget_layouts(plan);
	if (!err && m->known_version)
		err = plan_engine(t, opts, plan);
	if (!err)
		err = plan_storage(t, m, opts, plan);
	if (!err)
		err = python_loader__plan(t, &gluon_loader, plan);
	return err ? err : plan_optimizer_steps(t, plan);
}

const struct framework framework_mxnet = {
	.name = "mxnet",
	.title = "MXNet",
	.library = "libmxnet.so",
	.recognise = mxnet_recognise,
	.plan = mxnet_plan,
	.updates_parameters = updates_parameters,
	.shorten = shorten,
};
