// SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause)
/* Allocations and frees, as the framework's own allocators report them. */
#include "open_spans.bpf.h"
#include "names.bpf.h"
#include "registers.bpf.h"

static __always_inline void memory_emit(struct pt_regs *ctx, __u64 addr, __s64 bytes,
					__u64 total_allocated, __u64 total_reserved, __u32 device)
{
	__u32 row = probe_row(ctx);
	struct pt_rec_memory *r;

	stat_hit(row);
	if (!addr || !ctl.window_open) /* free(NULL), or a call that allocates nothing */
		return;
	r = ring_reserve(&ring, sizeof(*r));
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

/* (this, size_t bytes, ...). It returns the block's address, see memory_return_site. */
SEC("uprobe")
int memory_ask(struct pt_regs *ctx)
{
	__u32 row = probe_row(ctx);
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);
	struct pt_thread *t = thread_get();

	if (!cfg || !t)
		return 0;
	if (return_is_seen(ctx, cfg, row))
		t->asked_bytes = ctx->si;
	return 0;
}

/* Where the caller of such a function continues, with the result in its register. */
SEC("uprobe")
int memory_return_site(struct pt_regs *ctx)
{
	struct pt_thread *t = thread_lookup();

	if (!t || !t->asked_bytes)
		return 0;
	if (ctx->ax)
		memory_emit(ctx, ctx->ax, t->asked_bytes, ~0ull, ~0ull, 0);
	t->asked_bytes = 0;
	return 0;
}

/* (this, void *ptr), or with cfg.flags 1 (this, void *const &ptr). The size is known only if the
 * allocation was seen. */
SEC("uprobe")
int memory_delete(struct pt_regs *ctx)
{
	__u32 row = probe_row(ctx);
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);

	if (cfg)
		memory_emit(ctx, cfg->flags ? read_u64(ctx->si) : ctx->si, 0, ~0ull, ~0ull, 0);
	return 0;
}

/* (void *ptr, int64_t bytes, size_t allocated, size_t reserved, Device{type, index}). The host's
 * allocator also calls it while the program profiles itself, but memory_new records those. */
SEC("uprobe")
int memory_report(struct pt_regs *ctx)
{
	if (!(ctx->r8 & 0xff)) {
		stat_hit(probe_row(ctx));
		return 0;
	}
	memory_emit(ctx, ctx->di, ctx->si, ctx->dx, ctx->cx, ctx->r8 & 0xffff);
	return 0;
}

/* (this, void *ptr, {s8 index, s8 kind} *place, size_t bytes, kind of event). Kinds of memory are
 * phi::AllocationType; 2 is a device's. The pool's reservations are the last kinds of event. */
SEC("uprobe")
int memory_placed(struct pt_regs *ctx)
{
	__s64 bytes = ctx->r8 & 1 ? -(__s64)ctx->cx : (__s64)ctx->cx;
	__u8 place[2] = {};
	__u32 device = 0;

	if ((__u32)ctx->r8 > 1)
		return 0;
	bpf_probe_read_user(place, sizeof(place), (void *)ctx->dx);
	if (place[1] == 2)
		device = 1 | (__u32)place[0] << 8;
	memory_emit(ctx, ctx->si, bytes, ~0ull, ~0ull, device);
	return 0;
}

/* Records the purpose of the block at addr: the name of cfg.name_path, and its domain. taken: its
 * bytes, if known. */
static __always_inline void storage_emit(struct pt_regs *ctx, const struct pt_probe_cfg *cfg,
					 __u32 row, __u64 addr, __u64 taken, bool reused)
{
	struct pt_rec_storage *r;

	if (!addr || !ctl.window_open)
		return;
	r = ring_reserve(&ring, sizeof(*r));
	if (!r) {
		count_lost(&ctl.lost_ring);
		return;
	}
	rec_init(&r->h, PT_REC_STORAGE, sizeof(*r), row);
	r->ts_ns = bpf_ktime_get_ns();
	r->addr = addr;
	r->taken = taken;
	r->reused = reused;
	r->name_len = read_name(ctx, cfg, &r->name);
	if (!r->name_len) /* an empty name still has a scope */
		r->name_len = read_domain(
			read_u64(arg_word(ctx, cfg->domain - 1) + cfg->domain_text), r->name.text);
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
}

struct memory_block {
	__u64 addr, bytes;
	__u32 device_type, device_index;
};

/* (this, const struct memory_block &), with cfg.flags 1 freed. cfg.code: the framework's number for
 * CUDA devices; all others are the host. cfg.domain: a device's block has a name, see
 * storage_emit(). */
SEC("uprobe")
int memory_block(struct pt_regs *ctx)
{
	__u32 row = probe_row(ctx);
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);
	struct memory_block block = {};
	__u32 device = 0;

	if (!cfg || bpf_probe_read_user(&block, sizeof(block), (void *)ctx->si) || !block.bytes)
		return 0;
	if (block.device_type == cfg->code)
		device = 1 | (block.device_index & 0xff) << 8;
	memory_emit(ctx, block.addr, cfg->flags ? -(__s64)block.bytes : (__s64)block.bytes, ~0ull,
		    ~0ull, device);
	if (cfg->domain && device)
		storage_emit(ctx, cfg, row, block.addr, 0, false);
	return 0;
}

/* cfg.link leads to a block's address. With cfg.flags 1 the block is given out: (this, block,
 * size_t bytes that it takes, bool whether from the framework's pool). */
SEC("uprobe")
int storage(struct pt_regs *ctx)
{
	__u32 row = probe_row(ctx);
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);

	stat_hit(row);
	if (cfg)
		storage_emit(ctx, cfg, row, link_object(ctx, cfg), cfg->flags ? ctx->dx : 0,
			     cfg->flags && ctx->cx & 1);
	return 0;
}
