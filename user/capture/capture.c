// SPDX-License-Identifier: BSD-2-Clause
/* capture__run: the life of a session from attach to detach. */
#include "capture/session.h"
#include "attach/privilege.h"
#include "bpf/probe_cfg.h"
#include "bpf/skeleton.h"
#include "capture/arming/arm.h"
#include "capture/arming/steps_only.h"
#include "capture/arming/timer_only.h"
#include "capture/capture_ring.h"
#include "capture/control/control.h"
#include "capture/decode/long_names.h"
#include "capture/decode/python_stacks.h"
#include "capture/device/cupti_watch.h"
#include "capture/device/device_calls.h"
#include "capture/device/device_time.h"
#include "capture/device/pointer_hooks.h"
#include "capture/no_window.h"
#include "capture/processes/await.h"
#include "capture/processes/follow.h"
#include "capture/processes/freeze.h"
#include "capture/steps/find_period.h"
#include "capture/steps/optimizer_step.h"
#include "common/descriptors.h"
#include "common/err.h"
#include "common/util.h"
#include "privilege/rights.h"
#include <bpf/libbpf.h>
#include <malloc.h>
#include <signal.h>
#include <string.h>

volatile sig_atomic_t capture_harmless;

void capture_result__free(struct capture_result *res)
{
	for (size_t i = 0; i < res->path_cnt; i++)
		free(res->paths[i]);
	free(res->paths);
	memset(res, 0, sizeof(*res));
}

static uint64_t asleep_since(void *ctx, uint32_t tid)
{
	const struct session *s = ctx;

	return s->sched ? sched_source__asleep_since(s->sched, tid) : 0;
}

static int session_load(struct session *s)
{
	int err = probes__load(&s->probes, s->target, s->opts, &s->plan);

	if (err)
		return err;
	s->plan.row_max = bpf_map__max_entries(s->probes.skel->maps.probe_cfg);
	control__loaded(s);
	s->probes.dropped = s->pruned.rows;
	find_period__hide_probes(s);
	optimizer_step__loaded(s);
	s->probes.ctl->target_pid = (uint32_t)s->target->pid;
	s->probes.ctl->target_cnt = 1;
	err = probes__add_target(&s->probes, s->target->pid);
	if (err)
		return err;
	s->records.decoder =
		decoder__new(s->target, s->match.framework, &s->plan, &s->probes.ctl->ended);
	s->records.long_names =
		long_names__new(bpf_map__fd(s->probes.skel->maps.long_names),
				bpf_map__max_entries(s->probes.skel->maps.long_names),
				&s->probes.ctl->long_name_cnt);
	if (!s->records.decoder || !s->records.long_names)
		return -ENOMEM;
	decoder__set_stacks(s->records.decoder, s->records.stacks);
	decoder__set_long_names(s->records.decoder, s->records.long_names);
	decoder__set_asleep(s->records.decoder, asleep_since, s);
	return capture_ring__new(s);
}

static int session_await(struct session *s)
{
	int err = session__await_framework(s);

	/* Attached one by one, probes need two each: more than the usual 1024. */
	descriptors__allow_most();
	if (err)
		return err;
	s->pruned.rows = calloc(PT_MAX_PROBES, sizeof(*s->pruned.rows));
	if (!s->pruned.rows)
		return -ENOMEM;
	s->facts = (struct window_facts){.opts = s->opts,
					 .target = s->target,
					 .match = &s->match,
					 .plan = &s->plan,
					 .rule = &s->rule};
	return 0;
}

void session__thaw(struct session *s)
{
	if (s->start.program)
		s->start.held_ns = s->start.sliced_ns + freeze__thaw(s->start.program);
	s->start.program = NULL;
	device_time__forbid_loading(s);
}

/* What is to be seen from its first operator on has none before the probes are in. */
static int freeze_program(struct session *s)
{
	if (!s->opts->await_framework || !s->opts->no_steps || s->opts->start_at_ns ||
	    (!s->match.ready && (s->target->python || !session__is_asked_for(s))))
		session__thaw(s);
	else if (!s->start.program)
		s->start.program = freeze__begin(s->opts->pid, !s->target->python);
	return 0;
}

static int measure_probes(struct session *s)
{
	return attach_cost__measure(s->probes.method, &s->facts.cost.bare);
}

static int measure_spans(struct session *s)
{
	return span_cost__measure(s, &s->facts.cost);
}

/* Closing a probe of its own waits for several RCU grace periods under one lock of the kernel
 * (perf_uprobe_destroy): 20 to 120 ms each were measured, one after the other. */
static void warn_slow_detach(const struct session *s)
{
	size_t cnt = 0;

	for (size_t i = 0; i < s->plan.cnt; i++)
		cnt += 1 + !!s->plan.probes[i].return_program;
	if (s->probes.method == ATTACH_PERF_EVENT && !attach__has_trace_events() && cnt > 200)
		log__warn("%zu probes are attached one by one, since tracefs is not to be had, and "
			  "taking them out will take minutes; --detail phase needs about 20",
			  cnt);
}

static int attach_all(struct session *s)
{
	int err = follow__existing(s);

	warn_slow_detach(s);
	s->probes.ctl->learn = 1;
	if (!err)
		err = arm__attach(s);
	if (!err && s->probes.unwatched)
		err = probe_plan__missing(&s->plan,
					  "data breakpoints cannot be had; not shown: functions "
					  "written in Python");
	if (!err)
		probes__forget_spans(&s->probes);
	if (!err)
		err = task_source__start(s->probes.skel, !s->opts->no_follow, &s->tasks);
	if (!err)
		err = follow__missed(s);
	s->attaching.is_done = !err;
	rights__enter(RIGHTS_RECORD, privilege__keeps_admin(s->probes.method));
	return err;
}

/* Without a framework steps are looked for only where they were asked for. */
static bool may_have_steps(const struct session *s)
{
	return s->plan.cnt && !s->opts->no_steps &&
	       (s->match.framework || s->opts->has_schedule || s->opts->step_probe ||
		s->opts->step_range);
}

static int find_steps(struct session *s)
{
	int err;

	s->learning.begin_ns = clock__monotonic_ns();
	s->learning.cpu_ns = process__cpu_ns(s->opts->pid);
	do {
		err = may_have_steps(s) ? session__learn(s) : 0;
		if (!err && s->rule.boundary)
			err = session__prune(s);
	} while (err == -EAGAIN);
	if (!err && !s->armed)
		err = session__prune_by_time(s);
	return err;
}

static int end_learning(struct session *s)
{
	int err = s->rule.boundary ? 0 : no_window__steps(s);

	if (!err)
		s->probes.ctl->learn = 0;
	return err;
}

void session__release_memory(struct session *s)
{
	target__drop_elfs(s->target);
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}

static int session_run(struct session *s)
{
	/* Each takes some tenths of a second on a busy machine; Ctrl-C and `proftrace ctl` are
	 * heard between them. */
	static const struct {
		int (*run)(struct session *s);
		bool leaves_nothing; /* should the process end in it */
	} stages[] = {
		{session__await_start, true},
		{session_await},
		{freeze_program},
		{session__plan, true}, /* refuses what cannot be before the process is touched */
		{device_time__choose},
		{device_calls__plan},
		{session_load, true},
		{device_time__open},
		{measure_probes},
		{measure_spans},
		{attach_all},
		{find_steps},
		{timer_only__set},
		{steps_only__set_groups},
		{optimizer_step__begin},
		{end_learning},
		{session__await_time},
	};
	int err = control__open(s);

	for (size_t i = 0; i < ARRAY_SIZE(stages) && !err; i++) {
		capture_harmless =
			stages[i].leaves_nothing && !s->cupti.link && !s->opts->await_framework;
		control__pump(s);
		err = capture_stop ? -EINTR : stages[i].run(s);
		capture_harmless = 0;
		if (err && capture_stop) /* whatever it broke off */
			err = -EINTR;
	}
	session__progress_end(s);
	if (!err)
		session__release_memory(s);
	if (!err)
		err = capture_ring__learned(s);
	if (!err)
		return session__record(s);
	session__thaw(s);
	return no_window__recorded(s, err);
}

static void session_free(struct session *s)
{
	uint64_t begin = clock__monotonic_ns();

	s->res->target_gone = s->target_gone;
	s->res->target_execed = s->target_execed;
	control__close(s);
	no_window__seen(s);
	cupti_watch__stop(s->cupti.watch);
	device_source__free(s->device);
	shim_link__free(s->cupti.link);
	free(s->held_steps.list);
	task_source__stop(s->tasks);
	sched_source__stop(s->sched);
	ring__free(s->records.ring);
	arm__hurry(true);
	if (s->probes.skel)
		probes__free(&s->probes);
	arm__hurry(false);
	log__debug("detached in %.1f ms", (double)(clock__monotonic_ns() - begin) / 1e6);
	decoder__free(s->records.decoder);
	long_names__free(s->records.long_names);
	optimizer_step__free(s);
	python_stacks__free(s->records.stacks);
	probe_plan__free(&s->plan);
	free(s->pruned.rows);
	pointer_hooks__free(s);
	free(s->pruned.list);
	call_log__free(&s->records.log);
	free(s->children.pids);
	free(s->children.helpers.items);
	free(s->children.newborn);
	if (s->target)
		target__close(s->target);
}

int capture__run(const struct capture_opts *opts, struct capture_result *res)
{
	struct session s = {.opts = opts, .res = res, .cupti.link = opts->shim};
	int err;

	if (opts->held) {
		s.start.program = *opts->held;
		*opts->held = NULL;
	}
	memset(res, 0, sizeof(*res));
	err = session_run(&s);
	/* Files in /proc of a process that goes are missing in many places; one reason suffices. */
	if (err == -ENOENT && !s.target_gone && kill(opts->pid, 0) && errno == ESRCH)
		err__set(err,
			 "process %d ended while it was looked at; start it again, or run it "
			 "by `proftrace run`",
			 opts->pid);
	session_free(&s);
	return err;
}
