// SPDX-License-Identifier: BSD-2-Clause
/* Shared by the decoders of all records: the decoder itself, its tracks, and writing a span. */
#include "capture/decode/decoder_internal.h"
#include "bpf/thread_state.h"
#include "capture/decode/node_names.h"
#include "capture/decode/object_names.h"
#include "capture/decode/pending.h"
#include "capture/decode/python_stacks.h"
#include "common/util.h"
#include "device/kernels/kernel_processes.h"
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
	/* A row's first probe is the entry of its function, so the loop runs backwards. */
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
	d->rearmed_ns = before_ns;
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
		/* a span cut at the window's end encloses all that is still under way */
		uint64_t until_ns = span->flags & PT_SPAN_CUT_END ? UINT64_MAX : span->end_ns;
		int err = d->before(d->before_ctx, h->tid, until_ns);

		if (err)
			return err;
	}
	/* The probe of a pipeline is hit after the work, so its cost is not in the span. */
	return decoder__span_write(d, h, span, name, id,
				   probe && probe->category == CAT_PIPELINE ? EVENT_UNPROBED : 0);
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
