// SPDX-License-Identifier: BSD-2-Clause
/* Spans that threads still hold when the window closes: open ones, and ended ones that were not
 * sent. */
#include "capture/decode/decoder_internal.h"
#include "bpf/thread_state.h"
#include <bpf/bpf.h>

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

/* When the innermost ended range around span i ended. Returns 0 unless the innermost iteration
 * range around span i has ended. Also returns 0 if span i is an iteration range itself. */
static uint64_t enclosing_ended_ns(const struct pt_thread *t, uint32_t i)
{
	uint64_t end_ns = 0;

	for (uint32_t j = i; j-- > 0 && !PT_CLASS_IS_ITERATION(t->open[i].name_class);) {
		const struct pt_open_span *enclosing = &t->open[j];
		const bool is_iteration =
			PT_IS_RANGE(enclosing) && PT_CLASS_IS_ITERATION(enclosing->name_class);

		if (is_iteration && !enclosing->ended_ns)
			return 0;
		if (!PT_IS_RANGE(enclosing) || enclosing->ended_ns <= t->open[i].ts_ns)
			continue;
		end_ns = end_ns ? end_ns : enclosing->ended_ns;
		if (is_iteration)
			return end_ns;
	}
	return 0;
}

/* Ends ranges as the BPF programs do at the begin of the next iteration. */
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

/* Has a range that began inside the ended range f ended later, or not yet? */
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
	    (f->kind == PT_KIND_NAMED && f->sp == PT_SP_OBJECT && f->ts_ns < d->rearmed_ns) ||
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
		return decoder__take_span(d, &h, &span);
	span.stack = f->named_stack;
	return decoder__named_write(d, &h, &span, f->name_class, &t->names[slot],
				    t->name_len[slot]);
}

/* Writes a thread's ended spans that were not sent, then its open ones. The innermost comes first:
 * in a recording children come before their parents. */
static int thread_write(struct decoder *d, struct pt_thread *t, uint64_t window, uint64_t open_ns,
			uint64_t close_ns)
{
	int err = 0;
	uint32_t unsent = t->batch.window == window ? t->batch.cnt : 0;

	for (uint32_t i = 0; i < unsent && i < PT_BATCH && !err; i++)
		err = decoder__take_span(d, &(struct pt_rec){.pid = t->pid, .tid = t->tid},
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

	/* First all passes: threads come in any order. */
	while (!bpf_map_get_next_key(threads_fd, prev, &key)) {
		prev = &key;
		if (bpf_map_lookup_elem(threads_fd, &key, &t) || t.batch.window != window)
			continue;
		for (uint32_t i = 0; i < t.batch.cnt && i < PT_BATCH; i++)
			decoder__note_pass(d, t.tid, &t.batch.spans[i]);
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
