// SPDX-License-Identifier: BSD-2-Clause
/* Calls into the simulated driver and runtime: correlation ids, tools, injected failures. */
#include "engine.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct failure {
	char name[64];
	int64_t after, times;
	int error;
	_Atomic int64_t seen;
};
static struct failure failures[16];
static int failure_cnt;
static uint64_t sticky_ns = UINT64_MAX;
static int sticky_error;

static _Atomic uint32_t correlations;
static const struct sim_tool *_Atomic current_tool;
static atomic_int injection; /* 0 not yet, 1 in progress or done */
static bool forked;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static __thread struct sim_thread thread;

struct sim_thread *sim_thread(void)
{
	if (!thread.tid)
		thread.tid = (int32_t)syscall(SYS_gettid);
	return &thread;
}

bool sim_forked(void)
{
	return forked;
}

void sim_tool_set(const struct sim_tool *tool)
{
	const struct sim_tool *before = atomic_exchange(&current_tool, tool);

	if (!before != !tool)
		sim_truth_note("tool", "%s", tool ? "attached" : "detached");
}

const struct sim_tool *sim_tool(void)
{
	return atomic_load_explicit(&current_tool, memory_order_acquire);
}

/* SIMGPU_FAIL=cudaMalloc:3:2,cuLaunchKernel:100:719:1: name, calls that succeed, error, then how
 * many fail (default 1, 0: all that follow). */
static void read_failures(void)
{
	const char *text = getenv("SIMGPU_FAIL");
	char *copy = text ? strdup(text) : NULL, *rest = NULL, *word;

	for (word = copy ? strtok_r(copy, ",", &rest) : NULL; word && failure_cnt < 16;
	     word = strtok_r(NULL, ",", &rest)) {
		struct failure *f = &failures[failure_cnt];
		long after = 0, times = 1;

		f->error = SIM_OUT_OF_MEMORY;
		if (sscanf(word, "%63[^:]:%ld:%d:%ld", f->name, &after, &f->error, &times) < 1)
			continue;
		f->after = after;
		f->times = times ? times : INT64_MAX;
		failure_cnt++;
	}
	free(copy);
	text = getenv("SIMGPU_STICKY_AT_MS");
	if (text) {
		sticky_ns = sim_now() + (uint64_t)(atof(text) * 1e6);
		text = getenv("SIMGPU_STICKY_ERR");
		sticky_error = text ? atoi(text) : 700;
	}
}

int sim_break(int error)
{
	sticky_error = error;
	sticky_ns = sim_now();
	return error;
}

static int injected_failure(const char *name)
{
	if (sim_now() >= sticky_ns && strcmp(name, "cudaGetDevice") &&
	    strcmp(name, "cudaSetDevice"))
		return sticky_error;
	for (int i = 0; i < failure_cnt; i++) {
		struct failure *f = &failures[i];
		int64_t seen;

		if (strcmp(name, f->name))
			continue;
		seen = atomic_fetch_add(&f->seen, 1);
		if (seen >= f->after && seen - f->after < f->times)
			return f->error;
	}
	return 0;
}

static void at_fork_in_child(void)
{
	sim_sched_forked();
	sim_truth_forked();
	atomic_store(&current_tool, NULL);
	forked = sim_context_active(-1);
	thread = (struct sim_thread){0};
}

static void init(void)
{
	sim_config_read();
	read_failures();
	sim_duration_read_rules();
	sim_sched_init();
	pthread_atfork(NULL, NULL, at_fork_in_child);
}

void sim_init(void)
{
	pthread_once(&once, init);
}

/* As the real driver: the library named by CUDA_INJECTION64_PATH is loaded at the first use. */
static void load_injection(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	int (*initialize)(void);
	void *library;

	if (atomic_exchange(&injection, 1) || !path || !*path)
		return;
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	initialize = library ? (int (*)(void))dlsym(library, "InitializeInjection") : NULL;
	if (initialize)
		initialize();
	else
		fprintf(stderr, "simgpu: cannot inject %s: %s\n", path, dlerror());
}

int sim_enter(struct sim_frame *frame)
{
	struct sim_thread *t = sim_thread();
	const struct sim_tool *tool;

	sim_init();
	if (!atomic_load_explicit(&injection, memory_order_relaxed))
		load_injection();
	frame->outermost = t->depth++ == 0;
	if (frame->outermost) {
		t->correlation = atomic_fetch_add(&correlations, 1) + 1;
		t->api = frame->name;
	}
	frame->correlation = t->correlation;
	if (sim_config.truth_api)
		frame->truth_ns = sim_now();
	tool = sim_tool();
	if (tool && tool->enter)
		tool->enter(frame);
	if (sim_config.verbose > 2)
		fprintf(stderr, "simgpu: > %s\n", frame->name);
	if (forked)
		return SIM_NOT_INITIALIZED;
	return failure_cnt || sticky_error ? injected_failure(frame->name) : SIM_OK;
}

int sim_leave(struct sim_frame *frame, int result)
{
	struct sim_thread *t = sim_thread();
	const struct sim_tool *tool = sim_tool();

	frame->result = result;
	if (result && frame->domain == SIM_RUNTIME)
		t->last_error = result;
	if (result && sim_config.verbose > 1)
		fprintf(stderr, "simgpu: %s: %d\n", frame->name, result);
	if (tool && tool->leave)
		tool->leave(frame);
	if (sim_config.truth_api)
		sim_truth_call(frame, sim_now());
	if (!--t->depth)
		t->api = NULL;
	return result;
}

int sim_unsupported(const char *name, int error)
{
	static const char *seen[2048];
	static int cnt;
	bool is_new = true;

	sim_init();
	if (!sim_config.log_unsupported)
		return error;
	sim_lock();
	for (int i = 0; i < cnt; i++)
		is_new &= seen[i] != name;
	if (is_new && cnt < 2048)
		seen[cnt++] = name;
	sim_unlock();
	if (is_new)
		fprintf(stderr, "simgpu: not simulated: %s\n", name);
	return error;
}

/* Symbols that cuGetProcAddress() and its like hand out. */
void *sim_entry_find(const char *name)
{
	size_t low = 0, high = 0;

	while (sim_entries[high].name)
		high++;
	while (low < high) {
		size_t middle = (low + high) / 2;
		int order = strcmp(name, sim_entries[middle].name);

		if (!order)
			return sim_entries[middle].function;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}
