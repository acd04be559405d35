/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Registers and stack of a call: its arguments and its return address. */
#ifndef PROFTRACE_REGISTERS_BPF_H
#define PROFTRACE_REGISTERS_BPF_H

#include "maps.bpf.h"
#include "user_memory.bpf.h"

/* Argument word by slot: 0..5 integer registers, 6.. words on the stack (System V x86-64). */
static __always_inline __u64 arg_word(struct pt_regs *ctx, __u32 slot)
{
	switch (slot) {
	case 0:
		return ctx->di;
	case 1:
		return ctx->si;
	case 2:
		return ctx->dx;
	case 3:
		return ctx->cx;
	case 4:
		return ctx->r8;
	case 5:
		return ctx->r9;
	default:
		return read_u64(ctx->sp + 8 + 8 * (__u64)(slot - 6));
	}
}

/* Will the end of this call be seen? If not, its return address is noted, and the loader attaches a
 * probe there. Until then such calls would seem to last for ever. */
static __always_inline bool return_is_seen(struct pt_regs *ctx, const struct pt_probe_cfg *cfg,
					   __u32 row)
{
	const __u32 *known;
	__u64 place;

	if (!cfg->note_returns || bpf_get_current_pid_tgid() >> 32 != ctl.target_pid)
		return true;
	place = read_u64(ctx->sp + cfg->rsp_shift);
	known = bpf_map_lookup_elem(&returns, &place);
	if (known && *known & PT_RETURN_IS_SEEN)
		return true;
	if (!known && place && !bpf_map_update_elem(&returns, &place, &row, BPF_NOEXIST))
		__sync_fetch_and_add(&ctl.return_cnt, 1);
	if (ctl.window_open)
		__sync_fetch_and_add(&ctl.lost_ends, 1);
	return false;
}

#endif
