// SPDX-License-Identifier: BSD-2-Clause
#include "capture/decode/decoder_internal.h"
#include "bpf/thread_state.h"
#include "capture/decode/node_names.h"
#include "capture/decode/object_names.h"
#include "capture/decode/pending.h"
#include "capture/decode/python_stacks.h"
#include "common/err.h"
#include "common/text_char.h"
#include "common/util.h"
#include "device/kernels/kernel_processes.h"
#include <bpf/bpf.h>
#include <ctype.h>
#include <string.h>

struct decoder *decoder__new(struct target *t, const struct framework *framework,
			     const struct probe_plan *plan, const struct pt_passes *latest_passes)
{
	struct decoder *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->target = t;
	d->framework = framework;
	d->plan = plan;
	d->latest_passes = latest_passes;
	d->nodes = node_names__new(t, framework);
	d->objects = object_names__new();
	d->kernels = kernel_processes__new(t);
	d->pending = pending__new();
	if (!d->nodes || !d->objects || !d->kernels || !d->pending) {
		decoder__free(d);
		return NULL;
	}
	decoder__plan_grew(d);
	return d;
}

void decoder__plan_grew(struct decoder *d)
{
	/* Of several of a row the first is its function's entry. */
	for (size_t i = d->plan->cnt; i-- > 0;) {
		d->rows[d->plan->probes[i].row].probe = &d->plan->probes[i];
		d->has_passes |= d->plan->probes[i].category == CAT_BACKWARD;
	}
}

void decoder__free(struct decoder *d)
{
	if (!d)
		return;
	node_names__free(d->nodes);
	object_names__free(d->objects);
	kernel_processes__free(d->kernels);
	pending__free(d->pending);
	free(d->tracks);
	for (size_t i = 0; i < d->counter_cnt; i++)
		free(d->counters[i].name);
	free(d->counters);
	hash_index__free(&d->counter_index);
	hash_index__free(&d->track_index);
	free(d);
}

void decoder__set_stacks(struct decoder *d, struct python_stacks *stacks)
{
	d->stacks = stacks;
}

void decoder__set_long_names(struct decoder *d, struct long_names *names)
{
	d->long_names = names;
}

void decoder__prepare_kernels(struct decoder *d)
{
	kernel_processes__prepare(d->kernels);
}

static void note_stepped(struct decoder *d)
{
	for (size_t i = 0; i < d->plan->cnt; i++) {
		const struct planned_probe *probe = &d->plan->probes[i];
		struct row *row = &d->rows[probe->row];

		if (row->probe == probe)
			row->steps_begin = probe->stepped;
		else
			row->steps_end |= probe->stepped;
	}
}

void decoder__set_writer(struct decoder *d, struct recording_writer *w)
{
	d->writer = w;
	d->track_cnt = 0;
	hash_index__clear(&d->track_index);
	node_names__forget_ids(d->nodes);
	if (d->stacks)
		python_stacks__forget_ids(d->stacks);
	kernel_processes__forget(d->kernels);
	memset(d->hits, 0, sizeof(d->hits));
	d->stepped_hits = 0;
	for (size_t i = 0; i < PT_MAX_PROBES; i++)
		d->rows[i].name = 0;
	note_stepped(d);
}

void decoder__set_before(struct decoder *d, int (*before)(void *ctx, uint32_t tid, uint64_t end_ns),
			 void *ctx)
{
	d->before = before;
	d->before_ctx = ctx;
}

void decoder__set_look(struct decoder *d, int (*look)(void *ctx, uint64_t end_ns), void *ctx)
{
	d->look = look;
	d->look_ctx = ctx;
}

void decoder__set_asleep(struct decoder *d, uint64_t (*asleep_since)(void *ctx, uint32_t tid),
			 void *ctx)
{
	d->asleep_since = asleep_since;
	d->asleep_ctx = ctx;
}

void decoder__forget_ranges(struct decoder *d, uint64_t before_ns)
{
	d->woken_ns = before_ns;
}

void decoder__forget_calls(struct decoder *d, uint64_t before_ns)
{
	d->changed_ns = before_ns;
}

void decoder__hits(const struct decoder *d, uint64_t hits[GROUP_CNT])
{
	memcpy(hits, d->hits, sizeof(d->hits));
}

uint64_t decoder__stepped_hits(const struct decoder *d)
{
	return d->stepped_hits;
}

void decoder__count_hits(struct decoder *d, uint32_t row, uint64_t cnt)
{
	const struct row *r = &d->rows[row];

	d->hits[r->probe->group] += cnt;
	if (r->steps_begin)
		d->stepped_hits += (cnt + 1) / 2;
	if (r->steps_end)
		d->stepped_hits += cnt / 2;
}

uint64_t decoder__malformed(const struct decoder *d)
{
	return d->malformed;
}

/* ---- tracks ---- */

static uint32_t track_define(struct decoder *d, uint32_t pid, uint32_t tid, const char *last_name)
{
	char path[64], *newline;
	struct track track = {.kind = TRACK_THREAD, .pid = pid, .tid = tid};
	auto_free char *comm = NULL;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/comm", pid, tid);
	comm = file__read(path, NULL);
	newline = comm ? strchr(comm, '\n') : NULL;
	if (newline)
		*newline = '\0';
	track.name = comm ? comm : last_name;
	return recording_writer__track(d->writer, &track);
}

uint32_t decoder__track(struct decoder *d, uint32_t pid, uint32_t tid)
{
	return decoder__named_track(d, pid, tid, NULL);
}

struct track_key {
	const struct decoder *d;
	uint32_t tid;
};

static bool same_track(uint32_t item, const void *ctx)
{
	const struct track_key *key = ctx;

	return key->d->tracks[item].tid == key->tid;
}

uint32_t decoder__named_track(struct decoder *d, uint32_t pid, uint32_t tid, const char *last_name)
{
	const struct track_key key = {d, tid};
	struct track_entry entry = {.tid = tid};
	uint64_t hash;
	uint32_t item;

	hash = hash__bytes(&tid, sizeof(tid), 0);
	item = hash_index__find(&d->track_index, hash, same_track, &key);
	if (item != HASH_NONE)
		return d->tracks[item].id;
	entry.id = track_define(d, pid, tid, last_name);
	if (!entry.id || hash_index__add(&d->track_index, hash, (uint32_t)d->track_cnt) ||
	    ARRAY_PUSH(d->tracks, d->track_cnt, d->track_cap, entry))
		return 0;
	return entry.id;
}

/* ---- spans ---- */

const struct planned_probe *decoder__row_probe(const struct decoder *d, uint32_t row)
{
	return row < PT_MAX_PROBES ? d->rows[row].probe : NULL;
}

uint32_t decoder__row_name(struct decoder *d, uint32_t row)
{
	const struct planned_probe *probe = decoder__row_probe(d, row);

	if (!probe || !probe->name)
		return 0;
	if (!d->rows[row].name)
		d->rows[row].name = recording_writer__name(d->writer, probe->category, probe->name,
							   probe->schema);
	return d->rows[row].name;
}

static uint32_t stack_id(struct decoder *d, const struct pt_span *span)
{
	const bool has = span->kind == PT_KIND_STATIC || span->kind == PT_KIND_NAMED;

	return has && d->stacks ? python_stacks__id(d->stacks, d->writer, span->stack) : 0;
}

/* Writes a span; the tensors that came with its begin are attached to it. */
int decoder__span_write(struct decoder *d, const struct pt_rec *h, const struct pt_span *span,
			uint32_t name, uint64_t id, uint32_t flags)
{
	struct event e = {
		.type = span->flags & PT_SPAN_OVERLAPS ? EVENT_ASYNC : EVENT_SPAN,
		.ts_ns = span->ts_ns,
		.dur_ns = span->end_ns - span->ts_ns,
		.name = name,
		.end = span->end,
		.flags = flags | (span->flags & (PT_SPAN_CUT_BEGIN | PT_SPAN_CUT_END)),
		.id = id,
		.value = span->kind == PT_KIND_NAMED ? (int64_t)span->link : 0,
		.track = decoder__track(d, h->pid, h->tid),
		.stack = stack_id(d, span),
	};

	if (!name || !e.track || span->end_ns < span->ts_ns) {
		d->malformed++;
		return 0;
	}
	e.args = pending__take_args(d->pending, h->tid, span->ts_ns, &e.args_len);
	return recording_writer__event(d->writer, &e);
}

int decoder__span(struct decoder *d, const struct pt_rec *h, const struct pt_span *span,
		  uint32_t name, uint64_t id)
{
	const struct planned_probe *probe = decoder__row_probe(d, span->probe);

	if (d->before && name && span->end_ns >= span->ts_ns) {
		/* what was under way at the window's end is inside as well */
		uint64_t until_ns = span->flags & PT_SPAN_CUT_END ? UINT64_MAX : span->end_ns;
		int err = d->before(d->before_ctx, h->tid, until_ns);

		if (err)
			return err;
	}
	/* A pipeline's probe comes behind it. */
	return decoder__span_write(d, h, span, name, id,
				   probe && probe->category == CAT_PIPELINE ? EVENT_UNPROBED : 0);
}

static void note_pass(struct decoder *d, uint32_t tid, const struct pt_span *span)
{
	const struct planned_probe *probe = decoder__row_probe(d, span->probe);

	if (probe && probe->category == CAT_BACKWARD)
		passes__note(&d->passes, span->ts_ns, span->end_ns, tid);
}

/* A node ends with its pass at the latest: that of its own thread, or, on a thread of a device,
 * that of another. False: it ended with one before the window. */
static bool end_with_pass(struct decoder *d, uint32_t tid, struct pt_span *node)
{
	uint64_t end_ns, asleep_ns;

	if (node->flags & PT_SPAN_IN_PASS)
		return true;
	passes__look(&d->passes, d->latest_passes);
	end_ns = passes__end(&d->passes, node->ts_ns, tid);
	if (!end_ns)
		return !d->has_passes || !(node->flags & PT_SPAN_CUT_BEGIN);
	asleep_ns = d->asleep_since ? d->asleep_since(d->asleep_ctx, tid) : 0;
	if (asleep_ns > node->ts_ns && asleep_ns < end_ns)
		end_ns = asleep_ns;
	if (node->end_ns > end_ns) {
		node->end_ns = end_ns;
		node->flags &= (uint16_t)~PT_SPAN_CUT_END;
	}
	return true;
}

static bool may_end_with_pass(const struct pt_span *span)
{
	return span->kind == PT_KIND_NODE && span->end == PT_END_INFERRED;
}

/* Returns of other functions that end it are counted apart (callee_ends). */
static unsigned int span_hits(const struct planned_probe *probe, const struct pt_span *span)
{
	if (!probe->program)
		return 1;
	if (probe->group == GROUP_WATCH)
		return 2;
	return probe->return_program || span->end == PT_END_SITE ? 2 : 1;
}

/* A node, or a call of one function. False: it is none of the window. */
static bool name_span(struct decoder *d, const struct pt_rec *h, struct pt_span *span,
		      const struct planned_probe *probe, uint32_t *name, uint64_t *id)
{
	if (may_end_with_pass(span) && !end_with_pass(d, h->tid, span))
		return false;
	if (span->kind == PT_KIND_NODE && span->vtable)
		*name = node_names__id(d->nodes, d->writer, probe->category, h->pid, span->vtable,
				       span->type_obj);
	else
		*name = decoder__row_name(d, span->probe);
	*id = span->kind == PT_KIND_NODE || span->kind == PT_KIND_STATIC ? span->seq : EVENT_NO_ID;
	return true;
}

static int take_span(struct decoder *d, const struct pt_rec *h, const struct pt_span *recorded)
{
	const struct planned_probe *probe = decoder__row_probe(d, recorded->probe);
	struct pt_span span = *recorded;
	uint64_t id;
	uint32_t name;
	int err;

	if (!probe)
		return d->malformed++, 0;
	if (span.kind == PT_KIND_CALL)
		return decoder__call(d, h, &span, probe);
	note_pass(d, h->tid, &span);
	if (span.kind == PT_KIND_QUEUE) {
		decoder__count_hits(d, span.probe, span_hits(probe, &span));
		return decoder__queue(d, h, &span, probe);
	}
	/* Its pass may be in the library's memory still, which is read after the kernel's ring. */
	err = may_end_with_pass(&span) && d->look ? d->look(d->look_ctx, span.end_ns) : 0;
	if (err || !name_span(d, h, &span, probe, &name, &id))
		return err;
	decoder__count_hits(d, span.probe, span_hits(probe, &span));
	return decoder__span(d, h, &span, name, id);
}

void decoder__meet(struct decoder *d, uint32_t pid, uint32_t tid, const struct pt_span *noted)
{
	const struct planned_probe *probe = decoder__row_probe(d, noted->probe);

	note_pass(d, tid, noted);
	if (probe && probe->pointer_hook == POINTER_HOOK_RETURNING)
		decoder__named_meet(d, pid, probe, noted->object);
}

int decoder__noted(struct decoder *d, uint32_t pid, uint32_t tid, const struct pt_span *noted,
		   const char *own, const char *full)
{
	const struct pt_rec h = {.pid = pid, .tid = tid};
	const struct planned_probe *probe = decoder__row_probe(d, noted->probe);
	struct pt_span span = *noted;
	uint64_t id;
	uint32_t name;

	if (!probe)
		return d->malformed++, 0;
	if (span.kind == PT_KIND_NAMED)
		return decoder__named_noted(d, &h, &span, probe, own, full);
	if (!name_span(d, &h, &span, probe, &name, &id))
		return 0;
	return decoder__span_write(d, &h, &span, name, id, EVENT_UNPROBED);
}

static int take_spans(struct decoder *d, const struct pt_rec_spans *r, size_t size)
{
	int err = 0;

	if (r->cnt > PT_BATCH ||
	    size < offsetof(struct pt_rec_spans, spans) + r->cnt * sizeof(r->spans[0])) {
		d->malformed++;
		return 0;
	}
	for (uint32_t i = 0; i < r->cnt && !err; i++)
		err = take_span(d, &r->h, &r->spans[i]);
	return err;
}

int decoder__step(struct decoder *d, uint32_t pid, uint32_t tid, uint64_t step, uint64_t begin_ns,
		  uint64_t end_ns)
{
	struct event e = {
		.type = EVENT_STEP,
		.ts_ns = begin_ns,
		.dur_ns = end_ns - begin_ns,
		.id = step,
		.end = END_SITE,
		.track = decoder__track(d, pid, tid),
	};

	return e.track ? recording_writer__event(d->writer, &e) : -ENOMEM;
}

/* ---- dispatch ---- */

static int take_args(struct decoder *d, const struct pt_rec_args *r, size_t size)
{
	size_t head = offsetof(struct pt_rec_args, tensors);

	if (r->tensor_cnt > PT_MAX_TENSORS || size < head + r->tensor_cnt * sizeof(r->tensors[0])) {
		d->malformed++;
		return 0;
	}
	return pending__put_args(d->pending, r);
}

static int take_full_name(struct decoder *d, const struct pt_rec_full_name *r)
{
	return pending__put_full_name(d->pending, r);
}

int decoder__stack(struct decoder *d, const void *data, size_t size)
{
	const struct pt_rec_stack *r = data;
	const size_t head = offsetof(struct pt_rec_stack, frames);

	if (!d->stacks || size < head || r->cnt > PT_STACK_FRAMES ||
	    size < head + r->cnt * sizeof(r->frames[0])) {
		d->malformed++;
		return 0;
	}
	return python_stacks__put(d->stacks, r);
}

#define TAKE(type, function)                                                                       \
	(size < sizeof(struct type) ? (d->malformed++, 0) : function(d, (const struct type *)data))

int decoder__record(struct decoder *d, const void *data, size_t size)
{
	const struct pt_rec *h = data;

	if (size < sizeof(*h)) {
		d->malformed++;
		return 0;
	}
	if (!d->writer)
		return 0;
	switch (h->kind) {
	case PT_REC_SPANS:
		return size < offsetof(struct pt_rec_spans, spans) ? (d->malformed++, 0)
								   : take_spans(d, data, size);
	case PT_REC_NAMED_SPAN:
		return TAKE(pt_rec_named, decoder__named);
	case PT_REC_ARGS:
		return size < offsetof(struct pt_rec_args, tensors) ? (d->malformed++, 0)
								    : take_args(d, data, size);
	case PT_REC_FULL_NAME:
		return TAKE(pt_rec_full_name, take_full_name);
	case PT_REC_MEMORY:
		return TAKE(pt_rec_memory, decoder__memory);
	case PT_REC_ASYNC_BEGIN:
		return TAKE(pt_rec_async, decoder__async_begin);
	case PT_REC_ASYNC_END:
		return TAKE(pt_rec_async, decoder__async_end);
	case PT_REC_MARK:
		return TAKE(pt_rec_mark, decoder__mark);
	case PT_REC_STORAGE:
		return TAKE(pt_rec_storage, decoder__storage);
	default:
		d->malformed++;
		return 0;
	}
}

/* ---- what is open when the window closes ---- */

static bool in_own_pass(const struct pt_thread *t)
{
	for (uint32_t i = 0; i < t->open_cnt && i < PT_MAX_OPEN_SPANS; i++)
		if (t->open[i].name_class == PT_CLASS_BACKWARD)
			return true;
	return false;
}

static bool span_is_stale(const struct decoder *d, const struct pt_open_span *f)
{
	const struct planned_probe *probe = decoder__row_probe(d, f->probe);

	return PT_IS_STALE(f, d->changed_ns, probe && probe->cfg.place & PT_MAY_MISS_END);
}

/* When the innermost range around frame i that has ended did, if the innermost one of a sequence
 * has ended. 0: none has, or i is one of a sequence itself. */
static uint64_t enclosing_ended_ns(const struct pt_thread *t, uint32_t i)
{
	uint64_t end_ns = 0;

	for (uint32_t j = i; j-- > 0 && !PT_CLASS_IS_ITERATION(t->open[i].name_class);) {
		const struct pt_open_span *around = &t->open[j];
		const bool is_frame =
			PT_IS_RANGE(around) && PT_CLASS_IS_ITERATION(around->name_class);

		if (is_frame && !around->ended_ns)
			return 0;
		if (!PT_IS_RANGE(around) || around->ended_ns <= t->open[i].ts_ns)
			continue;
		end_ns = end_ns ? end_ns : around->ended_ns;
		if (is_frame)
			return end_ns;
	}
	return 0;
}

/* As the programs do it where the next of the sequence begins. */
static void close_ranges(struct pt_thread *t)
{
	for (uint32_t i = 0; i < t->open_cnt && i < PT_MAX_OPEN_SPANS; i++) {
		struct pt_open_span *f = &t->open[i];
		const uint64_t end_ns =
			PT_IS_RANGE(f) && !f->ended_ns ? enclosing_ended_ns(t, i) : 0;

		if (!end_ns)
			continue;
		f->ended_ns = end_ns;
		f->slot |= PT_RANGE_NOT_ENDED;
	}
}

/* Did one that began inside the range f, which has ended, end later or not yet? */
static bool is_overlapped(const struct pt_thread *t, const struct pt_open_span *f)
{
	const struct pt_open_span *end = t->open + t->open_cnt % (PT_MAX_OPEN_SPANS + 1);

	for (const struct pt_open_span *in = f + 1; in < end; in++)
		if (PT_IS_RANGE(in) && !in->ended_ns && in->ts_ns < f->ended_ns)
			return true;
	return f->slot & PT_RANGE_OVERLAPS;
}

static int frame_write(struct decoder *d, const struct pt_thread *t, const struct pt_open_span *f,
		       uint64_t open_ns, uint64_t close_ns)
{
	const struct pt_rec h = {.pid = t->pid, .tid = t->tid};
	struct pt_span span = {.ts_ns = f->ts_ns,
			       .end_ns = close_ns,
			       .vtable = f->object,
			       .type_obj = f->type_obj,
			       .seq = f->seq,
			       .probe = f->probe,
			       .kind = f->kind,
			       .end = PT_END_INFERRED,
			       .flags = PT_SPAN_CUT_END};
	uint32_t slot = f->slot % PT_MAX_NAMED;

	if (span.ts_ns >= close_ns ||
	    (f->kind == PT_KIND_NAMED && f->sp == PT_SP_OBJECT && f->ts_ns < d->woken_ns) ||
	    span_is_stale(d, f))
		return 0;
	if (span.ts_ns < open_ns) {
		span.ts_ns = open_ns;
		span.flags |= PT_SPAN_CUT_BEGIN;
	}
	if (f->kind == PT_KIND_NAMED && f->ended_ns && f->ended_ns < close_ns) {
		if (f->ended_ns <= open_ns)
			return 0;
		span.end_ns = f->ended_ns;
		span.end = PT_END_OBJECT;
		span.flags ^= PT_SPAN_CUT_END;
		if (is_overlapped(t, f))
			span.flags |= PT_SPAN_OVERLAPS;
		if (f->slot & PT_RANGE_NOT_ENDED) {
			span.end = PT_END_INFERRED;
			span.flags |= PT_SPAN_NOT_ENDED;
		}
	}
	if (f->kind == PT_KIND_CALL)
		span.flags |= f->slot | (uint16_t)(f->nested << PT_SPAN_NESTED_SHIFT);
	if (f->kind == PT_KIND_NODE && in_own_pass(t))
		span.flags |= PT_SPAN_IN_PASS;
	if (f->kind != PT_KIND_NAMED)
		return take_span(d, &h, &span);
	span.stack = f->named_stack;
	return decoder__named_write(d, &h, &span, f->name_class, &t->names[slot],
				    t->name_len[slot]);
}

/* A thread's spans that have ended but not been sent, then its open ones. Innermost first: in a
 * recording children come before their parents. */
static int thread_write(struct decoder *d, struct pt_thread *t, uint64_t window, uint64_t open_ns,
			uint64_t close_ns)
{
	int err = 0;
	uint32_t unsent = t->batch.window == window ? t->batch.cnt : 0;

	for (uint32_t i = 0; i < unsent && i < PT_BATCH && !err; i++)
		err = take_span(d, &(struct pt_rec){.pid = t->pid, .tid = t->tid},
				&t->batch.spans[i]);
	close_ranges(t);
	for (uint32_t i = t->open_cnt; i-- > 0 && !err;)
		if (i < PT_MAX_OPEN_SPANS)
			err = frame_write(d, t, &t->open[i], open_ns, close_ns);
	return err;
}

int decoder__open_spans(struct decoder *d, int threads_fd, uint64_t window, uint64_t open_ns,
			uint64_t close_ns)
{
	uint32_t key, *prev = NULL;
	struct pt_thread t;
	int err = 0;

	/* Passes first: threads come in any order. */
	while (!bpf_map_get_next_key(threads_fd, prev, &key)) {
		prev = &key;
		if (bpf_map_lookup_elem(threads_fd, &key, &t) || t.batch.window != window)
			continue;
		for (uint32_t i = 0; i < t.batch.cnt && i < PT_BATCH; i++)
			note_pass(d, t.tid, &t.batch.spans[i]);
	}
	prev = NULL;
	while (!err && !bpf_map_get_next_key(threads_fd, prev, &key)) {
		prev = &key;
		if (bpf_map_lookup_elem(threads_fd, &key, &t))
			continue;
		err = thread_write(d, &t, window, open_ns, close_ns);
	}
	return err;
}

int decoder__ended_thread(struct decoder *d, int threads_fd, uint32_t tid, uint64_t window,
			  uint64_t open_ns, uint64_t end_ns)
{
	struct pt_thread t;

	if (!d->writer || bpf_map_lookup_elem(threads_fd, &tid, &t))
		return 0;
	return thread_write(d, &t, window, open_ns, end_ns);
}
