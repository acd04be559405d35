// SPDX-License-Identifier: BSD-2-Clause
/* capture__run: the life of a session from attach to detach. */
#include "capture/processes/descendant.h"
#include "capture/session.h"
#include "attach/privilege.h"
#include "bpf/events.h"
#include "bpf/probe_cfg.h"
#include "bpf/skeleton.h"
#include "capture/capture_ring.h"
#include "capture/arming/arm.h"
#include "capture/arming/idle.h"
#include "capture/no_window.h"
#include "capture/arming/node_types.h"
#include "capture/processes/await.h"
#include "capture/control/control.h"
#include "capture/device/cupti_watch.h"
#include "capture/device/device_calls.h"
#include "capture/device/device_time.h"
#include "capture/device/pointer_hooks.h"
#include "capture/steps/epoch_end.h"
#include "capture/steps/find_period.h"
#include "capture/arming/probeless.h"
#include "capture/processes/follow.h"
#include "capture/processes/freeze.h"
#include "capture/steps/optimizer_mark.h"
#include "capture/steps/optimizer_step.h"
#include "capture/decode/long_names.h"
#include "capture/decode/python_stacks.h"
#include "capture/rendezvous.h"
#include "capture/timed.h"
#include "capture/arming/steps_only.h"
#include "capture/arming/timer_only.h"
#include "capture/arming/return_sites.h"
#include "capture/user_probes/user_ops.h"
#include "capture/user_probes/user_usdt.h"
#include "common/capability.h"
#include "common/descriptors.h"
#include "common/err.h"
#include "common/util.h"
#include "privilege/rights.h"
#include <bpf/libbpf.h>
#include <signal.h>
#include <string.h>

#define MS 1000000ull

volatile sig_atomic_t capture_harmless;

void capture_result__free(struct capture_result *res)
{
	for (size_t i = 0; i < res->path_cnt; i++)
		free(res->paths[i]);
	free(res->paths);
	memset(res, 0, sizeof(*res));
}

/* ---- open ---- */

static int add_step_range(struct session *s)
{
	struct pt_name_rule *rule = s->plan.name_rules;

	if (!s->opts->step_range)
		return 0;
	if (s->plan.name_rule_cnt == PT_MAX_NAME_RULES)
		return -ENOSPC;
	if (strlen(s->opts->step_range) > sizeof(rule->prefix))
		return err__set(-EINVAL, "--step-range: a name of more than %zu bytes",
				sizeof(rule->prefix));
	memmove(rule + 1, rule, s->plan.name_rule_cnt++ * sizeof(*rule));
	memset(rule, 0, sizeof(*rule));
	rule->len = (uint32_t)strnlen(s->opts->step_range, sizeof(rule->prefix));
	memcpy(rule->prefix, s->opts->step_range, rule->len);
	rule->name_class = PT_CLASS_USER_STEP;
	return 0;
}

static int allow_returns(const char *list)
{
	auto_free char *copy = list ? strdup(list) : NULL;
	char *rest = copy, *symbol;
	int err = list && !copy ? -ENOMEM : 0;

	while (!err && (symbol = strsep(&rest, ",")))
		err = attach_allow__add_chosen(symbol);
	return err;
}

static bool has_return_probe(const struct probe_plan *plan, const char *symbol)
{
	for (size_t i = 0; i < plan->cnt; i++)
		if (plan->probes[i].return_program && !strcmp(plan->probes[i].symbol, symbol))
			return true;
	return false;
}

/* A misspelt name allows nothing, and nobody would notice. */
static void warn_allowed_in_vain(const char *list, const struct probe_plan *plan)
{
	auto_free char *copy = list ? strdup(list) : NULL;
	char *rest = copy, *symbol;

	while ((symbol = strsep(&rest, ",")))
		if (!has_return_probe(plan, symbol))
			log__warn("--allow-return-probe %s: no return probe is planned on it, so "
				  "this changes "
				  "nothing; --op-returns 'LIB:FUNCTION' adds one",
				  symbol);
}

static void warn_no_framework(const struct session *s)
{
	const struct capture_opts *o = s->opts;
	bool functions = o->ops.cnt || o->ops_returning.cnt;
	bool marks = user_usdt__has_own(s->target);

	if (s->target->is_kthread || s->target->is_32bit) {
		log__warn("process %d is a %s: CPU and scheduler tables only", o->pid,
			  s->target->is_kthread ? "kernel thread" : "32-bit program");
		return;
	}
	if (!s->start.descendant_described)
		descendant__describe(o->pid);
	log__warn("process %d runs no framework that I know: CPU, scheduler and CUDA call "
		  "tables%s%s%s%s%s",
		  o->pid, functions || marks ? "" : " only",
		  functions ? ", and the functions of --op" : "",
		  marks ? ", and what proftrace.h marks" : "",
		  o->step_probe ? ", and steps by --step-probe" : "",
		  functions || marks ? ""
		  : o->step_probe
			  ? "; add functions with --op 'exe:GLOB'"
			  : "; add functions with --op 'exe:GLOB', steps with --step-probe");
}

/* One by one, hundreds of probes take a minute to come out again. */
static bool attaches_many(enum attach_method method)
{
	return attach_method__resolve(method) == ATTACH_UPROBE_MULTI || attach__has_trace_events();
}

static int note_no_framework(struct session *s)
{
	int err = 0;

	if (s->opts->record_shapes)
		err = probe_plan__missing(&s->plan, "--record-shapes: no framework is known in the "
						    "process; not shown: shapes and arguments");
	if (!err && s->opts->profile_memory)
		err = probe_plan__missing(&s->plan,
					  "--profile-memory: no framework is known in the process; "
					  "not shown: allocations but CUDA's");
	return err;
}

/* A framework whose arguments are read names their types. */
static int note_arguments(struct session *s)
{
	if (!s->match.framework)
		return note_no_framework(s);
	if (!s->opts->record_shapes || s->plan.dtypes)
		return 0;
	return probe_plan__missing(&s->plan,
				   "--record-shapes: arguments of %s's operators are "
				   "not read; not shown: their shapes",
				   s->match.framework->title);
}

/* A uprobe never hits there; what has no hits must not look as if it had not been called. */
static int note_copied_text(struct session *s)
{
	const struct target *t = s->target;
	char more[48] = "";

	if (!t->copied_text)
		return 0;
	if (t->copied_text_cnt > 1)
		snprintf(more, sizeof(more), " (and that of %zu more)", t->copied_text_cnt - 1);
	log__warn("process %d runs the code of %s%s from anonymous memory, not from its file: "
		  "probes on that code never hit",
		  t->pid, t->copied_text, more);
	return probe_plan__missing(
		&s->plan,
		"calls of code that runs from anonymous memory, of %s%s: probes do "
		"not reach it",
		t->copied_text, more);
}

static int session_plan(struct session *s)
{
	const struct plan_opts opts = {
		.detail = s->opts->detail,
		.record_shapes = s->opts->record_shapes,
		.profile_memory = s->opts->profile_memory,
		.node_types = !s->opts->no_prune && attaches_many(s->opts->method),
		.find_period = s->opts->detail == DETAIL_PHASE && !s->opts->step_probe &&
			       !s->opts->step_range,
	};
	int err = allow_returns(s->opts->return_probes);

	if (!err)
		err = note_copied_text(s);
	if (err)
		return err;
	if (s->match.framework) {
		log__info("%s%s%s: %s", s->match.framework->title, s->match.version[0] ? " " : "",
			  s->match.version, s->match.why);
		err = s->match.framework->plan(s->target, &s->match, &opts, &s->plan);
	} else if (s->target->unreadable) {
		log__warn("process %d: may not read its libraries (%s), so its framework, if any, "
			  "is not recognised: %s",
			  s->opts->pid, s->target->unreadable,
			  capability__why_refused(CAPABILITY(CAP_DAC_READ_SEARCH)));
	} else {
		warn_no_framework(s);
	}
	if (!err)
		err = note_arguments(s);
	if (!err)
		err = add_step_range(s);
	if (!err)
		err = user_ops__plan(s->opts, s->match.framework, s->target, &s->plan);
	node_types__show(s, false);
	if (!err)
		err = optimizer_step__plan(s);
	if (!err)
		err = optimizer_mark__plan(s);
	if (!err)
		err = user_usdt__plan(s->opts, s->target, &s->plan);
	if (!err && s->opts->with_stack)
		err = python_stacks__plan(s->target, &s->plan, &s->records.stacks);
	if (!err)
		epoch_end__plan(s->target, &s->plan);
	if (!err)
		warn_allowed_in_vain(s->opts->return_probes, &s->plan);
	return err;
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

static void thaw_program(struct session *s)
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
		thaw_program(s);
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

/* ---- attach ---- */

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

/* ---- record ---- */

static void window_stop(struct session *s)
{
	struct pt_ctl *ctl = s->probes.ctl;
	bool open = ctl->window_open;

	if (open) /* else it closed at a step, and its edge stays there */
		ctl->window_close_ns = clock__monotonic_ns();
	ctl->window_open = 0;
	ctl->state = PT_STATE_DONE;
	if (open && s->window.writer && !s->windows.ending)
		session__window_close(s, ctl->window_close_ns);
}

/* The captures of other ranks take their time to attach and learn. */
static int wait_for_ranks(struct session *s)
{
	struct rendezvous *r = s->opts->rendezvous;
	uint64_t now, begin_ns;
	int err = 0;

	if (!r)
		return 0;
	rendezvous__come(r, s->opts->rendezvous_index);
	while (!err && !rendezvous__is_complete(r)) {
		session__progress(s, "waiting for the other ranks");
		err = session__pump(s, 10);
	}
	now = clock__monotonic_ns();
	begin_ns = s->probes.ctl->count_from_ns = rendezvous__begin_ns(r, now);
	if (!err && now > begin_ns)
		log__warn("ready %.1f s after the other ranks: its window may show later steps",
			  (double)(now - begin_ns) / 1e9);
	return err;
}

/* What is to be done before steps count. Calls are seen by probes where CUPTI turns out to be
 * another tool's. */
static int prepare(struct session *s)
{
	int err = device_time__prepare(s);

	if (!err)
		err = device_calls__prepare(s);
	return err ? err : wait_for_ranks(s);
}

static int min_ms(int ms, uint64_t end_ns)
{
	const uint64_t now = clock__monotonic_ns(), left = now < end_ns ? (end_ns - now) / MS : 0;

	return left < (uint64_t)ms ? (int)left : ms;
}

/* Reads what has come, and does what is due, by end_ns at the latest. Far from a window nothing
 * comes, and whoever shares a core with us should not notice us. */
static int turn(struct session *s, uint64_t end_ns)
{
	const int ms = idle__ms(s);
	int err;

	if (ms)
		idle__sleep(s, min_ms(ms, end_ns));
	err = session__pump(s, ms ? 0 : 10);
	if (!err)
		session__find_end(s);
	if (!err)
		err = arm__poll(s);
	if (!err)
		err = optimizer_step__poll(s);
	return err ? err : device_time__poll(s);
}

static const char *doing(const struct pt_ctl *ctl)
{
	if (ctl->window_open)
		return "recording";
	return ctl->hold == PT_HOLD_CLOSED ? "paused (proftrace ctl PID start)"
					   : "waiting for the window";
}

/* Steps [A,B) and spans: the programs open and close the window; here their end is awaited. */
static int record_schedule(struct session *s)
{
	struct pt_ctl *ctl = s->probes.ctl;
	uint64_t end_ns =
		s->opts->duration_ns ? clock__monotonic_ns() + s->opts->duration_ns : UINT64_MAX;
	int err;

	ctl->schedule = s->opts->schedule;
	err = prepare(s);
	ctl->counting = 1;
	while (!err && ctl->state != PT_STATE_DONE && clock__monotonic_ns() < end_ns) {
		err = turn(s, end_ns);
		session__progress(s, "step %llu %s", (unsigned long long)probeless__step(ctl),
				  doing(ctl));
	}
	return err;
}

/* From the first boundary, or from now if there are no steps, for a time. */
static int record_duration(struct session *s)
{
	struct pt_ctl *ctl = s->probes.ctl;
	uint64_t begin = 0, now;
	int err = prepare(s);

	if (!err && !s->rule.boundary && !s->start.program)
		err = return_sites__await(s);
	ctl->schedule = (struct pt_schedule){.record = UINT64_MAX / 2, .repeat = 1};
	s->armed = true;
	arm__set_open(s);
	if (s->rule.boundary) {
		ctl->counting = 1;
	} else if (!err) {
		err = timed__begin(s);
	}
	thaw_program(s);
	while (!err) {
		err = turn(s, begin && s->opts->duration_ns ? begin + s->opts->duration_ns
							    : UINT64_MAX);
		if (!err)
			err = timed__poll(s);
		if (!begin && ctl->window_open)
			begin = ctl->window_open_ns;
		now = clock__monotonic_ns();
		if (begin && s->opts->duration_ns && now - begin >= s->opts->duration_ns)
			break;
		session__progress(s, "%s, %.1f s",
				  begin || ctl->hold ? doing(ctl) : "waiting for a step",
				  begin ? (double)(now - begin) / 1e9 : 0);
	}
	return err;
}

/* stopped: nobody waits for more. Ends the window if one is open, reads what is on its way, and
 * closes the file. */
static int record_end(struct session *s, bool stopped)
{
	/* Steps that are over already are read before the window is told that it ends. */
	int err = session__drain(s);

	window_stop(s);
	if (!err)
		err = session__drain(s);
	if (s->window.writer) {
		int finish_err;

		s->windows.is_last = !stopped;
		finish_err = session__window_finish(s);

		if (!err)
			err = finish_err;
	}
	return err;
}

static int session_record(struct session *s)
{
	int err, end_err;

	s->before.lost = session__losses(s);
	session__count_anew(s);
	err = s->opts->has_schedule && s->rule.boundary ? record_schedule(s) : record_duration(s);
	session__progress_end(s);
	if (capture_stop > 1) {
		s->res->aborted = true;
		if (!s->window.writer)
			return err__set(-EINTR, "aborted");
		return err__set(-EINTR, "aborted; %s is left as far as it was written",
				s->window.path);
	}
	end_err = record_end(s, err != 0);
	if (!end_err && !s->windows.written)
		return no_window__recorded(s, err);
	if (err == -EINTR || err == -ESRCH)
		err = 0; /* asked to stop, or nothing more to come: what was seen is kept */
	return err ? err : end_err;
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
		{session_plan, true}, /* refuses what cannot be before the process is touched */
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
		return session_record(s);
	thaw_program(s);
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
