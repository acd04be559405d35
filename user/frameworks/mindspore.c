// SPDX-License-Identifier: BSD-2-Clause
/*
 * MindSpore: what shows its steps, phases, operators and memory, by symbol. Measured on 2.10.0 for
 * CPUs. Its functions let C++ exceptions pass, so none has a return probe: those that end a phase
 * are seen at the check of their stack that each normal return passes.
 */
#include "frameworks/probe_table.h"
#include "attach/site.h"
#include "common/util.h"
#include <string.h>

extern const struct framework framework_mindspore;

enum mindspore_lib { LIB_CPU, LIB_BACKEND, LIB_PYNATIVE, LIB_DATASET, LIB_PROFILER, LIB_CNT };

static const char *const libs[] = {
	[LIB_CPU] = "libmindspore_cpu.so",	     [LIB_BACKEND] = "libmindspore_ms_backend.so",
	[LIB_PYNATIVE] = "libmindspore_pynative.so", [LIB_DATASET] = "_c_dataengine*.so",
	[LIB_PROFILER] = "libmindspore_profiler.so",
};

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
	/* A compiled graph: all of a step but its batch, or what was decorated with jit. */
	{
		.lib = LIB_BACKEND,
		.symbol = "_ZN9mindspore7runtime14GraphScheduler3RunEP",
		.details = AT_ALL,
		.group = GROUP_STEP,
		.category = CAT_SCRIPT,
		.program = "phase_entry",
		.site_program = "call_site",
		.name = "RunGraph",
		.cfg = {.code = PT_CLASS_GRAPH},
		.loses = "runs of compiled graphs",
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

	return probe_table__plan(&table, t, opts, plan, &scan);
}

const struct framework framework_mindspore = {
	.name = "mindspore",
	.title = "MindSpore",
	.recognise = mindspore_recognise,
	.plan = mindspore_plan,
};
