// SPDX-License-Identifier: BSD-2-Clause
/* capture__run: the life of a session from attach to detach. */
#include "capture/session.h"
#include "attach/privilege.h"
#include "capture/arming/arm.h"
#include "capture/arming/steps_only.h"
#include "capture/arming/timer_only.h"
#include "capture/capture_ring.h"
#include "capture/control/control.h"
#include "capture/device/device_calls.h"
#include "capture/device/device_library.h"
#include "capture/no_window.h"
#include "capture/processes/await.h"
#include "capture/processes/follow.h"
#include "capture/steps/optimizer_step.h"
#include "common/descriptors.h"
#include "common/err.h"
#include "capture/message_table.h"
#include "common/util.h"
#include "privilege/rights.h"
#include <bpf/libbpf.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

void capture_result__free(struct capture_result *res)
{
	for (size_t i = 0; i < res->path_cnt; i++)
		free(res->paths[i]);
	free(res->paths);
	for (size_t i = 0; i < res->memory_cnt; i++)
		close(res->memory[i]);
	free(res->memory);
	memset(res, 0, sizeof(*res));
}

static int session_await(struct session *s)
{
	int err = session__await_framework(s);

	/* A probe that is attached by itself needs two descriptors. The usual limit of 1024 is too
	 * low. */
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

static int measure_probes(struct session *s)
{
	return attach_cost__measure(s->probes.method, &s->facts.cost.bare);
}

static int measure_spans(struct session *s)
{
	return span_cost__measure(s, &s->facts.cost);
}

/* Closing a single probe waits for several RCU grace periods under one lock of the kernel
 * (perf_uprobe_destroy). Each took 20 to 120 ms, one after the other. */
static void warn_slow_detach(const struct session *s)
{
	size_t cnt = 0;

	for (size_t i = 0; i < s->plan.cnt; i++)
		cnt += 1 + !!s->plan.probes[i].return_program;
	if (s->probes.method == ATTACH_PERF_EVENT && !attach__has_trace_events() && cnt > 200)
		log__warn(MESSAGE_PROBES_WITHOUT_TRACEFS, cnt);
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

/* Without a framework proftrace looks for steps only if an option asks for steps. */
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
	if (!err && s->residency != RESIDENCY_FULL)
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

static int session_run(struct session *s)
{
	/* Each stage takes some tenths of a second on a busy machine. Between stages proftrace
	 * handles Ctrl-C and `proftrace ctl`. */
	static const struct {
		int (*run)(struct session *s);
		/* our process may end in this stage without a trace in the target */
		bool leaves_nothing;
	} stages[] = {
		{session__await_start, true},
		{session_await},
		{session__freeze},
		/* refuses impossible options before proftrace touches the process */
		{session__plan, true},
		{device_library__choose},
		{device_calls__plan},
		{session__load, true},
		{device_library__open},
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
		s->opts->stop->harmless =
			stages[i].leaves_nothing && !s->cupti.link && !s->opts->await_framework;
		control__pump(s);
		err = s->opts->stop->asked ? -EINTR : stages[i].run(s);
		s->opts->stop->harmless = 0;
		if (err && s->opts->stop->asked) /* the stop request may have caused any error */
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

int capture__run(const struct capture_opts *opts, struct capture_result *res)
{
	struct session s = {.opts = opts,
			    .res = res,
			    .components = session_components,
			    .cupti.link = opts->shim};
	int err;

	if (opts->frozen) {
		s.start.program = *opts->frozen;
		*opts->frozen = NULL;
	}
	memset(res, 0, sizeof(*res));
	err = session_run(&s);
	/* If the process ends, files in /proc are missing in many places. One message suffices. */
	if (err == -ENOENT && !s.target_gone && kill(opts->pid, 0) && errno == ESRCH)
		err__set(err, MESSAGE_TARGET_ENDED_EARLY, opts->pid);
	session__free(&s);
	return err;
}
