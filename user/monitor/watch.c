// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/watch.h"
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "common/err.h"
#include "common/message_table.h"
#include "monitor/message_table.h"
#include "common/util.h"
#include "monitor/clean_name.h"
#include "monitor/session_answer.h"

#define SECOND_NS     1000000000ull
#define ATTACH_ASK_NS SECOND_NS
#define CENSUS_NS     (5 * SECOND_NS)
#define FIRST_NS      (2 * SECOND_NS)	/* time between the first two reads of the step count */
#define ATTACH_NS     (900 * SECOND_NS) /* long enough to learn steps of some minutes */
/* time until a window's file is complete, in addition to some steps */
#define CLOSE_NS (60 * SECOND_NS)
/* a window may still open while the session is asked to end it */
#define OPEN_NS	  (5 * SECOND_NS)
#define ANSWER_NS (60 * SECOND_NS)
/* A window opens when the probes are attached and, for device times, our library records. */
#define OPENING_NS     (30 * SECOND_NS)
#define OPENING_ASK_NS (SECOND_NS / 10)
#define END_NS	       (20 * SECOND_NS)
#define WINDOW_MIN_NS  (SECOND_NS / 5)
#define WINDOW_MAX_NS  (120 * SECOND_NS)
#define UNKNOWN_NS     (5 * SECOND_NS)	 /* length of a window if the step length is unknown */
#define STEP_MAX_NS    (900 * SECOND_NS) /* like STEP_TIMEOUT, for a window whose step never ends */
#define LEAD_MIN_NS    (2 * SECOND_NS)	 /* from the request to a window at a given time */
#define ALARM_LENGTHS  5		 /* usual windows that one because of an alarm is long */
#define ALARM_TRIES    3
#define ALARM_AGAIN_NS (60 * SECOND_NS)
#define RING_BYTES     "4M"
#define STEP_TIMEOUT   "15m"

/* ---- the session ---- */

static void make_prefix(struct watch *w)
{
	char job[64];

	clean_name__for_file(job, sizeof(job), w->rank.key.name);
	snprintf(w->prefix, sizeof(w->prefix), "%s_%d_%llx", job, w->rank.pid,
		 (unsigned long long)time(NULL));
}

static void on_session_end(void *ctx)
{
	struct watch *w = ctx;

	event_loop__remove(w->opts->loop, &w->session_end);
	w->exit_status = child__wait(&w->session);
	w->ended = true;
}

static int start_session(struct watch *w)
{
	char pid[16], path[PATH_MAX];
	char *argv[] = {"proftrace",   "record",
			"-p",	       pid,
			"--paused",    "--no-trace",
			"--no-report", "--no-progress",
			"--quiet",     "--ring-size",
			RING_BYTES,    "--step-timeout",
			STEP_TIMEOUT,  "-o",
			path,	       w->opts->device_times ? NULL : "--no-inject",
			NULL};
	const struct child_limits limits = {
		.file_bytes = w->opts->file_bytes, .death_signal = SIGTERM, .out = -1};
	int err;

	snprintf(pid, sizeof(pid), "%d", w->rank.pid);
	snprintf(path, sizeof(path), "%s/%s.ptrec", w->opts->store, w->prefix);
	err = child__start(argv, &limits, &w->session);
	if (err)
		return err;
	err = event_loop__add(w->opts->loop, &w->session_end, w->session.pidfd, on_session_end, w);
	if (err) {
		kill(w->session.pid, SIGKILL);
		child__wait(&w->session);
		return err__set(err, MESSAGE_SESSION_NOT_WATCHED, strerror(-err));
	}
	return 0;
}

struct watch *watch__new(const struct watch_opts *opts, const struct found_rank *rank, uint32_t id)
{
	const uint64_t now_ns = clock__monotonic_ns();
	struct watch *w = calloc(1, sizeof(*w));

	if (!w) {
		err__set(-ENOMEM, MESSAGE_OUT_OF_MEMORY);
		return NULL;
	}
	w->opts = opts;
	w->rank = *rank;
	w->id = id;
	w->begin_ns = now_ns;
	w->cpu_use.cpus = -1;
	w->ask_due_ns = now_ns + ATTACH_ASK_NS;
	w->window_due_ns = UINT64_MAX;
	w->deadline_ns = now_ns + ATTACH_NS;
	schedule__init(&w->schedule, opts->budget, opts->max_duty,
		       now_ns ^ (uint64_t)rank->pid << 32);
	make_prefix(w);
	if (!start_session(w))
		return w;
	free(w);
	return NULL;
}

static void set_state(struct watch *w, enum watch_state state)
{
	w->state = state;
	w->opts->changed(w->opts->ctx, w);
}

void watch__stop(struct watch *w, uint64_t now_ns)
{
	if (w->state == WATCH_ENDING || w->ended)
		return;
	kill(w->session.pid, SIGTERM);
	w->ask_due_ns = w->window_due_ns = UINT64_MAX;
	w->deadline_ns = now_ns + END_NS;
	set_state(w, WATCH_ENDING);
}

/* ---- windows ---- */

static uint64_t window_steps(const struct watch *w)
{
	return w->asked_steps ? w->asked_steps : w->opts->window_steps;
}

static uint64_t steps_ns(const struct watch *w, uint64_t steps)
{
	const uint64_t step_ns = step_time__ns(&w->step_time);

	if (!step_ns)
		return UNKNOWN_NS;
	return step_ns > WINDOW_MAX_NS / steps ? WINDOW_MAX_NS : step_ns * steps;
}

static uint64_t window_ns(const struct watch *w)
{
	return later(steps_ns(w, window_steps(w)), WINDOW_MIN_NS);
}

uint64_t watch__lead_ns(const struct watch *w)
{
	return later(w->lead_ns, LEAD_MIN_NS);
}

/* Converts anew each time: the wall clock may have been set meanwhile. */
static uint64_t timed_ns(const struct watch *w)
{
	const uint64_t now_ns = clock__monotonic_ns(), wall_ns = clock__ns(CLOCK_REALTIME);

	return w->timed.at_ns > wall_ns ? now_ns + (w->timed.at_ns - wall_ns) : now_ns;
}

static void plan_timed(struct watch *w, uint64_t now_ns)
{
	w->asked_steps = w->timed.steps;
	w->window_due_ns = later(timed_ns(w), now_ns + watch__lead_ns(w)) - watch__lead_ns(w);
}

static void miss_timed(struct watch *w, const char *why)
{
	log__warn(MESSAGE_WINDOW_TIME_MISSED, w->rank.key.name, w->rank.pid, why);
	w->timed = (struct timed_window){0};
}

/* Forgets a window that has been open, or whose time has passed. */
static void forget_timed(struct watch *w)
{
	if (w->timed.is_open)
		w->timed = (struct timed_window){0};
	else if (w->timed.at_ns && w->timed.at_ns <= clock__ns(CLOCK_REALTIME))
		miss_timed(w, "another window was open or being read");
}

static uint64_t alarm_steps(const struct watch *w)
{
	const uint64_t steps = ALARM_LENGTHS * w->opts->window_steps;

	return steps < REQUEST_STEPS_MAX ? steps : REQUEST_STEPS_MAX;
}

static void plan_alarm(struct watch *w, uint64_t now_ns)
{
	w->asked_steps = alarm_steps(w);
	w->window_due_ns = later(w->alarm.due_ns, now_ns);
}

/* The window that an alarm asked for is over, or did not open. */
static void end_alarm(struct watch *w, bool has_figures, uint64_t now_ns)
{
	struct alarm_window *a = &w->alarm;

	if (has_figures || ++a->tries == ALARM_TRIES)
		*a = (struct alarm_window){0};
	a->is_open = false;
	a->due_ns = now_ns + ALARM_AGAIN_NS;
}

static void plan_window(struct watch *w, uint64_t now_ns)
{
	forget_timed(w);
	if (w->alarm.is_open)
		end_alarm(w, w->state == WATCH_READING && w->alarm.has_figures, now_ns);
	w->deadline_ns = UINT64_MAX;
	w->asked_steps = 0;
	if (w->joint.is_open || w->joint.at_ns <= now_ns)
		w->joint = (struct joint_window){0};
	w->window_due_ns = w->joint.id ? later(w->joint.ask_ns, now_ns)
				       : schedule__next(&w->schedule, now_ns, window_ns(w));
	if (w->timed.at_ns)
		plan_timed(w, now_ns);
	else if (*w->alarm.baseline && !w->joint.id)
		plan_alarm(w, now_ns);
	set_state(w, WATCH_WAITING);
}

bool watch__may_join(const struct watch *w, uint64_t now_ns)
{
	return w->ready_ns && !w->ended && w->state != WATCH_ENDING && now_ns >= w->held_until_ns &&
	       step_time__ns(&w->step_time);
}

uint64_t watch__joint_ns(const struct watch *w)
{
	return window_ns(w);
}

void watch__join(struct watch *w, const struct joint_window *joint, uint64_t now_ns)
{
	w->joint = *joint;
	w->alone_cnt = 0;
	if (w->state == WATCH_WAITING && w->window_due_ns != UINT64_MAX && !w->asked_steps &&
	    !w->timed.at_ns)
		w->window_due_ns = later(w->joint.ask_ns, now_ns);
}

/* Is the due window one of all ranks? A window that a user has asked for is not. */
static bool is_joint(const struct watch *w, uint64_t now_ns)
{
	return w->joint.id && !w->joint.is_open && !w->asked_steps && !w->timed.at_ns &&
	       now_ns >= w->joint.ask_ns;
}

bool watch__record(struct watch *w, uint64_t steps, uint64_t now_ns)
{
	if (w->state != WATCH_WAITING || !w->ready_ns || w->ended || w->timed.at_ns ||
	    (w->answer.fd > 0 && w->asked != CONTROL_STATUS))
		return false;
	w->asked_steps = steps;
	w->window_due_ns = now_ns;
	return true;
}

bool watch__record_at(struct watch *w, uint64_t steps, uint64_t at_ns, uint64_t now_ns)
{
	if (w->state == WATCH_ENDING || !w->ready_ns || w->ended || w->timed.at_ns)
		return false;
	w->timed = (struct timed_window){.at_ns = at_ns, .steps = steps};
	/* Otherwise a window is open, or about to be: this one is planned after it. */
	if (w->state == WATCH_WAITING && w->window_due_ns != UINT64_MAX)
		plan_timed(w, now_ns);
	w->opts->changed(w->opts->ctx, w);
	return true;
}

void watch__record_alarm(struct watch *w, const char *baseline, uint64_t now_ns)
{
	if (w->alarm.is_open)
		return;
	w->alarm = (struct alarm_window){.due_ns = now_ns};
	snprintf(w->alarm.baseline, sizeof(w->alarm.baseline), "%s", baseline);
	if (w->state == WATCH_WAITING && w->window_due_ns != UINT64_MAX && !w->asked_steps &&
	    !w->timed.at_ns && !w->joint.id)
		plan_alarm(w, now_ns);
}

static void note_unread(struct watch *w, uint64_t now_ns)
{
	schedule__used(&w->schedule, w->open_ns, now_ns);
	w->unread_s += (double)(now_ns - w->open_ns) / 1e9;
}

static void give_up_window(struct watch *w, enum window_result why, uint64_t now_ns)
{
	note_unread(w, now_ns);
	w->opts->window(w->opts->ctx, w, why, NULL);
	plan_window(w, now_ns);
}

void watch__file_closed(struct watch *w, const char *name, uint64_t now_ns)
{
	struct window_ready ready = {.id = w->id};

	if (strncmp(name, w->prefix, strlen(w->prefix)) != 0 || name[strlen(w->prefix)] != '.' ||
	    w->state != WATCH_RECORDING || strlen(name) >= sizeof(ready.file))
		return;
	strcpy(ready.file, name);
	ready.seconds = (double)(now_ns - w->open_ns) / 1e9;
	ready.job_window = w->joint.is_open ? w->joint.id : 0;
	w->open_s = ready.seconds;
	w->read = ready;
	schedule__used(&w->schedule, w->open_ns, now_ns);
	w->window_due_ns = w->deadline_ns = UINT64_MAX;
	set_state(w, WATCH_READING);
	w->opts->window(w->opts->ctx, w, WINDOW_OK, &ready);
}

void watch__measured(struct watch *w, const struct window_answer *answer, uint64_t now_ns)
{
	uint64_t hold_ns;

	if (w->state != WATCH_READING)
		return;
	/* Windows with lost events cost the most, so their cost counts, too. */
	schedule__measured(&w->schedule, answer->overhead);
	schedule__compared(&w->schedule, answer->step_s,
			   (double)step_time__ns(&w->step_time) / 1e9);
	w->alarm.has_figures = answer->result == WINDOW_OK;
	if (!answer->is_counted)
		w->unread_s += w->open_s;
	plan_window(w, now_ns);
	hold_ns = loss_hold__after(&w->hold, answer->result);
	if (!hold_ns)
		return;
	log__warn(MESSAGE_WINDOW_LOST_EVENTS, w->rank.key.name, w->rank.pid,
		  (unsigned long long)(hold_ns / SECOND_NS / 60));
	w->joint = (struct joint_window){0};
	w->held_until_ns = now_ns + hold_ns;
	if (!w->timed.at_ns)
		w->window_due_ns = w->held_until_ns;
}

/* ---- the control socket ---- */

static void hang_up(struct watch *w)
{
	if (w->answer.fd <= 0)
		return;
	event_loop__remove(w->opts->loop, &w->answer);
	w->link.fd = -1;
	control_peer__forget(&w->link.holder);
}

static void be_ready(struct watch *w, uint64_t now_ns)
{
	w->ready_ns = now_ns;
	w->deadline_ns = UINT64_MAX;
	w->ask_due_ns = now_ns + FIRST_NS;
	set_state(w, WATCH_WAITING);
}

/* The window's length counts from its first step. It may have begun some steps ago. */
static void await_open(struct watch *w, const struct session_answer *a, uint64_t now_ns)
{
	const uint64_t had = a->step - a->since_step, steps = window_steps(w);

	w->ask_due_ns = now_ns + OPENING_ASK_NS;
	if (!a->is_open || a->step < a->since_step)
		return;
	w->is_open = true;
	w->ask_due_ns = now_ns + CENSUS_NS;
	if (!w->joint.is_open)
		w->window_due_ns = later(now_ns + (had < steps ? steps_ns(w, steps - had) : 0),
					 w->open_ns + WINDOW_MIN_NS);
}

static void on_status(struct watch *w, const char *text, uint64_t now_ns)
{
	struct session_answer a;

	session_answer__parse(text, &a);
	w->lead_ns = a.lead_ns;
	w->device_times = a.device_times;
	memcpy(w->device_why, a.device_why, sizeof(w->device_why));
	if (!w->ready_ns && a.has_step)
		be_ready(w, now_ns);
	w->ask_due_ns = now_ns + (!w->ready_ns		   ? ATTACH_ASK_NS
				  : w->step_time.census_ns ? CENSUS_NS
							   : FIRST_NS);
	if (!a.has_step)
		return;
	step_time__count(&w->step_time, a.step, now_ns);
	cpu_use__count(&w->cpu_use, process__cpu_ns(w->rank.pid), clock__monotonic_ns());
	if (w->state == WATCH_RECORDING && !w->is_open)
		await_open(w, &a, now_ns);
	if (w->state == WATCH_WAITING && w->window_due_ns == UINT64_MAX &&
	    step_time__ns(&w->step_time))
		plan_window(w, now_ns);
	else
		w->opts->changed(w->opts->ctx, w);
}

static void on_start(struct watch *w, uint64_t now_ns)
{
	w->open_ns = now_ns;
	w->is_open = false;
	w->ask_due_ns = now_ns + OPENING_ASK_NS;
	w->window_due_ns = w->joint.is_open ? w->joint.at_ns + w->joint.length_ns
					    : (w->timed.is_open ? timed_ns(w) : now_ns) +
						      OPENING_NS + window_ns(w);
	w->alone_cnt += !w->joint.is_open;
	set_state(w, WATCH_RECORDING);
}

/* An answer such as "the window ends with step 7: FILE" means that a window was open. */
static void on_pause(struct watch *w, const char *text, uint64_t now_ns)
{
	struct session_answer a;

	session_answer__parse(text, &a);
	if (a.has_step)
		step_time__count(&w->step_time, a.step, now_ns);
	if (w->state != WATCH_RECORDING)
		return; /* the window's file was closed before */
	w->was_open = !strncmp(text, "the window end", strlen("the window end"));
	w->deadline_ns = now_ns + (w->was_open ? CLOSE_NS + steps_ns(w, 4) : OPEN_NS);
}

static void on_answer(void *ctx)
{
	struct watch *w = ctx;
	char text[CONTROL_MAX];
	const uint64_t now_ns = clock__monotonic_ns();
	int err = control_session__hear(&w->link, text, sizeof(text));

	if (err == -EAGAIN)
		return;
	hang_up(w);
	if (w->state == WATCH_ENDING)
		return;
	if (err && (w->asked != CONTROL_STATUS || err != -ESRCH)) {
		log__warn(MESSAGE_SESSION_DISOBEYS, w->rank.key.name, w->rank.pid,
			  control_verbs[w->asked], err__take(err));
		watch__stop(w, now_ns);
		return;
	}
	if (err) {
		err__take(err); /* the pidfd reports the session's end */
		return;
	}
	w->heard_ns = now_ns;
	if (w->asked == CONTROL_STATUS)
		on_status(w, text, now_ns);
	else if (w->asked == CONTROL_START)
		on_start(w, now_ns);
	else
		on_pause(w, text, now_ns);
}

static int say(struct watch *w, enum control_verb verb)
{
	if (verb != CONTROL_START || (!w->joint.is_open && !w->timed.is_open))
		return control_session__say(&w->link, verb);
	return control_session__say_start(&w->link,
					  w->joint.is_open ? w->joint.at_ns : timed_ns(w));
}

/* Returns false if the session does not listen yet, or no longer listens. */
static bool ask(struct watch *w, enum control_verb verb, uint64_t now_ns)
{
	int err = control_session__open(&w->link, w->rank.pid);

	if (!err) {
		err = say(w, verb);
		if (err)
			control_session__close(&w->link);
	}
	if (!err) {
		err = event_loop__add(w->opts->loop, &w->answer, w->link.fd, on_answer, w);
		if (err)
			control_peer__forget(&w->link.holder);
	}
	w->asked = verb;
	w->asked_ns = now_ns;
	if (err)
		err__take(err);
	return !err;
}

/* ---- time ---- */

/* A session answers late while it attaches. Attaching has its own deadline. */
static uint64_t answer_due(const struct watch *w)
{
	return w->ready_ns ? w->asked_ns + ANSWER_NS : UINT64_MAX;
}

uint64_t watch__due(const struct watch *w)
{
	uint64_t due = w->deadline_ns;

	if (w->ended)
		return UINT64_MAX;
	if (w->answer.fd > 0)
		return answer_due(w) < due ? answer_due(w) : due;
	due = w->ask_due_ns < due ? w->ask_due_ns : due;
	return w->window_due_ns < due ? w->window_due_ns : due;
}

/* A window ends at the end of a step. During an evaluation or a checkpoint that may take long. */
static bool has_long_step(const struct watch *w, uint64_t now_ns)
{
	return w->state == WATCH_RECORDING && w->was_open && now_ns - w->heard_ns < ANSWER_NS &&
	       now_ns - w->open_ns < STEP_MAX_NS;
}

/* Handles a deadline that has passed. */
static void miss_deadline(struct watch *w, uint64_t now_ns)
{
	w->deadline_ns = UINT64_MAX;
	if (w->state == WATCH_ENDING) {
		kill(w->session.pid, SIGKILL);
		return;
	}
	if (has_long_step(w, now_ns)) {
		w->deadline_ns = now_ns + OPEN_NS;
		return;
	}
	if (w->state == WATCH_RECORDING && !w->was_open) {
		give_up_window(w, WINDOW_EMPTY, now_ns);
		return;
	}
	if (w->state == WATCH_RECORDING) {
		note_unread(w, now_ns);
		w->opts->window(w->opts->ctx, w, WINDOW_TIMEOUT, NULL);
	}
	watch__stop(w, now_ns);
}

/* Is the due window the one that an alarm asked for? */
static bool is_alarm(const struct watch *w)
{
	return *w->alarm.baseline && w->asked_steps == alarm_steps(w) && !w->timed.at_ns &&
	       !w->joint.is_open;
}

/* Was the wall clock set back since the window was planned? */
static bool is_early(const struct watch *w, uint64_t now_ns)
{
	return w->timed.at_ns && timed_ns(w) > now_ns + watch__lead_ns(w) + SECOND_NS;
}

static void open_or_close(struct watch *w, uint64_t now_ns)
{
	const enum control_verb verb = w->state == WATCH_RECORDING ? CONTROL_PAUSE : CONTROL_START;

	if (verb == CONTROL_START && !w->opts->may_open(w->opts->ctx)) {
		w->joint = (struct joint_window){0};
		if (w->timed.at_ns)
			miss_timed(w, "no window may open");
		w->alarm.due_ns = now_ns + ALARM_AGAIN_NS;
		plan_window(w, now_ns);
		return;
	}
	if (verb == CONTROL_START && is_early(w, now_ns)) {
		plan_timed(w, now_ns);
		return;
	}
	w->window_due_ns = UINT64_MAX;
	w->joint.is_open |= verb == CONTROL_START && is_joint(w, now_ns);
	w->timed.is_open |= verb == CONTROL_START && w->timed.at_ns;
	w->alarm.is_open |= verb == CONTROL_START && is_alarm(w);
	if (!ask(w, verb, now_ns))
		watch__stop(w, now_ns);
}

void watch__tick(struct watch *w, uint64_t now_ns)
{
	if (w->ended || now_ns < watch__due(w))
		return;
	if (now_ns >= w->deadline_ns) {
		miss_deadline(w, now_ns);
	} else if (w->answer.fd > 0) {
		hang_up(w);
		watch__stop(w, now_ns);
	} else if (now_ns >= w->window_due_ns) {
		open_or_close(w, now_ns);
	} else {
		w->ask_due_ns = now_ns + (w->ready_ns ? CENSUS_NS : ATTACH_ASK_NS);
		ask(w, CONTROL_STATUS, now_ns);
	}
}

void watch__free(struct watch *w)
{
	if (!w)
		return;
	hang_up(w);
	event_loop__remove(w->opts->loop, &w->session_end);
	if (w->session.pid) /* do not wait for its end: it may never end by itself */
		kill(w->session.pid, SIGKILL);
	child__wait(&w->session);
	free(w);
}
