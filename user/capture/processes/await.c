// SPDX-License-Identifier: BSD-2-Clause
#include "capture/processes/await.h"
#include "capture/arming/arm.h"
#include "capture/processes/descendant.h"
#include "capture/processes/freeze.h"
#include "capture/device/device_library.h"
#include "capture/user_probes/user_usdt.h"
#include "capture/session.h"
#include "capture/wait.h"
#include "common/duration_text.h"
#include "common/err.h"
#include "capture/message_table.h"
#include "common/util.h"
#include <signal.h>
#include <string.h>

#define LOOK_US		20000
#define SLICE_US	100
#define START_LOOK_US	200000
#define STOPPED_LOOK_US 10000
#define STOPPED_NS	100000000ull
/* So long before the time of --start-at proftrace learns the steps and measures the cost of
 * probes. */
#define PREPARE_NS (30 * 1000000000ull)

static struct duration_text rounded(uint64_t ns)
{
	return duration_text((ns + 500000000) / 1000000000);
}

static int look_at_start(struct session *s, struct wait *w)
{
	const uint64_t *until = w->ctx, now = clock__ns(CLOCK_REALTIME);
	uint64_t left_us;

	if (now >= *until || s->start.now)
		return WAIT_IS_OVER;
	if (kill(s->opts->pid, 0) && errno == ESRCH)
		return err__set(-ESRCH, MESSAGE_START_TARGET_ENDED, s->opts->pid);
	session__progress(s, "starting in %s", rounded(*until - now).s);
	left_us = (*until - now) / 1000 + 1;
	w->turn_us = left_us < START_LOOK_US ? (unsigned int)left_us : START_LOOK_US;
	return WAIT_GOES_ON;
}

int session__await_start(struct session *s)
{
	uint64_t now = clock__ns(CLOCK_REALTIME), until = 0;
	int err;

	if (s->opts->start_at_ns > PREPARE_NS)
		until = s->opts->start_at_ns - PREPARE_NS;
	if (s->opts->start_after_ns)
		until = now + s->opts->start_after_ns;
	if (now < until)
		log__info(MESSAGE_START_AWAITED, s->opts->pid, rounded(until - now).s);
	s->start.at_ns = s->opts->start_at_ns ? s->opts->start_at_ns : until;
	err = session__wait(s, &(struct wait){look_at_start, &until, .stage = STAGE_EARLY});
	if (err)
		return err == -EINTR ? err__set(err, MESSAGE_START_STOPPED) : err;
	if (!s->opts->start_at_ns)
		s->start.at_ns = 0;
	session__progress_end(s);
	return 0;
}

static int look_at_time(struct session *s, struct wait *w)
{
	const uint64_t until = s->opts->start_at_ns, now = clock__ns(CLOCK_REALTIME);

	(void)w;
	if (now >= until || s->start.now)
		return WAIT_IS_OVER;
	session__progress(s, "starting in %s", rounded(until - now).s);
	return arm__poll_time(s, until - now);
}

int session__await_time(struct session *s)
{
	const uint64_t until = s->opts->start_at_ns;
	const uint64_t now = clock__ns(CLOCK_REALTIME);
	int err;

	if (!until || s->start.now)
		return 0;
	if (now > until)
		log__warn(MESSAGE_START_LATE, (double)(now - until) / 1e9);
	err = session__wait(s, &(struct wait){look_at_time, .turn_us = 5000});
	s->start.at_ns = 0;
	if (!err)
		err = arm__poll_time(s, 0);
	session__progress_end(s);
	return err;
}

static int look(struct session *s)
{
	int err;

	if (s->target)
		target__close(s->target);
	s->target = NULL;
	memset(&s->match, 0, sizeof(s->match));
	err = target__open(s->opts->pid, &s->target);
	return err ? err : frameworks__recognise(s->target, s->opts->framework, &s->match);
}

/* A program that was just started may still be loading its libraries. */
#define LOADING_NS 200000000ull
/* How often we look for a descendant process that has a framework. */
#define BELOW_NS 1000000000ull
/* A process without Python after this time, recorded by time, is recorded without a framework. */
#define NO_PYTHON_NS 1000000000ull

/* A Python program of this age has loaded its libraries. */
#define PYTHON_LOADING_NS 20000000000ull
/* A program of this age has imported its framework, or works during the import, as a server of
 * MXNet's key-value store does. */
#define IMPORT_NS 60000000000ull

static uint64_t age_ns(const struct target *t)
{
	const uint64_t begin_ns = t->start_time * (1000000000ull / (uint64_t)sysconf(_SC_CLK_TCK));
	const uint64_t now_ns = clock__ns(CLOCK_BOOTTIME);

	return now_ns > begin_ns ? now_ns - begin_ns : 0;
}

bool session__is_asked_for(const struct session *s)
{
	const struct capture_opts *o = s->opts;

	return o->ops.cnt || o->ops_returning.cnt || o->usdt.cnt || o->step_probe ||
	       o->step_range || user_usdt__has_own(s->target);
}

static bool is_static(struct target *t, const struct target_lib *lib)
{
	struct elf_file *elf = t->exe && !strcmp(lib->path, t->exe) ? target__elf(t, lib) : NULL;

	return elf && elf_file__is_static(elf);
}

/* `run` has started the program, which is recorded from its beginning. Its linked libraries are all
 * mapped once the C library is: it is the last of them, or nearly. */
static bool is_at_its_beginning(const struct session *s)
{
	const struct target *t = s->target;

	if (!s->opts->await_framework || !s->opts->no_steps || !session__is_asked_for(s))
		return false;
	for (size_t i = 0; i < t->lib_cnt; i++)
		if (is_static(s->target, &t->libs[i]) || strstr(t->libs[i].path, "/libc.so") ||
		    strstr(t->libs[i].path, "/libc-") || strstr(t->libs[i].path, "/ld-musl-"))
			return true;
	return false;
}

static bool is_enough(const struct session *s, uint64_t elapsed_ns)
{
	const struct capture_opts *o = s->opts;

	if (s->target->python && s->match.framework)
		return !o->await_framework && age_ns(s->target) > IMPORT_NS;
	if (s->target->python)
		return !o->await_framework && session__is_asked_for(s) &&
		       age_ns(s->target) > PYTHON_LOADING_NS;
	if (elapsed_ns < LOADING_NS)
		return is_at_its_beginning(s);
	if (s->match.framework)
		return true; /* a C++ program: it loads no Python libraries */
	if (o->duration_ns && !o->has_schedule && elapsed_ns > NO_PYTHON_NS)
		return true;
	return session__is_asked_for(s);
}

static bool may_come(const struct session *s, uint64_t elapsed_ns)
{
	if (s->match.ready || is_enough(s, elapsed_ns))
		return false;
	return s->match.framework || s->opts->await_framework ||
	       (s->opts->has_schedule && s->target->python);
}

static void describe_waiting(const struct session *s)
{
	if (s->match.framework)
		log__info(MESSAGE_FRAMEWORK_IMPORT_AWAITED, s->opts->pid, s->match.framework->title,
			  rounded(IMPORT_NS).s);
	else if (session__is_asked_for(s))
		log__info(MESSAGE_FRAMEWORK_OF_NEW_PROCESS_AWAITED, s->opts->pid,
			  rounded(PYTHON_LOADING_NS).s);
	else
		log__info(MESSAGE_FRAMEWORK_AWAITED, s->opts->pid);
}

struct search {
	uint64_t begin_ns;
	bool has_looked;	/* at least one look was done */
	uint64_t descendant_ns; /* time of the next look for descendants, after begin_ns */
	bool sliced;		/* the program runs for a slice, and is frozen for the next look */
};

/* A program that is recorded from its beginning, without Python, runs only between two looks. So it
 * does not get far during a look. */
static void run_until_next_look(struct session *s, struct search *search, uint64_t elapsed_ns)
{
	search->sliced = s->opts->await_framework && s->opts->no_steps && !s->target->python &&
			 elapsed_ns < LOADING_NS;
	s->start.sliced_ns += freeze__thaw(s->start.program);
	s->start.program = NULL;
}

static int look_again(struct session *s, struct search *search, uint64_t *elapsed_ns)
{
	int err;

	if (search->sliced)
		s->start.program = freeze__begin(s->opts->pid, true);
	*elapsed_ns = search->has_looked ? clock__monotonic_ns() - search->begin_ns : 0;
	err = look(s);
	if (err == -ESRCH && (search->has_looked || s->opts->await_framework))
		return err__set(err, MESSAGE_FRAMEWORK_NEVER_LOADED, s->opts->pid);
	return err;
}

static void describe_descendant(struct session *s, struct search *search, uint64_t elapsed_ns)
{
	if (s->start.descendant_described || elapsed_ns <= search->descendant_ns)
		return;
	s->start.descendant_described = !s->match.framework && descendant__describe(s->opts->pid);
	search->descendant_ns = elapsed_ns + BELOW_NS;
}

static int look_for_framework(struct session *s, struct wait *w)
{
	struct search *search = w->ctx;
	uint64_t elapsed_ns;
	const int err = look_again(s, search, &elapsed_ns);

	if (err)
		return err;
	if (!may_come(s, elapsed_ns) || elapsed_ns >= s->opts->step_timeout_ns)
		return WAIT_IS_OVER;
	s->start.awaits_framework = true;
	if (!search->has_looked && !s->opts->await_framework)
		describe_waiting(s);
	search->has_looked = true;
	session__progress(s, "waiting for a framework (%.0f s)", (double)elapsed_ns / 1e9);
	describe_descendant(s, search, elapsed_ns);
	run_until_next_look(s, search, elapsed_ns);
	w->turn_us = search->sliced ? SLICE_US : LOOK_US;
	return WAIT_GOES_ON;
}

static int look_whether_it_goes_on(struct session *s, struct wait *w)
{
	bool *goes_on = w->ctx;

	*goes_on = !target__alive(s->target) || !s->target->is_stopped;
	return *goes_on ? WAIT_IS_OVER : WAIT_GOES_ON;
}

/* A tracer such as strace stops the target for a moment at each call. Waits whether the target
 * continues. */
static int doubt_stopped(struct session *s)
{
	bool goes_on = false;
	int err = 0;

	if (proc__status(s->opts->pid, "TracerPid") > 0)
		err = session__wait(s, &(struct wait){look_whether_it_goes_on, &goes_on,
						      .turn_us = STOPPED_LOOK_US,
						      .end_ns = clock__monotonic_ns() + STOPPED_NS,
						      .stage = STAGE_EARLY});
	if (!err && !goes_on)
		session__warn_stopped(s);
	return err;
}

int session__await_framework(struct session *s)
{
	struct search search = {clock__monotonic_ns(), .descendant_ns = BELOW_NS};
	const int err =
		session__wait(s, &(struct wait){look_for_framework, &search, .stage = STAGE_EARLY});

	s->start.awaits_framework = false;
	session__progress_end(s);
	return err || !s->target->is_stopped ? err : doubt_stopped(s);
}

void session__thaw(struct session *s)
{
	if (s->start.program)
		s->start.frozen_ns = s->start.sliced_ns + freeze__thaw(s->start.program);
	s->start.program = NULL;
	device_library__forbid_loading(s);
}

/* Freezes a program that is recorded from its first operator on. No operator runs before the probes
 * are attached. */
int session__freeze(struct session *s)
{
	if (!s->opts->await_framework || !s->opts->no_steps || s->opts->start_at_ns ||
	    (!s->match.ready && (s->target->python || !session__is_asked_for(s))))
		session__thaw(s);
	else if (!s->start.program)
		s->start.program = freeze__begin(s->opts->pid, !s->target->python);
	return 0;
}
