// SPDX-License-Identifier: BSD-2-Clause
#include "capture/device/device_time.h"
#include "bpf/ctl.h"
#include "bpf/events.h"
#include "bpf/thread_state.h"
#include "capture/arming/may_open.h"
#include "capture/device/device_library.h"
#include "capture/device/pointer_hooks.h"
#include "capture/session.h"
#include "common/err.h"
#include "capture/message_table.h"
#include "device/message_table.h"
#include "common/util.h"
#include "inject/filter_reader.h"
#include "privilege/session_filter.h"

#define HOLD_NS 1000000000ull /* in this time CUPTI's buffers are flushed five times */

static const char library_sleeps[] = "our library in the process does not record yet";

static void window_open(struct session *s)
{
	if (!s->device)
		return;
	s->cupti.missed = arm__needs_library(s) && !device_source__is_recording(s->device);
	device_source__open(s->device, s->window.writer, s->window.open_ns);
	if (s->cupti.missed)
		log__warn(MESSAGE_DEVICE_TIMES_NOT_BEGUN, library_sleeps);
}

static void window_close(struct session *s)
{
	if (!s->device)
		return;
	device_library__yield_if_claimed(s);
	device_source__close(s->device, s->window.close_ns);
	pointer_hooks__window_close(s);
	device_source__want(s->device, false);
	arm__set_open(s); /* the next window waits for this one's end */
}

/* ---- steps ---- */

static int release_steps(struct session *s, uint64_t ended_before_ns)
{
	size_t cnt = 0;
	int err = 0;

	while (cnt < s->held_steps.cnt && s->held_steps.list[cnt].end_ns < ended_before_ns &&
	       !err) {
		const struct held_step *h = &s->held_steps.list[cnt++];

		err = decoder__step(s->records.decoder, h->pid, h->tid, h->step, h->begin_ns,
				    h->end_ns);
	}
	s->held_steps.cnt -= cnt;
	for (size_t i = 0; i < s->held_steps.cnt; i++)
		s->held_steps.list[i] = s->held_steps.list[i + cnt];
	return err;
}

int device_time__step(struct session *s, const struct held_step *step)
{
	if (!s->device)
		return decoder__step(s->records.decoder, step->pid, step->tid, step->step,
				     step->begin_ns, step->end_ns);
	return ARRAY_PUSH(s->held_steps.list, s->held_steps.cnt, s->held_steps.cap, *step);
}

/* ---- records ---- */

/* Runs also without other records, for the case that proftrace was stopped for long. */
static int pump_source(struct session *s)
{
	bool had_ended = device_source__has_ended(s->device);
	int err;

	device_library__yield_if_claimed(s);
	err = device_source__pump(s->device);
	if (!had_ended && !s->cupti.functions_alone && !s->cupti.yielded &&
	    device_source__has_ended(s->device))
		log__warn(MESSAGE_DEVICE_TIMES_END, device_source__explain(s->device));
	return err;
}

static int read_records(struct session *s, uint64_t *next_ns)
{
	/* Steps that ended long before the last read are written now. The last read counts, not
	 * this moment, since proftrace may have had no processor in between. */
	const uint64_t before_ns = s->held_steps.read_ns;
	int err = 0;

	(void)next_ns;
	s->held_steps.read_ns = clock__monotonic_ns();
	if (s->device)
		err = pump_source(s);
	if (!err && s->window.writer && !s->windows.ending && before_ns > HOLD_NS)
		err = release_steps(s, before_ns - HOLD_NS);
	return err;
}

/* The window's activities are complete: the caller has waited for them. */
static int window_finish(struct session *s, json_t *summary)
{
	int err;

	(void)summary;
	if (!s->device)
		return 0;
	if (s->target_gone)
		device_source__target_gone(s->device, s->target_execed);
	err = device_source__finish(s->device);
	return err ? err : release_steps(s, UINT64_MAX);
}

static json_t *attached_json(const struct shim_attached *a)
{
	return json_pack("{s:I, s:i, s:I, s:b, s:s}", "stopped_ns",
			 (json_int_t)a->inject.stopped_ns, "stops", (int)a->inject.stops, "took_ns",
			 (json_int_t)a->took_ns, "reused", (int)a->inject.already_loaded, "cupti",
			 a->cupti.path);
}

static void add_note(json_t *summary, const char *note)
{
	json_array_append_new(json_object_get(summary, "notes"), json_string(note));
}

static void note_no_device(json_t *summary, const char *why)
{
	char note[420];

	snprintf(note, sizeof(note), "no device times: %s", why);
	add_note(summary, note);
}

/* Has the process loaded CUDA since we read its libraries? */
static bool has_gained_cuda(const struct session *s)
{
	struct target *t;
	bool has;
	int err;

	if (s->target_gone || (!s->cupti.never_loads && cuda__has_driver(s->target)) ||
	    (s->device && !s->cupti.functions_alone))
		return false;
	err = target__open(s->opts->pid, &t);
	if (err) {
		err__take(err);
		return false;
	}
	has = cuda__has_driver(t);
	target__close(t);
	return has;
}

static void set_lost(json_t *summary, uint64_t lost)
{
	json_object_set_new(json_object_get(summary, "loss"), "device",
			    json_integer((json_int_t)lost));
}

/* Writes "device" and the losses of the device. */
static void describe(struct session *s, json_t *summary)
{
	json_t *notes = json_object_get(summary, "notes");
	const char *refused;
	json_t *device;
	uint64_t lost;

	if (s->cupti.no_device[0])
		note_no_device(summary, s->cupti.no_device);
	else if (has_gained_cuda(s))
		add_note(summary, "the process has begun to use CUDA only now: nothing of the "
				  "device is in this window; record again");
	if (s->pointer_hooks.lost)
		add_note(summary,
			 "operators that our library in the process sees are missing at the "
			 "window's end: it left before that");
	if (s->cupti.attached.took_ns)
		json_object_set_new(summary, "injection", attached_json(&s->cupti.attached));
	if (s->device && s->cupti.functions_alone)
		set_lost(summary, device_source__lost_functions(s->device, notes));
	if (!s->device || !device_library__uses_cuda(s))
		return;
	device = device_source__summary(s->device, notes, &lost);
	set_lost(summary, lost);
	if (s->cupti.missed)
		json_object_set_new(device, "refused", json_string(library_sleeps));
	refused = json_string_value(json_object_get(device, "refused"));
	/* If device times cover a part of the window, the report says how far. */
	if (refused && !json_object_get(device, "covered_until_ns")) {
		note_no_device(summary, refused);
		if (!s->calls_on && s->opts->detail != DETAIL_PHASE)
			add_note(summary, "the calls of CUDA are not in this window either");
	}
	json_object_set_new(summary, "device", device);
}

const struct component component_device_times = {
	.name = "device times",
	.poll = read_records,
	.at_end = true,
	.window_open = window_open,
	.window_close = window_close,
	.window_finish = window_finish,
	.describe = describe,
};
