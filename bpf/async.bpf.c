// SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause)
/* Work that begins on one thread and ends on another (collectives), paired by object pointer. */
#include "open_spans.bpf.h"
#include "names.bpf.h"

/* TensorImpl: size_and_strides {ndim, 5 dims, 5 strides}, storage offset, number of elements. */
#define PT_NUMEL_BEHIND_SIZES 96

#define MAX_PAYLOADS 32 /* tensors of a collective that are read */

/* std::vector<Tensor> in an optional, with its flag after it or, in old versions, before it. */
static __always_inline __u64 payload_bytes(__u64 optional)
{
	__u64 old = !ctl.layout.opt_tensor_flag, range[2] = {}, bytes = 0;
	__u8 has = 0;

	bpf_probe_read_user(&has, 1, (void *)(optional + (old ? 0 : 24)));
	if (!has || !ctl.layout.tensor_sizes ||
	    bpf_probe_read_user(range, sizeof(range), (void *)(optional + (old ? 8 : 0))))
		return 0;
	if (range[1] - range[0] > MAX_PAYLOADS * 8)
		return 0;
	for (int i = 0; i < MAX_PAYLOADS && range[0] < range[1]; i++, range[0] += 8) {
		__u64 impl = read_u64(range[0]);
		__u16 dtype = PT_MAX_DTYPES;
		__u8 size;

		bpf_probe_read_user(&dtype, sizeof(dtype),
				    (void *)(impl + ctl.layout.tensor_dtype));
		size = dtype < PT_MAX_DTYPES ? ctl.layout.element_bytes[dtype & (PT_MAX_DTYPES - 1)]
					     : 0;
		if (!size)
			return 0;
		bytes += size * read_u64(impl + ctl.layout.tensor_sizes + PT_NUMEL_BEHIND_SIZES);
	}
	return bytes;
}

/* What begins. All zero for an end. */
struct async_begun {
	__u64 code, title, payload; /* const char *, optional<vector<Tensor>> * */
};

static __always_inline void async_emit(struct pt_regs *ctx, __u8 kind,
				       const struct async_begun *begun)
{
	__u32 row = probe_row(ctx);
	struct pt_rec_async *r;

	stat_hit(row);
	if (!ctl.window_open)
		return;
	r = ring_reserve(&ring, sizeof(*r));
	if (!r) {
		count_lost(&ctl.lost_ring);
		return;
	}
	rec_init(&r->h, kind, sizeof(*r), row);
	r->ts_ns = bpf_ktime_get_ns();
	r->object = ctx->di;
	r->code = begun->code;
	r->bytes = begun->payload ? payload_bytes(begun->payload) : 0;
	if (!begun->title || !read_string(begun->title, PT_NAME_CSTR, &r->title))
		r->title.text[0] = '\0';
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
}

/* Constructor (this, int rank, u8 operation, const char *title, optional<vector<Tensor>> const &)
 */
SEC("uprobe")
int async_begin(struct pt_regs *ctx)
{
	const struct async_begun begun = {ctx->dx & 0xff, ctx->cx, ctx->r8};

	async_emit(ctx, PT_REC_ASYNC_BEGIN, &begun);
	return 0;
}

/* What has begun gets a title: (this, const char *title, optional<vector<Tensor>> const &) */
SEC("uprobe")
int async_titled(struct pt_regs *ctx)
{
	const struct async_begun begun = {0, ctx->si, ctx->dx};

	async_emit(ctx, PT_REC_ASYNC_BEGIN, &begun);
	return 0;
}

/* (this) */
SEC("uprobe")
int async_end(struct pt_regs *ctx)
{
	const struct async_begun none = {};

	async_emit(ctx, PT_REC_ASYNC_END, &none);
	return 0;
}
