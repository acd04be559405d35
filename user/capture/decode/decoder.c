// SPDX-License-Identifier: BSD-2-Clause
/* Passes each record to the decoder of its kind. Decodes spans of functions and nodes itself. */
#include "capture/decode/decoder_internal.h"
#include "bpf/thread_state.h"
#include "capture/decode/node_names.h"
#include "capture/decode/pending.h"
#include "capture/decode/python_stacks.h"

void decoder__note_pass(struct decoder *d, uint32_t tid, const struct pt_span *span)
{
	const struct planned_probe *probe = decoder__row_probe(d, span->probe);

	if (probe && probe->category == CAT_BACKWARD)
		passes__note(&d->passes, span->ts_ns, span->end_ns, tid);
}

/* A node ends with its backward pass at the latest: the pass of its own thread, or for a device's
 * thread the pass of another thread. Returns false if the pass ended before the window. */
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

/* A span that ends with the return of another function has that hit counted in callee_ends. */
static unsigned int span_hits(const struct planned_probe *probe, const struct pt_span *span)
{
	if (!probe->program)
		return 1;
	if (probe->group == GROUP_WATCH)
		return 2;
	return probe->return_program || span->end == PT_END_SITE ? 2 : 1;
}

/* Names a node, or a call of one function. Returns false if the span is not in the window. */
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

int decoder__take_span(struct decoder *d, const struct pt_rec *h, const struct pt_span *recorded)
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
	decoder__note_pass(d, h->tid, &span);
	if (span.kind == PT_KIND_QUEUE) {
		decoder__count_hits(d, span.probe, span_hits(probe, &span));
		return decoder__queue(d, h, &span, probe);
	}
	/* The node's pass may still be in the library's memory, which is read after the kernel's
	 * ring. */
	err = may_end_with_pass(&span) && d->look ? d->look(d->look_ctx, span.end_ns) : 0;
	if (err || !name_span(d, h, &span, probe, &name, &id))
		return err;
	decoder__count_hits(d, span.probe, span_hits(probe, &span));
	return decoder__span(d, h, &span, name, id);
}

void decoder__meet(struct decoder *d, uint32_t pid, uint32_t tid, const struct pt_span *hooked)
{
	const struct planned_probe *probe = decoder__row_probe(d, hooked->probe);

	decoder__note_pass(d, tid, hooked);
	if (probe && probe->pointer_hook == POINTER_HOOK_RETURNING)
		decoder__named_meet(d, pid, probe, hooked->object);
}

int decoder__hooked(struct decoder *d, uint32_t pid, uint32_t tid, const struct pt_span *hooked,
		    const char *own, const char *full)
{
	const struct pt_rec h = {.pid = pid, .tid = tid};
	const struct planned_probe *probe = decoder__row_probe(d, hooked->probe);
	struct pt_span span = *hooked;
	uint64_t id;
	uint32_t name;

	if (!probe)
		return d->malformed++, 0;
	if (span.kind == PT_KIND_NAMED)
		return decoder__named_hooked(d, &h, &span, probe, own, full);
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
		err = decoder__take_span(d, &r->h, &r->spans[i]);
	return err;
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
