// SPDX-License-Identifier: BSD-2-Clause
#include "capture/device/device_library.h"
#include "bpf/ctl.h"
#include "bpf/events.h"
#include "bpf/thread_state.h"
#include "capture/arming/may_open.h"
#include "capture/arming/until_window.h"
#include "capture/device/cupti_watch.h"
#include "capture/device/pointer_hooks.h"
#include "capture/session.h"
#include "common/err.h"
#include "capture/message_table.h"
#include "device/message_table.h"
#include "common/util.h"
#include "inject/filter_reader.h"
#include "privilege/session_filter.h"

#define MS	      1000000ull
#define LEAD_NS	      (1000 * MS) /* our library is started so long before a window */
#define FIRST_LEAD_NS (4000 * MS) /* before its first window */
#define LOOK_NS	      (1000 * MS) /* interval of looking whether the process has CUDA */

static uint32_t track(void *ctx, uint32_t pid, uint32_t tid)
{
	const struct session *s = ctx;

	return decoder__track(s->records.decoder, pid, tid);
}

static int hooked(void *ctx, uint32_t pid, uint32_t tid, const struct pt_span *span,
		  const struct call_names *names)
{
	struct session *s = ctx;
	struct pt_span of_row = *span;

	of_row.probe = pointer_hooks__row(s, span->probe);
	if (of_row.kind == PT_KIND_NODE && pointer_hooks__has_name(s, span->probe))
		of_row.vtable = of_row.type_obj = 0;
	return decoder__hooked(s->records.decoder, pid, tid, &of_row, names->own, names->full);
}

static void met(void *ctx, uint32_t pid, uint32_t tid, const struct shim_call *call)
{
	struct session *s = ctx;

	decoder__meet(s->records.decoder, pid, tid,
		      &(struct pt_span){.ts_ns = call->begin_ns,
					.end_ns = call->end_ns,
					.probe = pointer_hooks__row(s, call->api),
					.object = call->type});
}

static int before_span(void *ctx, uint32_t tid, uint64_t end_ns)
{
	return device_source__before(ctx, tid, end_ns);
}

static int look(void *ctx, uint64_t end_ns)
{
	return device_source__look(ctx, end_ns);
}

static void refuse(struct session *s, const char *why)
{
	log__warn(MESSAGE_NO_DEVICE_TIMES, why);
	snprintf(s->cupti.no_device, sizeof(s->cupti.no_device), "%s", why);
}

static int warn(struct session *s, const char *text)
{
	log__warn(MESSAGE_DEVICE_CALL_WARNING, s->opts->pid, text);
	return probe_plan__missing(&s->plan, "perhaps some device times: the process %s", text);
}

/* Seen only with the simulated driver; the records of that were complete. */
static int warn_of_majors(struct session *s, const struct cupti_found *f)
{
	const unsigned int cupti = f->loaded_major ? f->loaded_major : f->chosen_major;
	char text[256];
	int err = 0;

	if (f->older_major) {
		snprintf(text, sizeof(text),
			 "uses CUDA %u and %u: device times come from the libcupti of CUDA %u; "
			 "whether it records all that CUDA %u calls is not known",
			 f->major, f->older_major, cupti ? cupti : f->major, f->older_major);
		err = warn(s, text);
	}
	if (!err && cupti && f->major && cupti != f->major) {
		snprintf(text, sizeof(text),
			 "%s the libcupti of CUDA %u and uses CUDA %u: whether it tells of all "
			 "activities is not known",
			 f->loaded_major ? "has" : "is given", cupti, f->major);
		err = warn(s, text);
	}
	return err;
}

void device_library__give_up_loading(void)
{
	filter_reader__end();
	session_filter__give_up_tracing();
}

void device_library__forbid_loading(const struct session *s)
{
	if ((s->cupti.attach_tried || s->cupti.never_loads || s->opts->no_inject) &&
	    !s->start.program)
		device_library__give_up_loading();
}

/* alone: the library was loaded for operators, not for device times. */
static void describe_loaded(const struct inject_result *loaded, pid_t pid, bool alone)
{
	const double stopped_ms = (double)loaded->stopped_ns / 1e6;

	if (loaded->already_loaded && alone)
		log__info(MESSAGE_LIBRARY_FOUND_AGAIN_FOR_OPERATORS, pid, stopped_ms);
	else if (loaded->already_loaded)
		log__info(MESSAGE_LIBRARY_FOUND_AGAIN, pid, stopped_ms);
	else if (alone)
		log__info(MESSAGE_LIBRARY_LOADED_FOR_OPERATORS, pid, stopped_ms);
	else
		log__info(MESSAGE_LIBRARY_LOADED, pid, stopped_ms);
}

static int attach(struct session *s, struct target *t)
{
	const bool alone = !cuda__has_driver(t);
	int err = shim__attach(t, s->opts->cupti, alone, &s->opts->stop->asked, &s->cupti.link,
			       &s->cupti.attached);

	s->cupti.attach_tried = true;
	device_library__forbid_loading(s);
	if ((err == -ENOENT || err == -ENOEXEC) && s->opts->cupti)
		return err; /* a mistake on the command line */
	if (err == -EINTR)
		return err;
	if (err && alone)
		log__warn(MESSAGE_LIBRARY_NOT_LOADED, err__take(err));
	else if (err)
		refuse(s, err__take(err));
	if (err)
		return 0;
	s->cupti.functions_alone = alone;
	if (s->cupti.attached.cupti.unused)
		log__warn(MESSAGE_CUPTI_OPTION_UNUSED, s->opts->cupti, t->pid);
	err = warn_of_majors(s, &s->cupti.attached.cupti);
	describe_loaded(&s->cupti.attached.inject, t->pid, alone);
	return err;
}

/* A program that `run` starts has not loaded its libraries yet. A running program without CUDA's
 * runtime uses no CUDA. --inject is for programs that use CUDA later. */
static bool may_use_cuda_later(const struct session *s)
{
	return s->opts->await_framework || s->opts->inject || cuda__has_runtime(s->target);
}

int device_library__choose(struct session *s)
{
	if (s->cupti.link || s->opts->no_inject)
		return 0;
	if (cuda__has_driver(s->target))
		return attach(s, s->target);
	s->cupti.never_loads = !may_use_cuda_later(s);
	device_library__forbid_loading(s);
	return 0;
}

static void take_along(struct session *s, struct device_source *device)
{
	decoder__set_before(s->records.decoder, device ? before_span : NULL, device);
	decoder__set_look(s->records.decoder, device ? look : NULL, device);
}

int device_library__open(struct session *s)
{
	const struct device_taker taker = {.track = track, .hooked = hooked, .met = met, .ctx = s};
	struct shim_link *link = s->cupti.link;
	int err;

	if (!link)
		return 0;
	s->cupti.link = NULL;
	shim_link__set_waits(link, s->opts->sync_events);
	err = device_source__new(link, s->target, &taker, &s->device);
	if (!err)
		take_along(s, s->device);
	return err;
}

static bool is_within(const struct session *s, uint64_t lead_ns)
{
	uint64_t left = arm__steps_left(s->probes.ctl);
	bool scheduled = s->opts->has_schedule || s->probes.ctl->hold;

	if (s->windows.timed)
		return s->probes.ctl->hold != PT_HOLD_CLOSED;
	return !s->rule.boundary || !scheduled || left <= 2 ||
	       left <= lead_ns / (s->step_length.ns ? s->step_length.ns : 1);
}

bool device_library__is_near(const struct session *s)
{
	return is_within(s, LEAD_NS);
}

static int load(struct session *s, struct target *t)
{
	int err;

	take_along(s, NULL);
	device_source__free(s->device);
	s->device = NULL;
	err = attach(s, t);
	return err ? err : device_library__open(s);
}

/* May the library be loaded only to see operators? */
static bool may_go_in_alone(struct session *s)
{
	const char *why = s->opts->inject ? pointer_hooks__why_not(s) : NULL;

	if (why && !s->cupti.told_why)
		log__info(MESSAGE_LIBRARY_STAYS_OUT, s->opts->pid, why);
	s->cupti.told_why = why;
	return s->opts->inject && !why;
}

/*
 * Looks again for CUDA in the target. The program may begin to use CUDA now, or `run` could not
 * pass our library to it (`run -- env -i ...`). Reads the libraries into a new target, since the
 * plan points into the old one.
 */
int device_library__choose_late(struct session *s)
{
	struct target *t;
	int err;

	if ((s->device && !device_source__is_absent(s->device)) || s->cupti.attach_tried ||
	    s->cupti.never_loads || s->opts->no_inject)
		return 0;
	s->cupti.cuda_looked_ns = clock__monotonic_ns();
	err = target__open(s->opts->pid, &t);
	if (err) {
		err__take(err);
		return 0; /* the target has ended; the loop notices that */
	}
	if (cuda__has_driver(t) || may_go_in_alone(s))
		err = load(s, t);
	target__close(t);
	return err;
}

bool device_library__uses_cuda(const struct session *s)
{
	return !s->cupti.functions_alone &&
	       (!device_source__is_absent(s->device) || cuda__has_driver(s->target));
}

static const char *refusal(const struct session *s)
{
	if (s->cupti.no_device[0])
		return s->cupti.no_device;
	return s->device ? device_source__refusal(s->device) : NULL;
}

void device_library__say(const struct session *s, char *out, size_t size)
{
	const char *why = refusal(s);

	if (s->opts->no_inject)
		snprintf(out, size, "off");
	else if (why)
		snprintf(out, size, "refused: %s", why);
	else if (s->device && device_library__uses_cuda(s))
		snprintf(out, size, "yes");
	else
		snprintf(out, size, "no: the process does not use CUDA");
}

void device_library__on_started(struct session *s)
{
	const char *refusal = device_source__refusal(s->device);

	if (refusal && device_library__uses_cuda(s))
		log__warn(MESSAGE_NO_DEVICE_TIMES, device_source__explain(s->device));
	/* If the process had no libcupti, our library has loaded one by now. */
	if (!refusal && !s->cupti.watch && !s->cupti.functions_alone)
		s->cupti.watch = cupti_watch__start(s->probes.skel, s->opts->pid, s->probes.method);
}

void device_library__yield_if_claimed(struct session *s)
{
	if (s->cupti.yielded ||
	    (!s->probes.ctl->cupti_claimed && !device_source__has_left(s->device)))
		return;
	s->cupti.yielded = true;
	device_source__yield(s->device, s->probes.ctl->cupti_kinds);
	log__warn(MESSAGE_DEVICE_TIMES_END, device_source__explain(s->device));
}

/* Loads the library late, if the process has CUDA by now. The next window waits for it. */
static int look_again(struct session *s)
{
	int err;

	if (s->window.writer || s->probes.ctl->state == PT_STATE_DONE ||
	    clock__monotonic_ns() - s->cupti.cuda_looked_ns < LOOK_NS ||
	    !is_within(s, FIRST_LEAD_NS))
		return 0;
	err = device_library__choose_late(s);
	s->cupti.starts_late = !err && s->device;
	return err;
}

static bool is_wanted(struct session *s)
{
	if (s->cupti.starts_late &&
	    (device_source__is_recording(s->device) || device_source__refusal(s->device))) {
		s->cupti.starts_late = false;
		device_library__on_started(s);
	}
	return (s->cupti.starts_late || device_library__is_near(s)) && !s->calls_on &&
	       !s->cupti.yielded;
}

/* Tells a program that `run` started that proftrace lives. Once there is a device source, the
 * source does this. */
static int say_that_we_live(struct session *s, uint64_t *next_ns)
{
	(void)next_ns;
	if (s->cupti.link)
		shim_link__beat(s->cupti.link);
	return 0;
}

/* While our library records, another tool that calls CUPTI waits for us. */
static bool is_busy(const struct session *s, uint64_t now_ns)
{
	return device_source__is_recording(s->device) || !device_source__is_idle(s->device, now_ns);
}

/* Starts the library before a window, and finishes a window that has all its activities. */
static int poll_library(struct session *s, uint64_t *next_ns)
{
	int err = s->device ? 0 : look_again(s);
	uint64_t now_ns;

	if (!s->device)
		return err;
	/* The next window may need the library, so this window is finished before. */
	if (!err && s->windows.ending && device_source__is_idle(s->device, clock__monotonic_ns()))
		err = session__window_finish(s);
	if (!err)
		err = pointer_hooks__poll(s);
	if (!err && !s->window.writer && s->probes.ctl->state != PT_STATE_DONE)
		device_source__want(s->device, is_wanted(s));
	arm__set_open(s);
	now_ns = clock__monotonic_ns();
	if (is_busy(s, now_ns))
		turn_by(next_ns, now_ns + QUIET_LEAST_NS);
	return err;
}

const struct component component_device_library = {
	.name = "our library in the process",
	.poll = say_that_we_live,
	.early = true,
	.poll_windows = poll_library,
};
