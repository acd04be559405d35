// SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause)
/*
 * Calls of a device's interface: when, how much, on which stream, and what was launched. Their
 * spans are normal open spans of the thread, so they lie inside the operators that made them. Only
 * the outermost call is a span, because calls from the runtime to the driver are internal.
 */
#include "open_spans.bpf.h"

/* Arguments of a call: six registers, then the stack from the return address on. */
struct call_words {
	__u64 w[16];
};
#define CALLER	    6
#define STACK_WORDS 4

static __always_inline void words_read(struct pt_regs *ctx, struct call_words *words)
{
	__u64 *w = words->w;

	w[0] = ctx->di;
	w[1] = ctx->si;
	w[2] = ctx->dx;
	w[3] = ctx->cx;
	w[4] = ctx->r8;
	w[5] = ctx->r9;
	bpf_probe_read_user(&w[CALLER], STACK_WORDS * sizeof(*w), (void *)ctx->sp);
}

/* An argument by its place in struct pt_call_cfg, which is not 0. */
static __always_inline __u64 call_arg(const struct call_words *words, __u32 place)
{
	return words->w[(place <= CALLER ? place - 1 : place) & 15];
}

static __always_inline __u64 extent_bytes(__u64 structure, const struct pt_call_cfg *c)
{
	__u64 extent[3] = {1, 1, 1};

	if (c->extent_cnt == 2)
		bpf_probe_read_user(extent, 2 * sizeof(extent[0]),
				    (void *)(structure + c->extent_at));
	else
		bpf_probe_read_user(extent, sizeof(extent), (void *)(structure + c->extent_at));
	return extent[0] * extent[1] * extent[2];
}

static __always_inline __u64 call_bytes(const struct call_words *words, const struct pt_call_cfg *c)
{
	__u64 bytes;

	if (!c->bytes)
		return 0;
	bytes = call_arg(words, c->bytes);
	if (c->extent_cnt)
		return extent_bytes(bytes, c);
	if (c->rows)
		bytes *= call_arg(words, c->rows);
	return c->scale ? bytes * c->scale : bytes;
}

/* In CUlaunchConfig and cudaLaunchConfig_t, grid and block take 24 bytes, dynamic memory 8. */
#define CONFIG_STREAM 32

static __always_inline __u64 call_stream(const struct call_words *words,
					 const struct pt_call_cfg *c)
{
	if (c->config)
		return read_u64(call_arg(words, c->config) + CONFIG_STREAM);
	return c->stream ? call_arg(words, c->stream) : PT_NO_STREAM;
}

static __always_inline __u8 call_copy_kind(const struct call_words *words,
					   const struct pt_call_cfg *c)
{
	__u32 kind = c->copy ? (__u32)call_arg(words, c->copy) : c->copy_kind;

	return (kind < PT_COPY_UNKNOWN ? kind : PT_COPY_UNKNOWN) << PT_SPAN_COPY_SHIFT;
}

/* Is this call inside another one, which counts it? A function may continue as another one by a
 * tail call; the stack pointer is the same then. */
static __always_inline bool call_is_nested(struct pt_thread *t, __u64 sp, __u32 row)
{
	struct pt_open_span *f = open_span_at(t, t->open_cnt - 1);
	struct pt_probe_stat *s;

	if (!f || f->kind != PT_KIND_CALL || f->sp < sp || (f->sp == sp && f->probe == row))
		return false;
	s = measuring() ? stat_of(row) : NULL;
	if (s)
		s->outer = f->probe + 1;
	if (f->nested < 255)
		f->nested++;
	return true;
}

__weak __noinline int count_launch_in_group(struct pt_thread *t, __u32 i)
{
	for (__u32 n = 0; t && n < PT_SPAN_GROUP && i + n < t->open_cnt; n++) {
		const struct pt_open_span *f = open_span_at(t, i + n);
		struct pt_probe_stat *s = f ? stat_of(f->probe) : NULL;

		if (s)
			s->launches++;
	}
	return 0;
}

/* Functions that contain device work are worth a probe. */
__weak __noinline int count_launch(struct pt_thread *t)
{
#pragma nounroll
	for (__u32 i = 0; t && i < PT_MAX_OPEN_SPANS && i < t->open_cnt; i += PT_SPAN_GROUP)
		count_launch_in_group(t, i);
	return 0;
}

/* If CUPTI records the calls, this program only counts them. */
SEC("uprobe")
int device_launch(struct pt_regs *ctx)
{
	struct pt_thread *t = measuring() ? thread_get() : NULL;

	if (!t)
		return 0;
	spans_close_dead(t, ctx->sp);
	count_launch(t);
	return 0;
}

SEC("uprobe")
int device_call_entry(struct pt_regs *ctx)
{
	__u32 row = probe_row(ctx);
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);
	struct call_words words = {};
	__u64 bytes, stream;
	struct pt_thread *t;
	struct pt_open_span *f;
	__u8 copy;

	if (!cfg || !wanted() || !(t = thread_get()) || call_is_nested(t, ctx->sp, row))
		return 0;
	spans_close_dead(t, ctx->sp);
	stat_hit(row);
	words_read(ctx, &words);
	stream = call_stream(&words, &cfg->call);
	bytes = cfg->call.call_class == PT_CALL_LAUNCH ? words.w[CALLER]
						       : call_bytes(&words, &cfg->call);
	copy = call_copy_kind(&words, &cfg->call);
	if (PT_CALL_GIVES_WORK(cfg->call.call_class) && measuring())
		count_launch(t);
	f = span_push(t, ctx->sp, row, PT_KIND_CALL);
	if (!f)
		return 0;
	f->handle = cfg->call.object ? call_arg(&words, cfg->call.object) : 0;
	f->stream = stream;
	f->bytes = bytes;
	f->slot = copy;
	f->nested = 0;
	return 0;
}

/* The return address is already popped, so the open span's stack pointer is 8 lower. */
SEC("uprobe")
int device_call_return(struct pt_regs *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	struct pt_thread *t = thread_lookup();
	struct pt_open_span *f = t ? open_span_at(t, t->open_cnt - 1) : NULL;
	const struct pt_probe_cfg *cfg;
	__u32 row;

	if (!f || f->kind != PT_KIND_CALL || f->sp != ctx->sp - 8)
		return 0; /* nested, or begun before the probe was attached */
	row = f->probe;
	cfg = bpf_map_lookup_elem(&probe_cfg, &row);
	if (!cfg)
		return 0;
	if ((__u32)ctx->ax)
		f->slot |= PT_SPAN_FAILED;
	else if (cfg->call.call_class == PT_CALL_ALLOC)
		f->handle = read_u64(f->handle);
	span_close_top(t, now, PT_END_RETURN);
	return 0;
}
