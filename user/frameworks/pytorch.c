// SPDX-License-Identifier: BSD-2-Clause
/*
 * PyTorch: the functions that show its steps, phases, operators and memory, by symbol. Measured on
 * 2.0 to 2.15. Each row says how its span ends. A return probe is only used on functions that turn
 * every C++ exception into a Python one before they return.
 */
#include "frameworks/package.h"
#include "frameworks/probe_table.h"
#include "frameworks/torch/torch_collectives.h"
#include "frameworks/torch/torch_dispatch.h"
#include "frameworks/torch/torch_layout.h"
#include "frameworks/torch/torch_ops.h"
#include "frameworks/torch/torch_wrappers.h"
#include "attach/site.h"
#include "attach/thread_local.h"
#include "target/python/python_layout.h"
#include "common/util.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct framework framework_pytorch;

enum torch_lib { LIB_CPU, LIB_PYTHON, LIB_C10, LIB_CXX, LIB_CNT };

static const char *const libs[] = {
	[LIB_CPU] = "libtorch_cpu.so*",
	[LIB_PYTHON] = "libtorch_python.so*",
	[LIB_C10] = "libc10.so*",
	[LIB_CXX] = "libstdc++.so*",
};

#define NODE_PREFIX "autograd::engine::evaluate_function: " /* torch.profiler's */

static bool node_type_name(const char *symbol, char *out, size_t size)
{
	auto_free char *node = NULL;
	char type[512];

	if (!torch_node_of_apply(symbol, type, sizeof(type)))
		return false;
	node = torch_node_name(type, NULL);
	/* The engine runs it, but not as a node of the graph. */
	if (!node || !strcmp(node, "torch::autograd::GraphRoot"))
		return false;
	snprintf(out, size, NODE_PREFIX "%s", node);
	return true;
}

static bool aten_name(bool (*operator_of)(const char *, char *, size_t), const char *symbol,
		      char *out, size_t size)
{
	char op[256];

	if (!operator_of(symbol, op, sizeof(op)))
		return false;
	snprintf(out, size, "aten::%s", op);
	return true;
}

static bool wrapper_name(const char *symbol, char *out, size_t size)
{
	return aten_name(torch_wrapper__operator, symbol, out, size);
}

static bool aliased_name(const char *symbol, char *out, size_t size)
{
	return aten_name(torch_wrapper__aliased, symbol, out, size);
}

static bool attribute_name(const char *symbol, char *out, size_t size)
{
	return aten_name(torch_attribute__operator, symbol, out, size);
}

/* The arguments are (self, args tuple, kwargs), or (self[, arg]). */
static void wrapper_arguments(const char *symbol, struct planned_probe *probe)
{
	probe->cfg.flags = strstr(symbol, "EP7_objectS1_S1_") || strstr(symbol, "EP7_objectS2_S2_");
	if (torch_wrapper__is_shared(symbol))
		probe->pointer_hook = POINTER_HOOK_NOT;
}

static void string_abi(const char *symbol, struct planned_probe *probe)
{
	probe->cfg.name_source = torch_layout__string_abi(symbol);
}

#define PYTHON_STR_AT(offset)                                                                      \
	{.name_source = PT_NAME_PYTHON, .name_path = {offset}, .name_derefs = 1}
#define TP_NAME 24 /* of a type of CPython */

#define NODE_TYPE(library, function)                                                               \
	{                                                                                          \
		.lib = (library), .symbol = (function), .details = AT_OPERATOR,                    \
		.group = GROUP_NODE_TYPE, .category = CAT_BACKWARD_NODE, .program = "node_entry",  \
		.name_of = node_type_name, .pointer_hook = POINTER_HOOK_NODE,                      \
		.cfg = {.key_reg = 1,                                                              \
			.flags = PT_NODE_OF_TYPE }                                                 \
	}

/* torch.ops: hidden result, overloads, args, kwargs. The overloads are a vector, or since 2.15 an
 * ArrayRef in two registers. */
#define INVOKE	     "_ZN5torch3jit24invokeOperatorFromPythonE"
#define INVOKE_ARRAY INVOKE "N3c108ArrayRefI"

static void invoke_arguments(const char *symbol, struct planned_probe *probe)
{
	const bool array = !strncmp(symbol, INVOKE_ARRAY, strlen(INVOKE_ARRAY));

	probe->cfg.name_reg = 1;
	probe->cfg.name_derefs = array ? 1 : 2;
	probe->cfg.key_reg = array ? 3 : 2;
}

#define SCRIPT_RUN "_ZN5torch3jit13GraphFunction3runERSt6vectorI"

/* bytes; a shorter function has an old name and only calls the new one */
#define FORWARDER_MAX 200

/* Functions that dispatch a collective; each library has a copy. Errors pass through them as
 * exceptions. */
#define COLLECTIVE(library)                                                                        \
	{                                                                                          \
		.lib = (library),                                                                  \
		.symbol = "_ZN4c10d12ProcessGroup*E*",                                             \
		.details = AT_SPANS,                                                               \
		.group = GROUP_OPERATOR,                                                           \
		.category = CAT_OPERATOR,                                                          \
		.program = "call_entry",                                                           \
		.leaves = true,                                                                    \
		.name_of = torch_collective__operator,                                             \
		.min_size = FORWARDER_MAX,                                                         \
	}

#define WAIT(function)                                                                             \
	{                                                                                          \
		.lib = LIB_CPU,                                                                    \
		.symbol = (function),                                                              \
		.details = AT_SPANS,                                                               \
		.group = GROUP_OPERATOR,                                                           \
		.category = CAT_OPERATOR,                                                          \
		.program = "call_entry",                                                           \
		.leaves = true,                                                                    \
		.name = "c10d::Work::wait",                                                        \
	}

static const struct probe_row rows[] = {
	/* Ranges: Optimizer.step, zero_grad, DataLoader next, record_function. They work without a
	 * profiler. */
	{
		.lib = LIB_CPU,
		.symbol = "_ZN5torch8autograd8profiler25record_function_enter_newE",
		.details = AT_ALL,
		.group = GROUP_STEP,
		.category = CAT_USER,
		.program = "range_enter",
		.cfg = {.name_reg = 1},
		.adjust = string_abi,
		.loses = "steps, Dataloader, Optimization and record_function ranges",
	},
	{
		.lib = LIB_CPU,
		.symbol = "_ZN5torch8autograd8profilerL24record_function_exit_newE",
		.other_symbol = "_ZN5torch8autograd8profiler24record_function_exit_newE",
		.details = AT_ALL,
		.group = GROUP_STEP,
		.category = CAT_USER,
		.program = "range_exit",
		.slide = true,
		.loses = "the ends of ranges",
	},
	{
		.lib = LIB_PYTHON,
		.symbol = "_ZN5torch8profiler12_GLOBAL__N_124RecordFunctionFast_enterE",
		.details = AT_ALL,
		.group = GROUP_STEP,
		.category = CAT_USER,
		.program = "range_enter",
		.cfg = PYTHON_STR_AT(16),
	},
	{
		.lib = LIB_PYTHON,
		.symbol = "_ZN5torch8profiler12_GLOBAL__N_123RecordFunctionFast_exitE",
		.details = AT_ALL,
		.group = GROUP_STEP,
		.category = CAT_USER,
		.program = "range_exit",
		.slide = true,
	},
	{
		.lib = LIB_PYTHON,
		.symbol = "_ZL22THPEngine_run_backwardP",
		.other_symbol = "_Z22THPEngine_run_backwardP",
		.details = AT_ALL,
		.group = GROUP_STEP,
		.category = CAT_BACKWARD,
		.program = "phase_entry",
		.return_program = "call_return",
		.returns_safely = "C API function of the engine",
		.name = "backward",
		.pointer_hook = POINTER_HOOK_CALL,
		.cfg = {.code = PT_CLASS_BACKWARD},
		.loses = "Backward, and with it Forward",
	},
	/* Catches errors of operators: the operator has ended, and all that the error passed. */
	{
		.lib = LIB_CXX,
		.symbol = "__cxa_begin_catch",
		.details = AT_SPANS,
		.group = GROUP_OPERATOR,
		.category = CAT_NONE,
		.program = "call_unwound",
		.slide = true,
	},
	/* torch.compile and torch.export run a model's operators on tensors without data. After
	 * each operator they set modes of the framework. Such operators repeat, but are no
	 * steps. */
	{
		.lib = LIB_C10,
		.symbol = "_ZN3c104impl20TorchDispatchModeTLS8set_modeE",
		.details = AT_ALL,
		.group = GROUP_STEP,
		.category = CAT_NONE,
		.program = "tracing_begins",
	},
	/* Errors of users pass through a backward node as exceptions. So only its entry has a
	 * probe, and it ends where the next node begins. */
	{
		.lib = LIB_CPU,
		.symbol = "_ZN5torch8autograd6Engine17evaluate_functionE",
		.details = AT_SPANS,
		.group = GROUP_OPERATOR,
		.category = CAT_BACKWARD_NODE,
		.program = "node_entry",
		.cfg = {.key_reg = 2},
		.loses = "backward nodes",
	},
	/* The same by type: virtual functions, whose `this` is the node. */
	NODE_TYPE(LIB_CPU, "_ZN5torch8autograd*5applyEOSt6vectorI*"),
	NODE_TYPE(LIB_PYTHON, "_ZN5torch8autograd6PyNode5applyEOSt6vectorI"),
	/* autograd.Function written in Python */
	{
		.lib = LIB_PYTHON,
		.symbol = "_ZN12_GLOBAL__N_117THPFunction_applyEP",
		.other_symbol = "_Z17THPFunction_applyP",
		.details = AT_SPANS,
		.group = GROUP_OPERATOR,
		.category = CAT_PYTHON_OP,
		.program = "named_entry",
		.return_program = "call_return",
		.returns_safely = "C API function of autograd",
		.cfg = {.name_source = PT_NAME_CSTR, .name_path = {TP_NAME}, .name_derefs = 1},
		.loses = "autograd.Function operators",
	},
	/* A function or method of TorchScript, named by the last part of its name. */
	{
		.lib = LIB_CPU,
		.symbol = SCRIPT_RUN,
		.details = AT_SPANS,
		.group = GROUP_OPERATOR,
		.category = CAT_REGION,
		.program = "named_entry",
		.leaves = true,
	},
	/* torch.compile: "Torch-Compiled Region: 0/0" and its preparation, with or without a
	 * profiler. (name), (state) */
	{
		.lib = LIB_PYTHON,
		.symbol = "_pytorch_record_function_enter",
		.details = AT_SPANS,
		.group = GROUP_OPERATOR,
		.category = CAT_REGION,
		.program = "range_start",
		.cfg = {.key_reg = PT_KEY_OWN, .name_source = PT_NAME_CSTR},
	},
	{
		.lib = LIB_PYTHON,
		.symbol = "_pytorch_record_function_exit",
		.details = AT_SPANS,
		.group = GROUP_OPERATOR,
		.category = CAT_REGION,
		.program = "range_stop",
		.slide = true,
		.cfg = {.key_reg = PT_KEY_OWN},
	},
	/* Functions that Python calls. */
	{
		.lib = LIB_PYTHON,
		.symbol = "_ZN5torch8autogradL*THPVariable_*EP7_object*",
		.details = AT_OPERATOR,
		.group = GROUP_OPERATOR,
		.category = CAT_OPERATOR,
		.program = "call_entry",
		.shapes_program = "call_entry_pyargs",
		.return_program = "op_return",
		.returns_safely =
			"Python method wrapper: turns every C++ exception into a Python one",
		.name_of = wrapper_name,
		.adjust = wrapper_arguments,
		.pointer_hook = POINTER_HOOK_CALL, /* methods, which Python finds in tables */
		.loses = "operators (--detail inner may show them)",
	},
	/* for x.T and similar: (self, nothing) */
	{
		.lib = LIB_PYTHON,
		.symbol = "_ZN10GetterBaseI*6getterEP*",
		.details = AT_OPERATOR,
		.group = GROUP_OPERATOR,
		.category = CAT_OPERATOR,
		.program = "call_entry",
		.shapes_program = "call_entry_pyargs",
		.return_program = "op_return",
		.returns_safely = "Python attribute: turns every C++ exception into a Python one",
		.name_of = attribute_name,
	},
	/* Tables have this function in place of the wrapper that it calls: operators as in `a +
	 * b`. */
	{
		.lib = LIB_PYTHON,
		.symbol = "_ZN5torch8autograd*TypeError_to_NotImplemented_*THPVariable_*",
		.details = AT_OPERATOR,
		.group = GROUP_OPERATOR,
		.category = CAT_OPERATOR,
		.name_of = aliased_name,
		.alias = true,
	},
	/* The same, found by name. */
	{
		.lib = LIB_PYTHON,
		.symbol = INVOKE_ARRAY,
		.other_symbol = INVOKE "RKSt6vectorI",
		.details = AT_OPERATOR,
		.group = GROUP_OPERATOR,
		.category = CAT_OPERATOR,
		.program = "invoked_entry",
		.leaves = true,
		.name = "torch.ops",
		.adjust = invoke_arguments,
		.min_size = FORWARDER_MAX,
		.loses = "operators called by torch.ops",
	},
	/* Functions for collectives that Python calls, and functions in which it waits for them. */
	COLLECTIVE(LIB_CPU),
	COLLECTIVE(LIB_PYTHON),
	WAIT("_ZN4c10d4Work4waitE"),
	WAIT("_ZN4c10d16ProcessGroupGloo8SendWork4waitE"),
	WAIT("_ZN4c10d16ProcessGroupGloo8RecvWork4waitE"),
	{
		.lib = LIB_CPU,
		.symbol = "_ZN4c10d7Reducer19copy_bucket_to_gradE",
		.details = AT_SPANS,
		.group = GROUP_OPERATOR,
		.category = CAT_OPERATOR,
		.program = "call_entry",
		.leaves = true,
		.name = "torch.distributed.ddp.reducer::copy_bucket_to_grad",
	},
	/* collectives of every backend */
	{
		.lib = LIB_CPU,
		.symbol = "_ZN4c10d4WorkC1EiNS_6OpTypeEPKc",
		.details = AT_ALL,
		.group = GROUP_STEP,
		.category = CAT_COMMUNICATION,
		.program = "async_begin",
	},
	{
		.lib = LIB_CPU,
		.symbol = "_ZN4c10d16ProcessGroupGloo9AsyncWork28recordAsyncWorkProfilingInfoE",
		.details = AT_ALL,
		.group = GROUP_STEP,
		.category = CAT_COMMUNICATION,
		.program = "async_titled",
	},
	{
		.lib = LIB_CPU,
		.symbol = "_ZN4c10d16ProcessGroupGloo9AsyncWork14finishWorkGlooEv",
		.details = AT_ALL,
		.group = GROUP_STEP,
		.category = CAT_COMMUNICATION,
		.program = "async_end",
		.name_prefix = "gloo:",
	},
	{
		.lib = LIB_CPU,
		.symbol = "_ZN4c10d4Work6finishE",
		.other_symbol = "_ZN4c10d4Work14finishAndThrowE",
		.details = AT_ALL,
		.group = GROUP_STEP,
		.category = CAT_COMMUNICATION,
		.program = "async_end",
		.name_prefix = "c10d:",
	},
	/* allocators */
	{
		.lib = LIB_C10,
		.symbol = "_ZN3c1025ProfiledCPUMemoryReporter3NewEPvm",
		.details = AT_ALL,
		.group = GROUP_MEMORY,
		.category = CAT_ALLOCATION,
		.program = "memory_new",
		.slide = true,
		.slide_keep = SITE_RSI | SITE_RDX,
		.memory = true,
		.loses = "host allocations",
	},
	{
		.lib = LIB_C10,
		.symbol = "_ZN3c1025ProfiledCPUMemoryReporter6DeleteEPv",
		.details = AT_ALL,
		.group = GROUP_MEMORY,
		.category = CAT_ALLOCATION,
		.program = "memory_delete",
		.slide = true,
		.slide_keep = SITE_RSI,
		.memory = true,
		.loses = "host frees",
	},
	{
		.lib = LIB_C10,
		.symbol = "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE",
		.details = AT_ALL,
		.group = GROUP_MEMORY,
		.category = CAT_ALLOCATION,
		.program = "memory_report",
		.slide = true,
		.slide_keep = SITE_RDI | SITE_RSI | SITE_RDX | SITE_RCX | SITE_R8,
		.memory = true,
		.loses = "device allocations",
	},
};

static const struct probe_table table = {libs, NULL, LIB_CNT, rows, ARRAY_SIZE(rows)};

static const struct pt_name_rule name_rules[] = {
	{"enumerate(DataLoader)#", 22, PT_CLASS_DATALOADER},
	{"Optimizer.step#", 15, PT_CLASS_OPTIMIZER},
	{"Optimizer.zero_grad#", 20, PT_CLASS_ZERO_GRAD},
	{"ProfilerStep#", 13, PT_CLASS_PROFILER_STEP},
	{"profiler::", 10, PT_CLASS_INTERNAL}, /* calls of record_function itself, which ranges
						  show already */
};

/* ---- recognition ---- */

/* The undefined tensor, by which a process shows the layout of its tensors (torch_layout.h). */
#define UNDEFINED_TENSOR "_ZN3c1019UndefinedTensorImpl10_singletonE"

/* A mapped library may not have run its constructors yet. */
static bool has_undefined_tensor(struct target *t, const struct target_lib *c10)
{
	struct elf_file *elf = target__elf(t, c10);
	struct elf_symbol found;
	uint64_t vtable;

	if (!elf || elf_file__symbol(elf, UNDEFINED_TENSOR, &found) ||
	    target__read(t, c10->base + found.vaddr, &vtable, sizeof(vtable)))
		return true; /* waiting would not change that */
	return vtable != 0;
}

static int pytorch_recognise(struct target *t, struct framework_match *m)
{
	const struct target_lib *cpu = target__find_lib(t, libs[LIB_CPU]);
	const struct target_lib *python = target__find_lib(t, libs[LIB_PYTHON]);
	const struct target_lib *c10 = target__find_lib(t, libs[LIB_C10]);
	const char *unknown;
	bool measured;

	if (!cpu)
		return 0;
	memset(m, 0, sizeof(*m));
	m->framework = &framework_pytorch;
	m->ready = python && c10 && has_undefined_tensor(t, c10);
	unknown = package__text(t, cpu, 2, "version.py", "__version__", m->version,
				sizeof(m->version));
	torch_layout__find(m->version, &measured);
	m->known_version = m->version[0] && measured;
	snprintf(m->why, sizeof(m->why), "maps %s%s; version %s%s%s%s", cpu->path,
		 python ? " and libtorch_python.so" : " (no Python bindings: C++ only)",
		 unknown ? "unknown (" : m->version, unknown ? unknown : "", unknown ? ")" : "",
		 m->known_version
			 ? ""
			 : ", not measured by us: symbols are matched by name, and fields of "
			   "tensors are read only if the undefined tensor shows where they lie");
	return 1;
}

/* ---- where the process keeps what the probes read ---- */

/* An executable has its own copy of each library variable that it names. All code uses that copy
 * (R_X86_64_COPY). */
static uint64_t address_of_variable(struct table_scan *s, unsigned int lib, const char *symbol)
{
	for (size_t i = 0; i < s->t->lib_cnt; i++) {
		const struct target_lib *own = &s->t->libs[i];
		struct elf_file *elf =
			s->t->exe && !strcmp(own->path, s->t->exe) ? target__elf(s->t, own) : NULL;
		struct elf_symbol found;

		if (elf && !elf_file__symbol(elf, symbol, &found) && found.vaddr)
			return own->base + found.vaddr;
	}
	return table_scan__address(s, lib, symbol);
}

/*
 * The layout of the version, if the process's undefined tensor agrees with it. Else the layout of
 * the nearest version that agrees (for a custom build, or a newer version). NULL if none agrees.
 */
static const struct torch_layout *tensor_layout(struct table_scan *s, const char *version)
{
	uint64_t address = address_of_variable(s, LIB_C10, UNDEFINED_TENSOR);
	uint8_t undefined[TORCH_IMPL_BYTES];

	if (!address || target__read(s->t, address, undefined, sizeof(undefined)))
		return NULL;
	return torch_layout__fit(version, undefined);
}

/* A layout that nothing in the process confirms is used for measured versions only. */
static void forget_unconfirmed(struct pt_layout *fields)
{
	fields->argument_size = fields->autograd_node = fields->node_seq = 0;
	fields->scalar_value = 0;
	fields->python_tensor_type = fields->pynode_vtable = 0;
}

/* Free-threaded interpreters have other objects. Since 3.13 an interpreter says whether it is
 * free-threaded. */
static bool objects_known(struct target *t)
{
	const unsigned int minor = target__python_minor(t);
	struct python_layout layout;

	return minor >= 8 && (minor < 13 || !python_layout__of(t, &layout));
}

/* With these types the programs recognise texts and numbers that Python passes. */
static int place_python_types(struct target *t, struct pt_layout *fields, struct probe_plan *plan)
{
	const unsigned int minor = target__python_minor(t);

	if (!t->python)
		return 0;
	if (!objects_known(t)) {
		fields->python_tensor_type = fields->pynode_vtable = 0;
		return probe_plan__missing(plan,
					   "Python %s: its objects are not known; not shown: "
					   "shapes and values that it passes, names of nodes "
					   "written in it",
					   t->python);
	}
	fields->python_str = target__python_str_head(t);
	fields->python_long_tag = minor >= 12;
	fields->python_tuple = minor >= 14 ? 32 : 24;
	fields->python_float_type = target__python_symbol(t, "PyFloat_Type");
	fields->python_bool_type =
		fields->python_float_type ? target__python_symbol(t, "PyBool_Type") : 0;
	return 0;
}

/* Autograd counts the nodes that a thread makes, which is the same number in each step of one
 * graph, and all backward passes. */
static struct pt_counters counters(struct table_scan *s)
{
	uint64_t peek = table_scan__address(s, LIB_CPU, "_ZN2at15sequence_number4peekEv");
	struct pt_counters c = {0};
	struct thread_local_use use;
	uint8_t code[64];
	uint64_t index[2];

	if (!peek || target__read(s->t, peek, code, sizeof(code)) ||
	    thread_local__use(code, sizeof(code), &use) ||
	    target__read(s->t, peek + (uint64_t)use.index, index, sizeof(index)))
		return c;
	c.module = index[0];
	c.offset = index[1] + (uint64_t)(int64_t)use.shift;
	c.common =
		table_scan__address(s, LIB_CPU, "_ZN5torch8autograd12_GLOBAL__N_113graph_task_idE");
	return c;
}

static int plan_layout(struct table_scan *s, const char *version,
		       const struct torch_layout *tensors)
{
	struct pt_layout *fields = &s->plan->layout;
	bool measured;
	const struct torch_layout *layout = torch_layout__find(version, &measured);
	uint64_t vtable;
	int err;

	measured = measured && tensors && tensors == layout;
	*fields = tensors ? tensors->fields : layout->fields;
	if (tensors)
		torch_layout__element_bytes(tensors, fields->element_bytes);
	s->plan->dtypes = (tensors ? tensors : layout)->dtypes;
	/* After offset-to-top and type_info come the virtual functions. */
	vtable = table_scan__address(s, LIB_PYTHON, "_ZTVN5torch8autograd6PyNodeE");
	fields->pynode_vtable = vtable ? vtable + 16 : 0;
	fields->python_tensor_type = table_scan__address(s, LIB_PYTHON, "_ZL15THPVariableType");
	if (!fields->python_tensor_type)
		fields->python_tensor_type = table_scan__address(s, LIB_PYTHON, "THPVariableType");
	fields->list_values = layout->constant_string; /* both follow the reference counts */
	fields->counters = counters(s);
	err = place_python_types(s->t, fields, s->plan);
	if (!err && measured)
		s->plan->node_number =
			table_scan__address(s, LIB_CPU, "_ZN2at15sequence_number4peekEv");
	if (err || measured)
		return err;
	forget_unconfirmed(fields);
	probe_plan__forget_pointers(s->plan);
	return probe_plan__missing(
		s->plan,
		"PyTorch %s: %s; not shown: sequence numbers, names of nodes written in Python, %s",
		*version ? version : "of unknown version",
		tensors ? "not measured, though its tensors are as in a version that was"
			: "its undefined tensor is that of no measured version",
		tensors ? "shapes but those at --detail inner of operators not called by name"
			: "shapes");
}

/* GraphFunction: after its vtable pointer comes the QualifiedName {vector of atoms, whole, prefix,
 * last part}. Its std::string is the one of all libraries of the wheel. */
static void place_names(struct probe_plan *plan)
{
	enum pt_name_source abi = torch_dispatch__string_abi(plan);
	uint32_t string = abi == PT_NAME_COW ? 8 : 32;

	for (size_t i = 0; i < plan->cnt; i++) {
		struct pt_probe_cfg *cfg = &plan->probes[i].cfg;

		if (!strncmp(plan->probes[i].symbol, INVOKE, strlen(INVOKE)))
			cfg->name_source = abi;
		if (strncmp(plan->probes[i].symbol, SCRIPT_RUN, strlen(SCRIPT_RUN)) != 0)
			continue;
		cfg->name_source = abi;
		cfg->name_path[0] = 8 + 24 + 2 * string;
	}
}

static int pytorch_plan(struct target *t, const struct framework_match *m,
			const struct plan_opts *opts, struct probe_plan *plan)
{
	const struct torch_layout *tensors = NULL;
	struct plan_opts inner = *opts;
	struct table_scan scan;
	int err = probe_table__plan(&table, t, opts, plan, &scan);

	if (!err) {
		tensors = tensor_layout(&scan, m->version);
		err = plan_layout(&scan, m->version, tensors);
	}
	inner.record_shapes = opts->record_shapes && tensors;
	scan.opts = &inner;
	place_names(plan);
	if (!err && opts->detail == DETAIL_INNER)
		err = torch_dispatch__plan(&scan, LIB_CPU, LIB_PYTHON);
	if (err)
		return err;
	memcpy(plan->name_rules, name_rules, sizeof(name_rules));
	plan->name_rule_cnt = ARRAY_SIZE(name_rules);
	return 0;
}

/* The name that torch.profiler gives to a node's span. */
static char *node_span_name(const char *type_info, const char *type_obj_name)
{
	auto_free char *node = torch_node_name(type_info, type_obj_name);
	char *text;

	if (!node || asprintf(&text, NODE_PREFIX "%s", node) < 0)
		return NULL;
	return text;
}

const struct framework framework_pytorch = {
	.name = "pytorch",
	.title = "PyTorch",
	.library = "libtorch_cpu.so",
	.recognise = pytorch_recognise,
	.plan = pytorch_plan,
	.node_name = node_span_name,
	.operator_prefix = "aten::",
	.operator_function = "libtorch_cpu.so:at::_ops::%s::call",
	.runs_in_caller = true,
	/* 5 us while a hit is 3, and 10 while it is 5 or 6: a CNN and a transformer in
	 * bench/overhead. */
	.peer_hits_per_call = 1.6,
	.async_name = torch_collective__name,
};
