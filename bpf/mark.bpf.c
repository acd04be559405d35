// SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause)
/* Counters and instants: they have a time and no length. */
#include "open_spans.bpf.h"
#include "names.bpf.h"

/* The value of a slot, given + 1 as in configurations. 0: there is none. */
static __always_inline __u64 mark_word(struct pt_regs *ctx, __u8 slot)
{
	return slot ? arg_word(ctx, slot - 1) : 0;
}

static __always_inline void mark_read(struct pt_regs *ctx, const struct pt_probe_cfg *cfg,
				      struct pt_rec_mark *r)
{
	const struct pt_mark_cfg *mark = &cfg->mark;
	__u64 scope = mark_word(ctx, mark->scope);

	r->op = mark->op;
	r->pad = 0;
	r->value = mark_word(ctx, mark->value);
	if (mark->base) {
		r->op = PT_MARK_SET;
		r->value += read_u64(mark_word(ctx, mark->base) + mark->base_at);
	}
	r->scope = scope;
	if (mark->scope_is_text)
		bpf_probe_read_user(&r->scope, sizeof(r->scope), (void *)scope);
}

/* cfg.mark has the mark's kind. cfg.name_path leads to its name. Without name_source the row has
 * the name. */
SEC("uprobe")
int mark(struct pt_regs *ctx)
{
	__u32 row = probe_row(ctx);
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);
	__u64 now = bpf_ktime_get_ns();
	struct pt_rec_mark *r;

	stat_hit(row);
	if (!cfg || !ctl.window_open)
		return 0;
	r = ring_reserve(&ring, sizeof(*r));
	if (!r) {
		count_lost(&ctl.lost_ring);
		return 0;
	}
	rec_init(&r->h, PT_REC_MARK, sizeof(*r), row);
	r->ts_ns = now;
	mark_read(ctx, cfg, r);
	r->name_len = 0;
	if (cfg->name_source)
		r->name_len = read_name(ctx, cfg, &r->name);
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}
