// SPDX-License-Identifier: BSD-2-Clause
#include "capture/window.h"
#include "common/directory.h"
#include "common/err.h"
#include "capture/message_table.h"
#include "common/out_file.h"
#include "common/util.h"
#include "recording/sink.h"
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>

/* ---- path ---- */

static void default_name(const struct capture_opts *opts, char *out, size_t size)
{
	char host[256] = "host";

	gethostname(host, sizeof(host) - 1);
	snprintf(out, size, "%s_%d.ptrec", host, opts->pid);
}

void window__path(const struct capture_opts *opts, uint32_t index, char *out, size_t size)
{
	char base[PATH_MAX], name[512], *dot, *slash;
	struct stat st;

	default_name(opts, name, sizeof(name));
	if (!opts->output)
		snprintf(base, sizeof(base), "%s", name);
	else if (!stat(opts->output, &st) && S_ISDIR(st.st_mode))
		snprintf(base, sizeof(base), "%s%s%s", opts->output,
			 opts->output[strlen(opts->output) - 1] == '/' ? "" : "/", name);
	else
		snprintf(base, sizeof(base), "%s", opts->output);
	if (!index) {
		snprintf(out, size, "%s", base);
		return;
	}
	slash = strrchr(base, '/');
	dot = strrchr(slash ? slash : base, '.');
	if (!dot)
		dot = base + strlen(base);
	snprintf(out, size, "%.*s.%u%s", (int)(dot - base), base, index, dot);
}

/* ---- metadata ---- */

static json_t *strings(const char *const *list)
{
	json_t *array = json_array();

	for (size_t i = 0; list && list[i]; i++)
		json_array_append_new(array, json_string_nocheck(list[i]));
	return array;
}

static json_t *host_json(void)
{
	struct utsname u;
	char host[256] = "";

	uname(&u);
	gethostname(host, sizeof(host) - 1);
	return json_pack("{s:s, s:s, s:s, s:i}", "name", host, "kernel", u.release, "arch",
			 u.machine, "cpus", (int)sysconf(_SC_NPROCESSORS_ONLN));
}

static json_t *runtime_json(const struct window_facts *f)
{
	const struct framework_match *m = f->match;
	json_t *runtime = json_object();

	if (m->framework) {
		json_object_set_new(runtime, "framework", json_string(m->framework->name));
		json_object_set_new(runtime, "title", json_string(m->framework->title));
		json_object_set_new(runtime, "version", json_string(m->version));
		json_object_set_new(runtime, "why", json_string(m->why));
		json_object_set_new(runtime, "known_version", json_boolean(m->known_version));
		json_object_set_new(runtime, "runs_in_caller",
				    json_boolean(m->framework->runs_in_caller));
	}
	if (f->target->python)
		json_object_set_new(runtime, "python", json_string(f->target->python));
	return runtime;
}

static json_t *scopes_json(const struct framework_scope *scopes)
{
	json_t *list = json_array();

	for (; scopes->prefix; scopes++)
		json_array_append_new(list, json_pack("[s,s]", scopes->prefix, scopes->phase));
	return list;
}

static json_t *cost_json(const struct probe_cost *c)
{
	json_t *json = json_pack(
		"{s:I, s:I, s:I, s:I, s:I, s:I}", "entry_ns", (json_int_t)c->bare.entry_ns,
		"stepped_ns", (json_int_t)c->bare.stepped_ns, "entry_return_ns",
		(json_int_t)c->bare.entry_return_ns, "span_inside_ns",
		(json_int_t)c->span_inside_ns, "span_total_ns", (json_int_t)c->span_total_ns,
		"cold_hit_ns", (json_int_t)c->cold_hit_ns);

	if (c->watch_slows > 0)
		json_object_set_new(json, "watch_slows", json_real(c->watch_slows));
	return json;
}

static void put_step_rule(const struct window_facts *f, json_t *object)
{
	if (f->opts->no_steps)
		json_object_set_new(
			object, "steps",
			json_pack("{s:s}", "explain", "none was looked for (--no-steps)"));
	else if (f->rule->boundary)
		json_object_set_new(object, "steps",
				    json_pack("{s:s, s:s+}", "source", f->rule->source, "explain",
					      f->rule->explain, f->counted));
}

static json_t *meta_json(const struct window_facts *f, uint32_t index)
{
	static const char *const detail[] = {"phase", "operator", "inner"};
	json_t *meta = json_object();

	/* target__json gives "process" and "rank". */
	json_object_update_new(meta, target__json(f->target));
	json_object_set_new(
		meta, "tool",
		json_pack("{s:s, s:s}", "name", "proftrace", "version", PROFTRACE_VERSION));
	json_object_set_new(meta, "host", host_json());
	json_object_set_new(meta, "runtime", runtime_json(f));
	json_object_set_new(meta, "clock",
			    json_pack("{s:I, s:I}", "monotonic_ns",
				      (json_int_t)clock__monotonic_ns(), "realtime_ns",
				      (json_int_t)clock__ns(CLOCK_REALTIME)));
	json_object_set_new(meta, "command", strings(f->opts->command));
	json_object_set_new(meta, "detail",
			    json_string(f->opts->timer_only ? "timer" : detail[f->opts->detail]));
	if (f->opts->detail == DETAIL_OPERATOR && !f->opts->no_prune && !f->opts->timer_only)
		json_object_set_new(meta, "max_overhead", json_real(f->opts->max_overhead));
	json_object_set_new(meta, "record_shapes", json_boolean(f->opts->record_shapes));
	json_object_set_new(meta, "with_stack", json_boolean(f->plan->layout.stacks.wanted));
	json_object_set_new(meta, "record_values", json_boolean(f->opts->record_shapes));
	json_object_set_new(meta, "dtypes", strings(f->plan->dtypes));
	if (f->match->framework && f->match->framework->scopes)
		json_object_set_new(meta, "scopes", scopes_json(f->match->framework->scopes));
	json_object_set_new(meta, "window", json_pack("{s:i}", "index", (int)index));
	put_step_rule(f, meta); /* for a file that is cut off */
	if (f->device_source)
		json_object_set_new(meta, "device_source", json_string(f->device_source));
	json_object_set_new(meta, "probe_cost", cost_json(&f->cost));
	return meta;
}

static int open_file(struct window *w, const struct capture_opts *opts, struct sink *sink)
{
	int err = directory__make(opts->output);

	window__path(opts, w->index, w->path, sizeof(w->path));
	return err ? err : sink__open_file(sink, w->path);
}

static int open_memory(struct window *w, struct sink *sink)
{
	int err;

	w->memory = memfd_create("recording", MFD_CLOEXEC);
	if (w->memory < 0)
		return err__set(-errno, MESSAGE_MEMORY_RECORDING_NOT_MADE, strerror(errno));
	snprintf(w->path, sizeof(w->path), "/proc/self/fd/%d", w->memory);
	err = sink__open_memory(sink, w->memory, "in memory");
	if (err)
		window__forget(w);
	return err;
}

void window__forget(struct window *w)
{
	if (w->memory >= 0)
		close(w->memory);
	else
		out_file__remove(w->path);
	w->memory = -1;
}

int window__open(struct window *w, const struct window_facts *facts, uint32_t index)
{
	json_t *meta = meta_json(facts, index);
	struct sink sink;
	int err;

	memset(w, 0, sizeof(*w));
	w->index = index;
	w->memory = -1;
	err = facts->opts->in_memory ? open_memory(w, &sink) : open_file(w, facts->opts, &sink);
	if (!err)
		err = recording_writer__begin(&sink, meta, &w->writer);
	json_decref(meta);
	return err;
}

/* ---- summary ---- */

static json_t *missing_json(const struct probe_plan *plan)
{
	json_t *array = json_array();

	for (size_t i = 0; i < plan->missing_cnt; i++)
		json_array_append_new(array, json_string(plan->missing[i]));
	return array;
}

int window__close(struct window *w, const struct window_facts *facts, json_t *summary)
{
	struct recording_writer *writer = w->writer;
	int err;

	json_object_set_new(summary, "windows",
			    json_pack("[{s:i, s:I, s:I, s:I, s:I}]", "index", (int)w->index,
				      "first_step", (json_int_t)w->first_step, "end_step",
				      (json_int_t)w->end_step, "begin_ns", (json_int_t)w->open_ns,
				      "end_ns", (json_int_t)w->close_ns));
	put_step_rule(facts, summary);
	json_object_set_new(summary, "missing", missing_json(facts->plan));
	w->writer = NULL;
	err = recording_writer__close(writer, summary);
	json_decref(summary);
	return err;
}
