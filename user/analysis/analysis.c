// SPDX-License-Identifier: BSD-2-Clause
/* Sums that more than one table needs, made in one pass over the recording. */
#include <stdlib.h>
#include <string.h>
#include "analysis/analysis.h"
#include "common/util.h"

uint32_t analysis__main_pid(const struct recording *r)
{
	json_int_t pid = json_integer_value(
		json_object_get(json_object_get(recording__meta(r), "process"), "pid"));

	return pid > 0 && pid <= INT32_MAX ? (uint32_t)pid : 0;
}

bool analysis__is_main(const struct analysis *a, const struct track *t)
{
	return t->kind == TRACK_THREAD && (!a->main_pid || t->pid == a->main_pid);
}

bool analysis__is_collective(const struct recording *r, const struct event *e)
{
	const struct name *n = e->name ? recording__name(r, e->name) : NULL;

	return e->type == EVENT_ASYNC && n && n->category == CAT_COMMUNICATION;
}

static struct stretch recorded_window(const struct recording *r)
{
	const json_t *w = json_array_get(json_object_get(recording__summary(r), "windows"), 0);
	json_int_t begin = json_integer_value(json_object_get(w, "begin_ns"));
	json_int_t end = json_integer_value(json_object_get(w, "end_ns"));

	if (begin < 0 || end <= begin)
		return (struct stretch){0};
	return (struct stretch){(uint64_t)begin, (uint64_t)end};
}

static void close_calls(struct analysis *a)
{
	for (size_t i = 0; i < a->call_cnt; i++) {
		const struct phase_call *c = &a->calls[i];

		stat__add_partly(&a->phases[c->kind], false, c->gpu_known, c->cpu_ns, c->gpu_ns);
	}
	a->call_cnt = 0;
}

/* The latest of the first cnt calls that is of that kind, or NULL. */
static struct phase_call *latest_call(struct analysis *a, enum span_kind kind, size_t cnt)
{
	while (cnt-- > 0)
		if (a->calls[cnt].kind == kind)
			return &a->calls[cnt];
	return NULL;
}

/* How many calls began at or before ts_ns. */
static size_t begun_calls(const struct analysis *a, uint64_t ts_ns)
{
	size_t low = 0, high = a->call_cnt;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (a->calls[mid].begin_ns <= ts_ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static int add_phase(struct analysis *a, const struct span *s)
{
	const struct phase_call call = {s->kind, s->ev.ts_ns, s->cpu_ns, s->kernel_ns,
					coverage__knows(&a->coverage, s->ev.ts_ns + s->ev.dur_ns)};
	struct phase_call *before =
		span__continues(s) ? latest_call(a, s->kind, a->call_cnt) : NULL;

	if (!before)
		return ARRAY_PUSH(a->calls, a->call_cnt, a->call_cap, call);
	before->cpu_ns += call.cpu_ns;
	before->gpu_ns += call.gpu_ns;
	before->gpu_known &= call.gpu_known;
	return 0;
}

static int add_phases(struct analysis *a, const struct span *s)
{
	int err = 0;

	for (; s && !err; s = s->next_sibling)
		err = span_kind__is_phase(s->kind) ? add_phase(a, s)
						   : add_phases(a, s->first_child);
	return err;
}

/* Counts a kernel by whether an engine's execution launched it. */
static void count_execution(struct analysis *a, const struct span *device)
{
	const struct span *s = device->launch;

	while (s && s->kind != KIND_EXECUTION)
		s = s->parent;
	*(s ? &a->executed_ns : &a->not_executed_ns) += device->kernel_ns;
	if (s && s->phase == KIND_OTHER)
		a->of_no_call_ns += device->kernel_ns;
}

/* The call that was under way. An engine may run what a step asked for after it, so the latest call
 * of the step comes second. NULL: the step has no such call. */
static struct phase_call *call_of_launch(struct analysis *a, enum span_kind phase, uint64_t ts_ns)
{
	struct phase_call *c = latest_call(a, phase, begun_calls(a, ts_ns));

	return c ? c : latest_call(a, phase, a->call_cnt);
}

/* A launch by another thread during a phase counts for the phase's call that was under way. */
static void add_launches(struct analysis *a, const struct span *device, const struct step *step,
			 uint64_t *gpu_ns)
{
	for (; device; device = device->next_sibling) {
		const struct span *launch = device->launch;
		struct phase_call *c = NULL;

		if (a->engine_launches)
			count_execution(a, device);
		*gpu_ns += device->kernel_ns;
		a->step_general_ns += device->device_ns;
		if (launch && launch->ev.track == step->track && span_kind__is_phase(device->phase))
			continue; /* the phase has it already */
		if (launch && span_kind__is_phase(device->phase))
			c = call_of_launch(a, device->phase, launch->ev.ts_ns);
		*(c ? &c->gpu_ns : &a->others_gpu_ns) += device->kernel_ns;
	}
}

static int add_step(struct analysis *a, const struct batch *b)
{
	uint64_t gpu_ns = 0;
	int err = 0;

	if (!a->steps.calls) /* before the first step a phase belongs to none */
		memset(a->phases, 0, sizeof(a->phases));
	for (size_t i = 0; i < b->track_cnt && !err; i++)
		if (b->tracks[i].track->id == b->step->track)
			err = add_phases(a, b->tracks[i].roots);
	for (size_t i = 0; i < b->track_cnt; i++)
		if (b->tracks[i].track->kind == TRACK_DEVICE)
			add_launches(a, b->tracks[i].roots, b->step, &gpu_ns);
	if (!a->steps.calls)
		a->first_step = b->step->index;
	a->last_step = b->step->index;
	coverage__add_step(&a->coverage, b->step);
	if (!err)
		err = whole_time__add(&a->whole, b->step);
	stat__add_partly(&a->steps, false,
			 coverage__knows(&a->coverage, b->step->ts_ns + b->step->dur_ns),
			 b->step->cpu_ns, gpu_ns);
	return err;
}

static void widen(struct analysis *a, uint64_t begin, uint64_t end)
{
	if (!a->last_ns || begin < a->first_ns)
		a->first_ns = begin;
	if (end > a->last_ns)
		a->last_ns = end;
}

#define FEW_KERNELS 0.1 /* of the time of all kernels */

bool analysis__callers_unknown(const struct analysis *a)
{
	const uint64_t all_ns = a->executed_ns + a->not_executed_ns;

	return a->engine_launches &&
	       (!a->executed_ns || (double)a->not_executed_ns > FEW_KERNELS * (double)all_ns);
}

static bool engine_launches(const struct recording *r)
{
	const json_t *runtime = json_object_get(recording__meta(r), "runtime");
	const char *framework = json_string_value(json_object_get(runtime, "framework"));

	return framework && !strcmp(framework, "mxnet");
}

int analysis__begin(struct analysis *a, const struct recording *r, const struct report_opts *opts)
{
	*a = (struct analysis){
		.r = r,
		.opts = opts,
		.main_pid = analysis__main_pid(r),
		.timer_only = recording__is_timer_only(r),
		.coverage = coverage__of(r),
		.window = recorded_window(r),
	};
	for (uint32_t id = 1; id <= recording__track_cnt(r); id++) {
		const struct track *t = recording__track(r, id);

		a->has_device |= t && t->kind == TRACK_DEVICE;
	}
	a->engine_launches = a->has_device && engine_launches(r);
	a->has_executions = a->engine_launches && recording__has_category(r, CAT_EXECUTION);
	return ready_times__load(a) ? -ENOMEM : device_infos__load(r, &a->devices);
}

void analysis__end(struct analysis *a)
{
	device_feed__end(a);
	device_infos__free(&a->devices);
	whole_time__free(&a->whole);
	ready_times__free(&a->ready);
	gpu_wait__free(a);
	free(a->calls);
}

int analysis__visit(struct analysis *a, const struct batch *b)
{
	int err = 0;

	a->memory_cnt += b->memory_cnt;
	if (b->step) {
		widen(a, b->step->ts_ns, b->step->ts_ns + b->step->dur_ns);
		a->step_track = b->step->track;
	}
	for (size_t i = 0; i < b->track_cnt; i++) {
		const struct track_batch *t = &b->tracks[i];

		a->outside_steps |= !b->step && t->roots && analysis__is_main(a, t->track);
		for (const struct span *s = t->roots; s; s = s->next_sibling) {
			widen(a, s->ev.ts_ns, s->ev.ts_ns + s->ev.dur_ns);
			if (t->track->kind != TRACK_DEVICE)
				continue;
			a->any_general_ns += s->device_ns;
			a->work_cnt += span_kind__is_device_work(s->kind);
			a->stepless_work_cnt += !b->step && span_kind__is_device_work(s->kind);
			first_work__note(a->feed.first, t->track, s);
		}
		if (!b->step && !a->steps.calls && analysis__is_main(a, t->track) && !err)
			err = add_phases(a, t->roots);
	}
	if (b->step && !err)
		err = add_step(a, b);
	close_calls(a);
	return err;
}

void analysis__count(const struct analysis *a, struct stat *s, const struct event *e,
		     uint64_t cpu_ns, uint64_t gpu_ns)
{
	stat__add_partly(s, e->flags & (EVENT_CUT_BEGIN | EVENT_CUT_END),
			 coverage__knows(&a->coverage, e->ts_ns + e->dur_ns), cpu_ns, gpu_ns);
}
