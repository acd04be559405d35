// SPDX-License-Identifier: BSD-2-Clause
/* Calls of CUDA. */
#include "capture/decode/decoder_internal.h"
#include "bpf/thread_state.h"
#include "capture/decode/pending.h"
#include "common/util.h"
#include "device/kernels/kernel_processes.h"

static uint32_t copy_kind(const struct pt_span *span)
{
	static const enum copy_kind kinds[] = {[PT_COPY_HTOH] = COPY_HTOH,
					       [PT_COPY_HTOD] = COPY_HTOD,
					       [PT_COPY_DTOH] = COPY_DTOH,
					       [PT_COPY_DTOD] = COPY_DTOD};
	uint32_t kind = span->flags >> PT_SPAN_COPY_SHIFT & 15;

	return kind < ARRAY_SIZE(kinds) ? kinds[kind] : COPY_UNKNOWN;
}

/* A free's bytes are those of its allocation, if that was seen. */
static uint64_t call_bytes(struct decoder *d, const struct pt_rec *h, const struct pt_span *span,
			   uint8_t call_class)
{
	uint64_t owner = h->pid | PENDING_DEVICE;
	bool failed = span->flags & PT_SPAN_FAILED;

	if (call_class == PT_CALL_LAUNCH)
		return 0;
	if (call_class == PT_CALL_FREE)
		return failed ? 0 : pending__freed(d->pending, owner, span->handle);
	if (call_class == PT_CALL_ALLOC && !failed && !(span->flags & PT_SPAN_CUT_END))
		pending__allocated(d->pending, owner, span->handle, span->bytes);
	return span->bytes;
}

/* Returns the name of the launched kernel; 0 for a graph, whose kernels are unknown. */
static uint32_t call_kernel(struct decoder *d, uint32_t pid, const struct pt_span *span,
			    const struct planned_probe *probe)
{
	const struct pt_call_cfg *cfg = &probe->cfg.call;
	const struct kernel_launch launch = {.function = span->handle,
					     .caller = span->bytes,
					     .by_runtime = probe->category == CAT_RUNTIME};
	struct kernel_names *names;

	if (cfg->call_class != PT_CALL_LAUNCH || !cfg->object)
		return 0;
	names = kernel_processes__of(d->kernels, (pid_t)pid);
	return names ? kernel_names__id(names, d->writer, &launch) : 0;
}

int decoder__call(struct decoder *d, const struct pt_rec *h, const struct pt_span *span,
		  const struct planned_probe *probe)
{
	const struct pt_call_cfg *cfg = &probe->cfg.call;
	struct event_call args = {
		.stream = span->stream == PT_NO_STREAM ? EVENT_NO_ID : span->stream,
		.kernel = call_kernel(d, h->pid, span, probe),
		.copy_kind = cfg->call_class == PT_CALL_COPY ? copy_kind(span) : COPY_UNKNOWN};
	struct event e = {
		.type = EVENT_SPAN,
		.ts_ns = span->ts_ns,
		.dur_ns = span->end_ns - span->ts_ns,
		.name = decoder__row_name(d, span->probe),
		.end = span->end,
		.flags = (span->flags & (PT_SPAN_CUT_BEGIN | PT_SPAN_CUT_END)) |
			 (span->flags & PT_SPAN_FAILED ? EVENT_FAILED : 0),
		.id = EVENT_NO_ID,
		.value = (int64_t)call_bytes(d, h, span, cfg->call_class),
		.track = decoder__track(d, h->pid, h->tid),
		.args = &args,
		.args_len = sizeof(args),
	};

	decoder__count_hits(d, span->probe, 2u * (1 + (span->flags >> PT_SPAN_NESTED_SHIFT)));
	if (!e.name || !e.track || span->end_ns < span->ts_ns || e.value < 0)
		return d->malformed++, 0;
	return recording_writer__event(d->writer, &e);
}
