// SPDX-License-Identifier: BSD-2-Clause
/*
 * MindSpore: what shows its steps, phases, operators and memory, by symbol. Measured on 2.10.0 for
 * CPUs. Its functions let C++ exceptions pass, so none has a return probe: those that end a phase
 * are seen at the check of their stack that each normal return passes.
 */
#include "frameworks/probe_table.h"
#include "attach/site.h"
#include "common/util.h"
#include <ctype.h>
#include <string.h>

extern const struct framework framework_mindspore;

enum mindspore_lib { LIB_CPU, LIB_BACKEND, LIB_PYNATIVE, LIB_DATASET, LIB_FRONTEND, LIB_CNT };

static const char *const libs[] = {
	[LIB_CPU] = "libmindspore_cpu.so",	     [LIB_BACKEND] = "libmindspore_ms_backend.so",
	[LIB_PYNATIVE] = "libmindspore_pynative.so", [LIB_DATASET] = "_c_dataengine*.so",
	[LIB_FRONTEND] = "libmindspore_frontend.so",
};

/* CPython, 3.3 to 3.13: a compact ASCII str has its text behind a header of 48 bytes. */
#define PYTHON_STR 48

static const struct probe_row rows[] = {
	{
		.lib = LIB_DATASET,
		.symbol = "_ZN9mindspore7dataset16IteratorConsumer15GetNextAsVectorE",
		.details = AT_ALL,
		.group = GROUP_STEP,
		.category = CAT_DATALOADER,
		.program = "phase_entry",
		.site_program = "call_site",
		.name = "IteratorConsumer::GetNextAsVector",
		.cfg = {.code = PT_CLASS_DATALOADER},
		.loses = "Dataloader",
	},
	{
		.lib = LIB_DATASET,
		.symbol = "_ZN9mindspore7dataset16IteratorConsumer12GetNextAsMapE",
		.details = AT_ALL,
		.group = GROUP_STEP,
		.category = CAT_DATALOADER,
		.program = "phase_entry",
		.site_program = "call_site",
		.name = "IteratorConsumer::GetNextAsMap",
		.cfg = {.code = PT_CLASS_DATALOADER},
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
	/* A compiled graph as Python calls it: all of a step but its batch, or what was decorated
	   with jit, as the optimizers are. (result, this, arguments, phase) */
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
			.name_source = PT_NAME_CSTR,
			.name_path = {0, PYTHON_STR},
			.name_derefs = 1},
		.loses = "runs of compiled graphs, with them Optimization",
	},
	/* The same where it is executed: on another thread in PyNative mode. */
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
	/* Each kernel of each mode: goes on by a jump, so it ends where its callers go on. */
	{
		.lib = LIB_CPU,
		.symbol = "_ZN9mindspore6kernel18NativeCpuKernelMod6LaunchE*_Pv",
		.details = AT_SPANS,
		.group = GROUP_OPERATOR,
		.category = CAT_OPERATOR,
		.program = "named_entry",
		.cfg = {.name_source = PT_NAME_COW, .name_path = {8}, .note_returns = 1},
		.slide = true,
		.slide_keep = SITE_RDI,
		.loses = "operators",
	},
};

static const struct probe_table table = {libs, LIB_CNT, rows, ARRAY_SIZE(rows)};

/* The phase of a graph begins with where it was defined. */
static const struct pt_name_rule name_rules[] = {
	{"mindspore.nn.optim.", 19, PT_CLASS_OPTIMIZER},
};

/* ---- operators by name ---- */

/* Those of mindspore.nn.optim and of mindspore.ops that update a parameter in place. */
static bool updates_parameters(const char *op)
{
	static const char *const prefixes[] = {
		"Apply",	 "SparseApply",		  "FusedSparse",
		"FusedCastAdam", "FusedWeightScaleApply", "FusedScaleApply"};
	static const char *const names[] = {
		"Adam", "AdamWeightDecay", "AdamNoUpdateParam", "SGD",
		"Lamb", "AdamApplyOne",	   "ApplyMomentum",	"LARSUpdate"};

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (!strncmp(op, prefixes[i], strlen(prefixes[i])))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(op, names[i]))
			return true;
	return false;
}

static bool computes_gradients(const char *op)
{
	return strstr(op, "Grad") || strstr(op, "Backprop");
}

/* "mindspore.nn.optim.adam.construct./.../adam.py.98...", "train.1795306678623995392.1401...": a
 * graph's name is followed by the file and the line, the time and an address. */
static void shorten(char *name)
{
	for (char *at = strchr(name, '.'); at; at = strchr(at + 1, '.')) {
		if (at[1] != '/' && !isdigit((unsigned char)at[1]))
			continue;
		*at = '\0';
		return;
	}
}

/* ---- recognition ---- */

/* .../mindspore/lib/libmindspore_core.so -> .../mindspore/version.py, whose one line is
 * __version__ = '2.10.0' */
static void read_version(const struct target *t, const struct target_lib *lib, char *out,
			 size_t size)
{
	char path[4096], *slash;
	auto_free char *text = NULL;
	const char *at;

	snprintf(path, sizeof(path), "%s", lib->path);
	for (int up = 0; up < 2; up++) {
		slash = strrchr(path, '/');
		if (!slash)
			return;
		*slash = '\0';
	}
	strncat(path, "/version.py", sizeof(path) - strlen(path) - 1);
	text = target__read_file(t, path, NULL);
	at = text ? strpbrk(text, "'\"") : NULL;
	if (at)
		snprintf(out, size, "%.*s", (int)strcspn(at + 1, "'\"\n"), at + 1);
}

static int mindspore_recognise(struct target *t, struct framework_match *m)
{
	const struct target_lib *backend = target__find_lib(t, libs[LIB_BACKEND]);
	const struct target_lib *cpu = target__find_lib(t, libs[LIB_CPU]);

	if (!backend)
		return 0;
	memset(m, 0, sizeof(*m));
	m->framework = &framework_mindspore;
	m->ready = cpu && target__find_lib(t, libs[LIB_DATASET]);
	read_version(t, backend, m->version, sizeof(m->version));
	m->known_version = !strncmp(m->version, "2.10.", strlen("2.10."));
	snprintf(m->why, sizeof(m->why), "maps %s; version %s%s", backend->path,
		 m->version[0] ? m->version : "unknown (no version.py beside it)",
		 m->known_version ? ""
				  : ", not measured by us: symbols are matched by name, and "
				    "names of operators are read only where they look sound");
	return 1;
}

static int mindspore_plan(struct target *t, const struct framework_match *m,
			  const struct plan_opts *opts, struct probe_plan *plan)
{
	struct table_scan scan;

	memcpy(plan->name_rules, name_rules, sizeof(name_rules));
	plan->name_rule_cnt = ARRAY_SIZE(name_rules);
	return probe_table__plan(&table, t, opts, plan, &scan);
}

const struct framework framework_mindspore = {
	.name = "mindspore",
	.title = "MindSpore",
	.recognise = mindspore_recognise,
	.plan = mindspore_plan,
	.updates_parameters = updates_parameters,
	.computes_gradients = computes_gradients,
	.shorten = shorten,
};
