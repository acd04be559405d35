// SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause)
/* Allocations and frees, as the framework's own allocators report them. */
#include "args.bpf.h"

static __always_inline void memory_emit(struct pt_regs *ctx, __u64 addr, __s64 bytes,
					__u64 total_allocated, __u64 total_reserved, __u32 device)
{
	__u32 row = probe_row(ctx);
	struct pt_rec_memory *r;

	stat_hit(row);
	if (!ctl.window_open)
		return;
	r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
	if (!r) {
		count_lost(&ctl.lost_ring);
		return;
	}
	rec_init(&r->h, PT_REC_MEMORY, sizeof(*r), row);
	r->ts_ns = bpf_ktime_get_ns();
	r->addr = addr;
	r->bytes = bytes;
	r->total_allocated = total_allocated;
	r->total_reserved = total_reserved;
	r->device_type = device & 0xff;
	r->device_index = (device >> 8) & 0xff;
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
}

/* (this, void *ptr, size_t bytes) */
SEC("uprobe")
int memory_new(struct pt_regs *ctx)
{
	memory_emit(ctx, ctx->si, ctx->dx, ~0ull, ~0ull, 0);
	return 0;
}

/* (this, void *ptr): the size is known only if the allocation was seen */
SEC("uprobe")
int memory_delete(struct pt_regs *ctx)
{
	memory_emit(ctx, ctx->si, 0, ~0ull, ~0ull, 0);
	return 0;
}

/* (void *ptr, int64_t bytes, size_t allocated, size_t reserved, Device{type, index}) */
SEC("uprobe")
int memory_report(struct pt_regs *ctx)
{
	memory_emit(ctx, ctx->di, ctx->si, ctx->dx, ctx->cx, ctx->r8 & 0xffff);
	return 0;
}
