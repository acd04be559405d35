// SPDX-License-Identifier: BSD-2-Clause
#include "device/device_source.h"
#include "bpf/thread_state.h"
#include "common/err.h"
#include "device/message_table.h"
#include "common/util.h"
#include "device/activity_queue.h"
#include "device/call_queue.h"
#include "device/clock_pairs.h"
#include "device/clock_summary.h"
#include "device/device_events.h"
#include "device/device_functions.h"
#include "device/device_losses.h"
#include "device/device_summary.h"
#include "device/event_records.h"
#include "device/correlation_map.h"
#include "device/shim_request.h"
#include "inject/seccomp.h"

#define SECOND	       1000000000ull
#define NOTE_MAX_NS    100000
#define UNRETURNED_MAX (16 * SHIM_RINGS)
#define RIPE_NS                                                                                    \
	(SECOND / 2) /* what ended so long ago has been read from the kernel's                     \
			ring */

struct device_source {
	struct shim_link *link;
	const struct target *target;
	struct device_taker taker;
	struct device_names *names;
	struct device_events *events;

	struct shim_request request;
	int filter_cnt; /* number of seccomp filters when the library's needs were checked
			   against them */
	bool filtered;	/* more filters were added since */

	struct call_queue calls[SHIM_RINGS];
	struct shim_open_call *unreturned;
	size_t unreturned_cnt, unreturned_cap;
	struct activity_queue activities;
	struct correlation_map kept;
	struct device_ranges ranges;
	struct event_records records;
	struct clock_pairs *pairs;
	uint64_t lost_clock, last_collect_ns;
	uint64_t calls_read_ns; /* all calls that ended before this were read */
	struct device_losses losses;

	struct recording_writer *w; /* NULL: no window */
	uint64_t open_ns, close_ns; /* close_ns UINT64_MAX: unknown yet */
	struct device_counts counts;

	struct device_functions functions;
	bool counting; /* calls of functions are only counted, not written */
};

/* ---- life ---- */

int device_source__new(struct shim_link *link, const struct target *target,
		       const struct device_taker *taker, struct device_source **out)
{
	struct device_source *d = calloc(1, sizeof(*d));

	if (!d) {
		shim_link__free(link);
		return -ENOMEM;
	}
	d->link = d->request.link = link;
	d->target = target;
	d->taker = *taker;
	d->filter_cnt = seccomp__filter_cnt(target->pid);
	d->close_ns = UINT64_MAX;
	d->names = device_names__new();
	d->events = d->names ? device_events__new((uint32_t)target->pid, d->names) : NULL;
	d->pairs = clock_pairs__new();
	if (!d->events || !d->pairs) {
		device_source__free(d);
		return -ENOMEM;
	}
	*out = d;
	return 0;
}

void device_source__free(struct device_source *d)
{
	if (!d)
		return;
	shim_link__free(d->link);
	device_events__free(d->events);
	device_names__free(d->names);
	for (size_t i = 0; i < SHIM_RINGS; i++)
		call_queue__clear(&d->calls[i]);
	free(d->unreturned);
	device_functions__clear(&d->functions);
	activity_queue__clear(&d->activities);
	correlation_map__clear(&d->kept);
	device_ranges__clear(&d->ranges);
	event_records__clear(&d->records);
	clock_pairs__free(d->pairs);
	free(d);
}

/* ---- the library ---- */

/* A new filter may kill the process for calls that CUPTI or the library makes on the target's
 * threads. */
static bool is_filtered(struct device_source *d)
{
	if (!d->filtered && !d->request.recording &&
	    seccomp__filter_cnt(d->target->pid) > d->filter_cnt) {
		d->filtered = true;
		shim_request__give_up(&d->request, REFUSAL_SECCOMP_FILTER);
		log__warn(MESSAGE_NO_DEVICE_TIMES, shim_request__explain(&d->request));
	}
	return d->filtered;
}

void device_source__want(struct device_source *d, bool recording)
{
	shim_request__want(&d->request, recording && !is_filtered(d));
}

static void note_end(struct device_source *d)
{
	if (d->w && d->close_ns == UINT64_MAX && !d->counts.ended_ns)
		d->counts.ended_ns = clock__monotonic_ns();
}

void device_source__yield(struct device_source *d, uint64_t kinds)
{
	note_end(d);
	shim_request__yield(&d->request, kinds);
}

bool device_source__has_left(const struct device_source *d)
{
	return shim_link__has_left(d->link);
}

void device_source__target_gone(struct device_source *d, bool execed)
{
	const enum shim_state state = shim_link__state(d->link);
	struct shim_facts facts;

	shim_link__facts(d->link, &facts);
	if (!d->w || d->counts.ended_ns || facts.exited ||
	    (state != SHIM_RECORDING && state != SHIM_STOPPING))
		return;
	d->counts.ended_ns = clock__monotonic_ns();
	shim_request__give_up(&d->request, execed ? REFUSAL_EXEC : REFUSAL_END);
}

bool device_source__has_ended(const struct device_source *d)
{
	return d->counts.ended_ns;
}

bool device_source__is_idle(struct device_source *d, uint64_t now)
{
	return shim_request__is_done(&d->request, now);
}

bool device_source__is_recording(const struct device_source *d)
{
	return shim_link__state(d->link) == SHIM_RECORDING;
}

bool device_source__is_absent(const struct device_source *d)
{
	return shim_link__state(d->link) == SHIM_ABSENT;
}

const char *device_source__refusal(const struct device_source *d)
{
	return shim_request__refusal(&d->request);
}

const char *device_source__explain(const struct device_source *d)
{
	return shim_request__explain(&d->request);
}

/* ---- functions ---- */

int device_source__see(struct device_source *d, const struct shim_functions *functions)
{
	static const struct shim_functions none;
	int err = shim_link__set_functions(d->link, functions ? functions : &none);

	return err ? err : device_functions__set(&d->functions, functions ? functions : &none);
}

void device_source__see_no_more(struct device_source *d, size_t function)
{
	device_functions__drop(&d->functions, function);
	shim_link__drop_function(d->link, function);
}

size_t device_source__pointers_set(const struct device_source *d)
{
	return shim_link__pointers_set(d->link);
}

struct device_hooked device_source__hooked(const struct device_source *d)
{
	struct shim_facts facts;
	uint64_t each_ns;

	shim_link__facts(d->link, &facts);
	/* The target wrote the value, so it is bounded. */
	each_ns = facts.note_ns < NOTE_MAX_NS ? facts.note_ns : NOTE_MAX_NS;
	return (struct device_hooked){d->counts.hooked,
				      (d->counts.hooked + d->counts.calls) * each_ns};
}

void device_source__count(struct device_source *d)
{
	d->counting = true;
}

uint64_t *device_source__counted(struct device_source *d, uint64_t from_ns, uint64_t to_ns)
{
	d->counting = false;
	return device_functions__counted(&d->functions, from_ns, to_ns);
}

/* ---- threads ---- */

static int if_innermost(void *ns_tid, pid_t tid)
{
	return proc__innermost_tid(tid) == *(pid_t *)ns_tid ? tid : 0;
}

static uint32_t find_tid(const struct device_source *d, uint32_t ns_tid)
{
	pid_t wanted = (pid_t)ns_tid, found = 0;

	if (d->target->foreign_pid_ns)
		found = proc__each_task(d->target->pid, if_innermost, &wanted);
	return found ? (uint32_t)found : ns_tid;
}

/* ---- what came ---- */

static bool is_function(const struct shim_call *call)
{
	return call->domain == SHIM_FUNCTION;
}

static void set_thread(const struct device_source *d, struct call_queue *q, uint32_t ns_tid)
{
	if (q->ns_tid == ns_tid)
		return;
	q->ns_tid = ns_tid;
	q->tid = find_tid(d, ns_tid);
}

/* A call gives bounds for the device's clock. */
static int call_pair(struct device_source *d, const struct shim_call *call)
{
	const enum wait_kind wait =
		device_names__wait(d->names, SHIM_API_KEY(call->domain, call->api));
	const uint32_t id = call->correlation;

	clock_pairs__call(d->pairs, call, wait == WAIT_OWN_COPY);
	return wait == WAIT_CONTEXT ? clock_pairs__wait(d->pairs, id, id, (uint32_t)call->node,
							CLOCK_ALL_STREAMS)
				    : 0;
}

static int on_call(void *ctx, size_t ring, uint32_t ns_tid, const struct shim_call *call)
{
	struct device_source *d = ctx;
	struct call_queue *q = &d->calls[ring];
	int err = is_function(call) ? 0 : correlation_map__see(&d->kept, call->correlation);

	if (err)
		return err;
	if (!is_function(call))
		err = call_pair(d, call);
	if (err)
		return err;
	set_thread(d, q, ns_tid);
	if (is_function(call) && d->counting)
		return device_functions__count(&d->functions, call);
	if (is_function(call) && device_functions__has(&d->functions, call) &&
	    !device_functions__has_name(&d->functions, call))
		d->taker.met(d->taker.ctx, (uint32_t)d->target->pid, q->tid, call);
	return call_queue__push(q, call);
}

static int on_open_call(struct device_source *d, const struct shim_open_call *open)
{
	const struct shim_call *call = &open->call;

	if (open->ring >= SHIM_RINGS || d->unreturned_cnt >= UNRETURNED_MAX ||
	    call->end_ns < call->begin_ns)
		return 0;
	return ARRAY_PUSH(d->unreturned, d->unreturned_cnt, d->unreturned_cap, *open);
}

static int on_record(void *ctx, const struct shim_record *r)
{
	struct device_source *d = ctx;
	int err = 0;

	switch (r->kind) {
	case SHIM_REC_NAME:
		return device_names__learn(d->names, (const struct shim_name *)r);
	case SHIM_REC_DEVICE:
		return device_events__device(d->events, (const struct shim_device *)r);
	case SHIM_REC_CALL:
		return on_open_call(d, (const struct shim_open_call *)r);
	/* Clocks learn from it now. A wait that names only the context may come before the records
	 * that name context and device. Also records without a place in the window give bounds. */
	case SHIM_REC_KERNEL:
	case SHIM_REC_COPY:
	case SHIM_REC_SET:
		err = device_events__learn(d->events, (const struct shim_activity *)r);
		break;
	case SHIM_REC_SYNC:
	case SHIM_REC_MEMORY:
	case SHIM_REC_MARKER:
	case SHIM_REC_OVERHEAD:
	case SHIM_REC_EVENT:
		break;
	default:
		return 0;
	}
	return err ? err : activity_queue__push(&d->activities, r);
}

static int read_calls(struct device_source *d)
{
	d->calls_read_ns = clock__monotonic_ns();
	return shim_link__calls(d->link, on_call, d);
}

int device_source__look(struct device_source *d, uint64_t end_ns)
{
	return end_ns <= d->calls_read_ns ? 0 : read_calls(d);
}

static int collect(struct device_source *d)
{
	uint64_t now = clock__monotonic_ns();
	int err = shim_link__activities(d->link, on_record, d);

	if (!err)
		err = read_calls(d);
	d->last_collect_ns = now;
	return err;
}

/* ---- calls ---- */

static int keep_call(struct device_source *d, const struct shim_call *call, uint32_t track)
{
	const uint64_t function = SHIM_API_KEY(call->domain, call->api);

	return correlation_map__put(&d->kept, call->correlation, track,
				    !call->flags && device_names__is_launch(d->names, function));
}

static int keep_outside(struct device_source *d, const struct shim_call *call)
{
	return correlation_map__put(&d->kept, call->correlation, KEPT_OUTSIDE, false);
}

static int function_write(struct device_source *d, uint32_t tid, const struct shim_call *call)
{
	char own[SHIM_SEEN_NAME_MAX + 1], full[SHIM_SEEN_NAME_MAX + 1];
	struct call_names names = {};
	struct pt_span span;

	if (!device_functions__span(&d->functions, call, d->open_ns, d->close_ns, &span))
		return 0;
	d->counts.hooked++;
	if (device_functions__has_name(&d->functions, call)) {
		names.own = shim_link__seen_name(d->link, call->node, own) ? own : NULL;
		names.full = shim_link__seen_name(d->link, call->type, full) ? full : NULL;
		d->counts.nameless += call->type && !names.full;
	}
	return d->taker.hooked(d->taker.ctx, (uint32_t)d->target->pid, tid, &span, &names);
}

static int call_write(void *ctx, uint32_t tid, const struct shim_call *call)
{
	struct device_source *d = ctx;
	uint32_t track;
	int err;

	if (is_function(call))
		return function_write(d, tid, call);
	if (call->end_ns <= d->open_ns || call->begin_ns >= d->close_ns)
		return keep_outside(d, call);
	track = d->taker.track(d->taker.ctx, (uint32_t)d->target->pid, tid);
	d->counts.calls++;
	err = track ? keep_call(d, call, track) : -ENOMEM;
	if (err)
		return err;
	return device_events__call(d->events, track, call, d->open_ns, d->close_ns);
}

/* Writes calls that had not returned when the library left CUPTI, unless their rings have them
 * now. */
static int unreturned_write(struct device_source *d)
{
	int err = 0;

	for (size_t i = 0; i < d->unreturned_cnt && !err; i++) {
		const struct shim_open_call *open = &d->unreturned[i];
		struct call_queue *q = &d->calls[open->ring];

		if (!is_function(&open->call) &&
		    correlation_map__track(&d->kept, open->call.correlation))
			continue;
		set_thread(d, q, open->tid);
		err = call_write(d, q->tid, &open->call);
	}
	d->unreturned_cnt = 0;
	return err;
}

static int call_discard(void *ctx, const struct shim_call *call)
{
	struct device_source *d = ctx;

	return is_function(call) ? 0 : keep_outside(d, call);
}

int device_source__before(struct device_source *d, uint32_t tid, uint64_t end_ns)
{
	int err = 0;

	for (size_t i = 0; i < SHIM_RINGS && !err; i++)
		if (call_queue__has(&d->calls[i], tid))
			err = call_queue__take(&d->calls[i], end_ns, call_write, d);
	return err;
}

/* ---- activities ---- */

/* The track of a thread, or of the main thread if the target does not say which. */
static uint32_t track_of(struct device_source *d, uint32_t ns_tid)
{
	uint32_t pid = (uint32_t)d->target->pid, tid = ns_tid ? 0 : pid;

	for (size_t i = 0; i < SHIM_RINGS && !tid; i++)
		if (d->calls[i].ns_tid == ns_tid)
			tid = d->calls[i].tid;
	return d->taker.track(d->taker.ctx, pid, tid ? tid : find_tid(d, ns_tid));
}

static int range_write(struct device_source *d, const struct device_range *range)
{
	uint32_t track = track_of(d, range->tid);

	return track ? device_events__range(d->events, track, range, d->open_ns, d->close_ns)
		     : -ENOMEM;
}

/* Takes marks outside of a window, too, because its ranges may have begun before it. */
static int mark_take(struct device_source *d, const struct shim_marker *mark)
{
	struct device_range range;
	int complete = device_ranges__mark(&d->ranges, mark, &range);

	return complete > 0 && d->w ? range_write(d, &range) : complete < 0 ? complete : 0;
}

static int memory_write(struct device_source *d, const struct shim_memory *memory)
{
	uint32_t track = correlation_map__track(&d->kept, memory->a.correlation);

	if (!track)
		track = track_of(d, 0);
	return track ? device_events__memory(d->events, track, memory) : -ENOMEM;
}

/* Does the program only ask whether an event has come? CUPTI reports that as a synchronisation,
 * too. The call is not recorded, and is no wait. */
static bool is_question(const struct device_source *d, const struct shim_activity *a)
{
	return a->h.kind == SHIM_REC_SYNC && !correlation_map__is_seen(&d->kept, a->correlation);
}

/* CUPTI numbers the record for which a wait waits. The event's latest record may be another. */
static int wait_pair(struct device_source *d, const struct shim_sync *sync)
{
	const uint32_t wait = sync->a.correlation, context = sync->a.context;
	const struct event_record *record;

	if (sync->type == SYNC_STREAM)
		return clock_pairs__wait(d->pairs, wait, wait, context, sync->a.stream);
	if (sync->type != SYNC_EVENT || !event_records__is_numbered(sync))
		return 0;
	record = event_records__find(&d->records, sync);
	return record ? clock_pairs__wait(d->pairs, wait, record->correlation, context,
					  record->stream)
		      : 0;
}

static int work_pair(struct device_source *d, const struct shim_activity *a)
{
	const bool to_host = a->h.kind == SHIM_REC_COPY && !a->graph &&
			     ((const struct shim_copy *)a)->kind == COPY_TO_HOST;

	return clock_pairs__work(d->pairs, a, device_events__monotonic(d->events, a->start_ns),
				 device_events__monotonic(d->events, a->end_ns), to_host);
}

static int sync_write(struct device_source *d, const struct shim_sync *sync)
{
	const int err = wait_pair(d, sync);

	return err ? err
		   : device_events__sync(d->events, sync, event_records__find(&d->records, sync));
}

/* Work of a call that was not open in the window. If the call came before the window, the device
 * was busy with its work in the window. */
static int before_write(struct device_source *d, const struct shim_activity *a)
{
	if (a->h.kind > SHIM_REC_SET ||
	    device_events__monotonic(d->events, a->start_ns) >= d->close_ns)
		return 0;
	/* On a clock that is behind, later work seems to begin in the window. */
	if (clock_pairs__begin_ns(d->pairs, a->correlation) >= d->open_ns)
		return 0;
	return device_events__activity(d->events, a, true);
}

static int activity_write(struct device_source *d, const struct shim_activity *a)
{
	uint32_t track = correlation_map__track(&d->kept, a->correlation);
	uint64_t end_ns = device_events__monotonic(d->events, a->end_ns);
	/* work that ended before the window, even if its call had not returned */
	bool is_earlier = end_ns <= d->open_ns &&
			  clock_pairs__begin_ns(d->pairs, a->correlation) < d->open_ns;
	/* a call that was not seen to return: it was open at the window's end, or began later */
	bool may_be_later =
		device_events__monotonic(d->events, a->start_ns) >= d->close_ns && !track;
	int err =
		a->h.kind <= SHIM_REC_SET ? correlation_map__has_work(&d->kept, a->correlation) : 0;

	if (err)
		return err;
	/* The work's end lies after it was read, or long before its call's window. So another tool
	 * set another clock for CUPTI. */
	if (end_ns > d->last_collect_ns + SECOND ||
	    (end_ns + SECOND < d->open_ns && track && track != KEPT_OUTSIDE)) {
		d->lost_clock += a->h.kind != SHIM_REC_OVERHEAD && !is_question(d, a);
		return 0;
	}
	if (a->h.kind <= SHIM_REC_SET && !err)
		err = work_pair(d, a);
	if (err || may_be_later || is_earlier)
		return err;
	if (track == KEPT_OUTSIDE)
		return before_write(d, a);
	if (is_question(d, a)) {
		d->counts.questions++;
		return 0;
	}
	if (a->h.kind == SHIM_REC_MEMORY)
		return memory_write(d, (const struct shim_memory *)a);
	if (a->h.kind == SHIM_REC_SYNC)
		return sync_write(d, (const struct shim_sync *)a);
	d->counts.activities += a->h.kind <= SHIM_REC_SET;
	d->counts.latest_ns = end_ns > d->counts.latest_ns ? end_ns : d->counts.latest_ns;
	return device_events__activity(d->events, a, false);
}

/* Writes an activity; forgets it if there is no window. */
static int activity_take(void *ctx, const union activity *activity)
{
	struct device_source *d = ctx;

	switch (activity->a.h.kind) {
	case SHIM_REC_MARKER:
		return mark_take(d, &activity->marker);
	case SHIM_REC_EVENT:
		return event_records__learn(&d->records, &activity->event);
	default:
		return d->w ? activity_write(d, &activity->a) : 0;
	}
}

/* With another clock than ours, activities wait for the line's second point. */
static bool may_write(const struct device_source *d)
{
	struct shim_facts facts;

	if (!d->w)
		return true;
	shim_link__facts(d->link, &facts);
	return d->close_ns == UINT64_MAX && facts.own_clock;
}

/* Writes calls of threads without spans; other threads' calls are written at the ends of spans. The
 * kernel's ring was read after collected_ns, so an end of the window before that is known. */
static int ripe_calls_write(struct device_source *d, uint64_t collected_ns)
{
	const uint64_t ripe_ns = d->last_collect_ns - RIPE_NS;
	const uint64_t end_ns = ripe_ns < collected_ns ? ripe_ns : collected_ns;
	int err = 0;

	for (size_t i = 0; i < SHIM_RINGS && !err; i++)
		err = call_queue__take(&d->calls[i], end_ns, call_write, d);
	return err;
}

static void look_at_losses(struct device_source *d)
{
	struct shim_facts facts;

	shim_link__facts(d->link, &facts);
	device_losses__look(&d->losses, &facts, d->activities.lost + d->ranges.lost, d->lost_clock);
}

int device_source__pump(struct device_source *d)
{
	uint64_t before_ns = d->last_collect_ns;
	int err = 0;

	shim_link__beat(d->link);
	/* The library left CUPTI because it got no heartbeat. What it had is passed on. */
	if (shim_link__state(d->link) == SHIM_LEFT)
		note_end(d);
	/* Calls from before the window come first, because they show which activities belong to
	 * none of its calls. Without a window, calls that ended before the last reading of the
	 * kernel's ring belong to no window. */
	for (size_t i = 0; i < SHIM_RINGS && !err; i++)
		err = d->w ? call_queue__take(&d->calls[i], d->open_ns, call_write, d)
			   : call_queue__discard(&d->calls[i], before_ns, call_discard, d);
	if (!err && may_write(d))
		err = activity_queue__take(&d->activities, activity_take, d);
	if (!err)
		err = collect(d);
	if (!err && d->w)
		err = ripe_calls_write(d, before_ns);
	activity_queue__ripen(&d->activities);
	clock_pairs__fit(d->pairs);
	look_at_losses(d);
	return err;
}

/* ---- the window ---- */

void device_source__open(struct device_source *d, struct recording_writer *w, uint64_t open_ns)
{
	d->w = w;
	d->open_ns = open_ns;
	d->close_ns = UINT64_MAX;
	d->counts = (struct device_counts){};
	d->unreturned_cnt = 0; /* the library stopped recording before */
	device_events__set_writer(d->events, w);
	device_losses__open(&d->losses, open_ns);
	clock_pairs__open(d->pairs, open_ns);
}

void device_source__close(struct device_source *d, uint64_t close_ns)
{
	d->close_ns = close_ns;
	look_at_losses(d);
	device_losses__close(&d->losses);
}

static void set_clock(struct device_source *d)
{
	struct shim_facts facts;
	struct device_clock clock;

	shim_link__facts(d->link, &facts);
	clock = (struct device_clock){facts.own_clock, facts.clock_begin, facts.clock_end};
	device_events__set_clock(d->events, &clock);
}

/* A range without an end lasts beyond the window. It contains what came after its begin. */
static int open_range_write(struct device_source *d, struct device_range *range)
{
	range->nests = true;
	return range_write(d, range);
}

int device_source__finish(struct device_source *d)
{
	int err = collect(d);

	set_clock(d);
	for (size_t i = 0; i < SHIM_RINGS && !err; i++)
		err = call_queue__take(&d->calls[i], UINT64_MAX, call_write, d);
	if (!err)
		err = unreturned_write(d);
	activity_queue__ripen(&d->activities);
	if (!err)
		err = activity_queue__take(&d->activities, activity_take, d);
	for (size_t i = 0; i < d->ranges.cnt && !err; i++)
		if (d->ranges.open[i].begin_ns)
			err = open_range_write(d, &d->ranges.open[i]);
	d->w = NULL;
	d->counts.unanswered = d->kept.waiting_cnt;
	correlation_map__clear(&d->kept);
	device_ranges__clear(&d->ranges);
	event_records__clear(&d->records);
	return err;
}

/* ---- summary ---- */

uint64_t device_source__lost_functions(struct device_source *d, json_t *notes)
{
	look_at_losses(d);
	return device_summary__lost_functions(&d->counts, &d->losses, notes);
}

json_t *device_source__summary(struct device_source *d, json_t *notes, uint64_t *lost)
{
	struct shim_facts facts;
	const struct device_summary s = {&d->counts, &facts, d->events, device_source__refusal(d),
					 d->open_ns};
	json_t *json;

	shim_link__facts(d->link, &facts);
	look_at_losses(d);
	json = device_summary__json(&s, &d->losses, notes, lost);
	if (json)
		clock_summary__add(d->pairs, d->close_ns, json, notes);
	return json;
}
