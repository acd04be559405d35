// SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause)
/* Backward nodes: only the entry has a probe, because errors pass through as exceptions. The end is
 * inferred. */
#include "registers.bpf.h"
#include "spans.bpf.h"

#define PT_NODE_HEAD 4 /* first words of a Node, with its vtable and sequence number */

/* Does another node run this one as a part of it (CopySlices)? Then it is not in the graph. */
static __always_inline bool in_node(struct pt_thread *t)
{
	const struct pt_open_span *f = open_span_at(t, t->open_cnt - 1);
	const struct pt_probe_cfg *cfg;
	__u32 row;

	if (!f || f->kind != PT_KIND_NODE)
		return false;
	row = f->probe;
	cfg = bpf_map_lookup_elem(&probe_cfg, &row);
	return cfg && cfg->flags & PT_NODE_OF_TYPE;
}

/* cfg.key_reg holds the Node *. */
SEC("uprobe")
int node_entry(struct pt_regs *ctx)
{
	__u32 row = probe_row(ctx);
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);
	__u64 node, type_obj = 0, head[PT_NODE_HEAD] = {};
	struct pt_thread *t;
	struct pt_open_span *f;

	if (!cfg || !(t = span_begin(ctx, row)))
		return 0;
	if (cfg->flags & PT_NODE_OF_TYPE && in_node(t))
		return 0;
	node = arg_word(ctx, cfg->key_reg);
	/* The vtable and the sequence number are read at once. */
	bpf_probe_read_user(head, sizeof(head), (void *)node);
	if (head[0] == ctl.layout.pynode_vtable && head[0])
		type_obj = read_u64(read_u64(node + ctl.layout.node_pyobj) + 8);
	f = span_push(t, ctx->sp, row, PT_KIND_NODE);
	if (!f)
		return 0;
	f->vtable = head[0];
	if (ctl.layout.node_seq)
		f->seq = head[(ctl.layout.node_seq / sizeof(head[0])) & (PT_NODE_HEAD - 1)];
	f->type_obj = type_obj;
	return 0;
}
