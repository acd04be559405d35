// SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause)
/* Work that begins on one thread and ends on another (collectives), paired by object pointer. */
#include "args.bpf.h"

static __always_inline void async_emit(struct pt_regs *ctx, __u8 kind, __u64 object, __u64 code)
{
	__u32 row = probe_row(ctx);
	struct pt_rec_async *r;

	stat_hit(row);
	if (!ctl.window_open)
		return;
	r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
	if (!r) {
		count_lost(&ctl.lost_ring);
		return;
	}
	rec_init(&r->h, kind, sizeof(*r), row);
	r->ts_ns = bpf_ktime_get_ns();
	r->object = object;
	r->code = code;
	r->bytes = 0;
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
}

/* Constructor (this, int rank, u8 operation, ...) */
SEC("uprobe")
int async_begin(struct pt_regs *ctx)
{
	async_emit(ctx, PT_REC_ASYNC_BEGIN, ctx->di, ctx->dx & 0xff);
	return 0;
}

/* (this) */
SEC("uprobe")
int async_end(struct pt_regs *ctx)
{
	async_emit(ctx, PT_REC_ASYNC_END, ctx->di, 0);
	return 0;
}
