// SPDX-License-Identifier: BSD-2-Clause
/* Streams and events: who waits for whom. */
#include "engine.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define STREAM_MAGIC 0x5354524du
#define EVENT_MAGIC  0x4556454eu
#define QUEUE_LENGTH                                                                               \
	1024		/* launches that a stream holds before the caller must wait, as measured */
#define NON_BLOCKING  1 /* stream flag: not ordered with the legacy stream */
#define NO_TIMING     2 /* event flag */
#define LEGACY_ID     7 /* the id that CUPTI gives the null stream of the first context */
#define FIRST_USER_ID 13

static struct {
	struct sim_stream *streams;
	struct sim_stream legacy;
} devices[SIM_MAX_DEVICES];
static _Atomic uint32_t next_stream_id = FIRST_USER_ID, next_event_id = 1;
static struct sim_event *free_events; /* never given back to malloc: a stale handle must be seen */
static __thread struct sim_stream *per_thread[SIM_MAX_DEVICES];

struct sim_stream *sim_device_streams(int dev)
{
	struct sim_stream *legacy = &devices[dev].legacy;

	if (!legacy->magic) {
		*legacy = (struct sim_stream){
			.magic = STREAM_MAGIC, .dev = dev, .id = LEGACY_ID, .legacy = true};
		devices[dev].streams = legacy;
	}
	return devices[dev].streams;
}

static struct sim_stream *stream_new(int dev, uint32_t flags, int priority)
{
	struct sim_stream *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->magic = STREAM_MAGIC;
	s->dev = dev;
	s->flags = flags;
	s->priority = priority;
	s->id = atomic_fetch_add(&next_stream_id, 1);
	sim_lock();
	s->next = sim_device_streams(dev);
	devices[dev].streams = s;
	sim_unlock();
	return s;
}

struct sim_stream *sim_stream_get(void *handle)
{
	int dev = sim_thread()->dev;
	struct sim_stream *s = handle;

	if ((uintptr_t)handle < 2) {
		sim_lock();
		sim_device_streams(dev);
		sim_unlock();
		return &devices[dev].legacy;
	}
	if ((uintptr_t)handle == 2) {
		if (!per_thread[dev])
			per_thread[dev] = stream_new(dev, 0, 0);
		return per_thread[dev];
	}
	return (uintptr_t)handle & 7 || s->magic != STREAM_MAGIC ? NULL : s;
}

int sim_stream_new(uint32_t flags, int priority, struct sim_stream **out)
{
	const struct sim_tool *tool;

	sim_context_touch();
	*out = stream_new(sim_thread()->dev, flags, priority);
	if (!*out)
		return SIM_OUT_OF_MEMORY;
	tool = sim_tool();
	if (tool && tool->resource)
		tool->resource(SIM_STREAM_CREATED, (*out)->dev, *out);
	return SIM_OK;
}

/* What is queued still runs. The structure stays, so that the stale handle is refused. */
int sim_stream_destroy(struct sim_stream *s)
{
	const struct sim_tool *tool = sim_tool();
	struct sim_stream **at;

	if (!s || s->legacy)
		return SIM_INVALID_HANDLE;
	if (tool && tool->resource)
		tool->resource(SIM_STREAM_DESTROYED, s->dev, s);
	sim_lock();
	for (at = &devices[s->dev].streams; *at; at = &(*at)->next) {
		if (*at == s) {
			*at = s->next;
			break;
		}
	}
	s->magic = 0;
	sim_unlock();
	return SIM_OK;
}

static bool is_blocking(const struct sim_stream *s)
{
	return !(s->flags & NON_BLOCKING);
}

void sim_stream_append(struct sim_stream *s, struct sim_op *op)
{
	struct sim_stream *all = sim_device_streams(s->dev);

	sim_op_after(op, s->last);
	if (s->legacy) {
		for (struct sim_stream *other = all; other; other = other->next)
			if (other != s && is_blocking(other))
				sim_op_after(op, other->last);
	} else if (is_blocking(s)) {
		sim_op_after(op, devices[s->dev].legacy.last);
	}
	op->stream = s;
	s->last = op;
	s->pending++;
}

static bool has_room(void *stream)
{
	return ((struct sim_stream *)stream)->pending < QUEUE_LENGTH;
}

/* Not before the mark is in its stream: else another thread may queue there what waits for it, and
 * each would wait for the other. */
static void set_recorded(struct sim_event *e, struct sim_op *mark)
{
	e->capture = NULL;
	e->recorded = true;
	e->op = mark;
}

int sim_stream_submit(struct sim_stream *s, struct sim_op *op)
{
	const struct sim_tool *tool = sim_tool();

	if (s->capture)
		return sim_capture_op(s, op);
	sim_context_touch();
	op->dev = s->dev;
	op->stream_id = s->id;
	op->priority = s->priority;
	if (tool && tool->submitted && (op->kind != SIM_MARK || op->event))
		tool->submitted(op);
	if (!has_room(s))
		sim_wait(has_room, s);
	sim_lock();
	sim_advance_locked();
	sim_stream_append(s, op);
	if (op->event)
		set_recorded(op->event, op);
	sim_op_submit(op, sim_now() + (op->kind == SIM_MARK ? 0 : sim_config.launch_ns));
	sim_unlock();
	return SIM_OK;
}

/* ---- waiting for streams ---- */

static void set_flag(struct sim_op *op)
{
	*(bool *)op->argument = true;
}

static bool flag_is_set(void *flag)
{
	return *(bool *)flag;
}

/* Waits for what is queued now, and not for what others queue meanwhile. */
static void drain(int dev, bool (*chosen)(const struct sim_stream *s, const struct sim_stream *of),
		  const struct sim_stream *of)
{
	struct sim_op *op = sim_op_new(SIM_MARK);
	bool ended = false;

	op->argument = &ended;
	op->on_end = set_flag;
	sim_lock();
	sim_advance_locked();
	for (struct sim_stream *s = sim_device_streams(dev); s; s = s->next)
		if (chosen(s, of))
			sim_op_after(op, s->last);
	sim_op_submit(op, sim_now());
	sim_unlock();
	sim_wait(flag_is_set, &ended);
}

static bool same_or_ordered(const struct sim_stream *s, const struct sim_stream *of)
{
	return s == of || (of->legacy && is_blocking(s));
}

static bool any(const struct sim_stream *s, const struct sim_stream *of)
{
	(void)s;
	(void)of;
	return true;
}

static uint64_t sync_begin(void)
{
	const struct sim_tool *tool = sim_tool();

	return tool && tool->sync_begin ? tool->sync_begin() : 0;
}

static void sync_end(struct sim_sync sync, uint64_t begin)
{
	const struct sim_tool *tool = sim_tool();

	sync.correlation = sim_thread()->correlation;
	if (tool && tool->sync_end)
		tool->sync_end(&sync, begin);
}

int sim_stream_sync(struct sim_stream *s)
{
	uint64_t begin = sync_begin();

	if (s->capture) {
		s->capture->invalid = true;
		return SIM_CAPTURE_UNSUPPORTED;
	}
	sim_context_touch();
	drain(s->dev, same_or_ordered, s);
	sync_end((struct sim_sync){.kind = SIM_SYNC_STREAM, .dev = s->dev, .stream_id = s->id},
		 begin);
	return SIM_OK;
}

void sim_device_sync(int dev)
{
	uint64_t begin = sync_begin();

	sim_context_touch();
	drain(dev, any, NULL);
	sync_end((struct sim_sync){.kind = SIM_SYNC_CONTEXT, .dev = dev}, begin);
}

void sim_device_drain(int dev)
{
	drain(dev, any, NULL);
}

void sim_stream_drain(struct sim_stream *s)
{
	drain(s->dev, same_or_ordered, s);
}

static bool stream_idle(struct sim_stream *s)
{
	bool idle = true;

	sim_lock();
	sim_advance_locked();
	for (struct sim_stream *other = sim_device_streams(s->dev); other; other = other->next)
		if (same_or_ordered(other, s) && other->pending)
			idle = false;
	sim_unlock();
	return idle;
}

int sim_stream_query(struct sim_stream *s)
{
	uint64_t begin = sync_begin();
	int result = stream_idle(s) ? SIM_OK : SIM_NOT_READY;

	sync_end((struct sim_sync){.kind = SIM_SYNC_STREAM,
				   .dev = s->dev,
				   .stream_id = s->id,
				   .result = result},
		 begin);
	return result;
}

/* ---- events ---- */

struct sim_event *sim_event_get(void *handle)
{
	struct sim_event *e = handle;

	return !handle || (uintptr_t)handle & 7 || e->magic != EVENT_MAGIC ? NULL : e;
}

struct sim_event *sim_event_new(uint32_t flags)
{
	struct sim_event *e;

	sim_lock();
	e = free_events;
	if (e)
		free_events = (struct sim_event *)e->op;
	sim_unlock();
	if (!e)
		e = malloc(sizeof(*e));
	if (!e)
		return NULL;
	*e = (struct sim_event){.magic = EVENT_MAGIC,
				.dev = sim_thread()->dev,
				.flags = flags,
				.id = atomic_fetch_add(&next_event_id, 1),
				.references = 1};
	return e;
}

void sim_event_put(struct sim_event *e)
{
	if (--e->references)
		return;
	free(e->tails);
	e->op = (struct sim_op *)free_events;
	free_events = e;
}

int sim_event_destroy(struct sim_event *e)
{
	sim_lock();
	e->magic = 0;
	sim_event_put(e);
	sim_unlock();
	return SIM_OK;
}

static void set_tails(uint32_t **tails, uint32_t *cnt, const uint32_t *from, uint32_t from_cnt)
{
	free(*tails);
	*tails = malloc((from_cnt + 1) * sizeof(**tails));
	if (!*tails)
		abort();
	memcpy(*tails, from, from_cnt * sizeof(**tails));
	*cnt = from_cnt;
}

int sim_event_record(struct sim_event *e, struct sim_stream *s)
{
	struct sim_op *op;

	if (s->capture) {
		e->capture = s->capture;
		set_tails(&e->tails, &e->tail_cnt, s->tails, s->tail_cnt);
		return SIM_OK;
	}
	op = sim_op_new(SIM_MARK);
	op->event = e;
	sim_lock();
	e->references++;
	e->sync_id++;
	sim_unlock();
	return sim_stream_submit(s, op);
}

static void join_capture(struct sim_stream *s, const struct sim_event *e)
{
	uint32_t cnt = s->capture ? s->tail_cnt : 0;
	uint32_t *all = malloc((cnt + e->tail_cnt + 1) * sizeof(*all));

	if (!all)
		abort();
	memcpy(all, s->tails, cnt * sizeof(*all));
	memcpy(all + cnt, e->tails, e->tail_cnt * sizeof(*all));
	free(s->tails);
	s->tails = all;
	s->tail_cnt = cnt + e->tail_cnt;
	s->capture = e->capture;
}

int sim_event_wait(struct sim_stream *s, struct sim_event *e)
{
	uint64_t begin = sync_begin();
	struct sim_op *op;

	if (e->capture) {
		join_capture(s, e);
		return SIM_OK;
	}
	if (s->capture)
		return e->recorded ? SIM_CAPTURE_INVALIDATED + 4 : SIM_OK; /* ...isolation */
	op = sim_op_new(SIM_MARK);
	sim_lock();
	sim_advance_locked();
	op->dev = s->dev;
	sim_op_after(op, e->op);
	sim_stream_append(s, op);
	sim_op_submit(op, sim_now());
	sim_unlock();
	sync_end((struct sim_sync){.kind = SIM_SYNC_WAIT,
				   .dev = s->dev,
				   .stream_id = s->id,
				   .event_id = e->id,
				   .event_sync_id = e->sync_id},
		 begin);
	return SIM_OK;
}

static struct sim_sync event_sync(const struct sim_event *e)
{
	return (struct sim_sync){.kind = SIM_SYNC_EVENT,
				 .dev = e->dev,
				 .event_id = e->id,
				 .event_sync_id = e->sync_id};
}

static int event_query(struct sim_event *e)
{
	int result;

	sim_lock();
	sim_advance_locked();
	result = e->op ? SIM_NOT_READY : SIM_OK;
	sim_unlock();
	return result;
}

int sim_event_query(struct sim_event *e)
{
	uint64_t begin = sync_begin();
	struct sim_sync sync = event_sync(e);

	sync.result = event_query(e);
	sync_end(sync, begin);
	return sync.result;
}

struct event_wait {
	struct sim_event *event;
	struct sim_op *op;
};

static bool event_ended(void *argument)
{
	const struct event_wait *wait = argument;

	return wait->event->op != wait->op || !wait->op;
}

int sim_event_sync(struct sim_event *e)
{
	struct event_wait wait = {e, NULL};
	uint64_t begin = sync_begin();

	if (e->capture)
		return SIM_CAPTURE_UNSUPPORTED;
	sim_lock();
	wait.op = e->op;
	sim_unlock();
	sim_wait(event_ended, &wait);
	sync_end(event_sync(e), begin);
	return SIM_OK;
}

int sim_event_elapsed(float *ms, struct sim_event *a, struct sim_event *b)
{
	if (!a->recorded || !b->recorded || (a->flags | b->flags) & NO_TIMING)
		return SIM_INVALID_HANDLE;
	if (event_query(a) || event_query(b))
		return SIM_NOT_READY;
	*ms = (float)(((double)b->end_ns - (double)a->end_ns) / 1e6);
	return SIM_OK;
}
