// SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause)
/* A data pipeline: the stages of its operations, and the queues between operations. */
#include "names.bpf.h"
#include "spans.bpf.h"

#define MAX_QUEUES 1024

struct queue_key {
	__u64 queue;
	__u64 pid;
};

/* Queue to the operation that fills it. A queue does not name its operation, and an operation has
 * more queues for its workers. It is learned when the next operation asks for a row. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, MAX_QUEUES);
	__type(key, struct queue_key);
	__type(value, __u64);
} queue_operations SEC(".maps");

static __always_inline struct queue_key queue_key(__u64 queue)
{
	return (struct queue_key){queue, bpf_get_current_pid_tgid() >> 32};
}

static __always_inline __u64 operation_queue(__u64 operation)
{
	return read_u64(operation + ctl.layout.pipeline.operation_queue);
}

/* Read without the queue's lock, so a row that comes or goes now may be missed. */
static __always_inline __u64 queue_rows(__u64 queue)
{
	const struct pt_pipeline *p = &ctl.layout.pipeline;
	__u64 head = read_u64(queue + p->queue_head), tail = read_u64(queue + p->queue_tail);
	__u64 capacity = read_u64(queue + p->queue_capacity);
	__u64 rows = tail >= head ? tail - head : 0;

	if (rows > capacity)
		rows = capacity;
	return (rows & 0xffffffff) | capacity << 32;
}

static __always_inline void queue_push(struct pt_regs *ctx, struct pt_thread *t, __u32 row,
				       __u64 operation, __u64 queue)
{
	__u32 id = (__u32)read_u64(operation + ctl.layout.pipeline.operation_id);
	__u64 vtable = read_u64(operation), rows = queue_rows(queue);
	struct pt_open_span *f = span_push(t, ctx->sp, row, PT_KIND_QUEUE);

	if (!f)
		return;
	f->vtable = vtable;
	f->operation = id;
	f->rows = rows;
}

static __always_inline struct pt_thread *queue_begin(struct pt_regs *ctx, __u32 row)
{
	return ctl.layout.pipeline.queue_tail ? span_begin(ctx, row) : NULL;
}

/* cfg.key_reg holds an operation that is asked for a row. */
SEC("uprobe")
int queue_take(struct pt_regs *ctx)
{
	__u32 row = probe_row(ctx);
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);
	struct pt_thread *t = cfg ? queue_begin(ctx, row) : NULL;
	struct queue_key key;
	__u64 operation;

	if (!t)
		return 0;
	operation = arg_word(ctx, cfg->key_reg);
	key = queue_key(operation_queue(operation));
	if (!key.queue)
		return 0;
	bpf_map_update_elem(&queue_operations, &key, &operation, BPF_ANY);
	queue_push(ctx, t, row, operation, key.queue);
	return 0;
}

/* cfg.key_reg holds a queue that is given a row. */
SEC("uprobe")
int queue_put(struct pt_regs *ctx)
{
	__u32 row = probe_row(ctx);
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);
	struct pt_thread *t = cfg ? queue_begin(ctx, row) : NULL;
	const __u64 *operation;
	struct queue_key key;

	if (!t)
		return 0;
	key = queue_key(arg_word(ctx, cfg->key_reg));
	operation = bpf_map_lookup_elem(&queue_operations, &key);
	/* Another queue may be at the same address. */
	if (operation && operation_queue(*operation) == key.queue)
		queue_push(ctx, t, row, *operation, key.queue);
	return 0;
}

/*
 * A stage of an operation has ended. The third and fourth argument after its name in cfg.domain
 * point to begin and end, in counts of the processor. It is reported now.
 */
SEC("uprobe")
int stage_end(struct pt_regs *ctx)
{
	__u32 row = probe_row(ctx), flags = 0;
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);
	__u64 now = bpf_ktime_get_ns(), start, end = now, cycles;
	struct pt_rec_named *r;
	struct pt_thread *t;

	if (!cfg || !wanted() || !ctl.layout.pipeline.ns_per_cycle_shifted || !(t = thread_get()))
		return 0;
	stat_hit(row);
	cycles = read_u64(ctx->r8) - read_u64(ctx->cx);
	start = now - (cycles * ctl.layout.pipeline.ns_per_cycle_shifted >> PT_CYCLE_SHIFT);
	if (start > now || !window_clip(&start, &end, &flags))
		return 0;
	batch_flush(t); /* spans inside come first */
	r = ring_reserve(&ring, sizeof(*r));
	if (!r) {
		count_lost(&ctl.lost_ring);
		return 0;
	}
	rec_init(&r->h, PT_REC_NAMED_SPAN, sizeof(*r), row);
	r->h.end = PT_END_OBJECT;
	r->ts_ns = start;
	r->end_ns = end;
	r->stack = 0;
	r->flags = flags;
	r->name_class = 0;
	r->nested = 0;
	r->link = 0;
	r->name_len = read_name(ctx, cfg, &r->name);
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}
