// SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause)
/*
 * Fills the ring with records like those of a training loop: the same operators in each step,
 * varying times, backward nodes with sequence numbers. bench/ring_to_file runs it; it is never
 * attached.
 */
#include "maps.bpf.h"
#include "bench.h"

static __always_inline __u64 vary(struct pt_bench *b, __u64 ns)
{
	b->rng = b->rng * 6364136223846793005ull + 1442695040888963407ull;
	return ns - ns / 8 + (b->rng >> 40) * ns / (4ull << 24);
}

static __always_inline void make_span(struct pt_bench *b, struct pt_span *s, __u64 *inner)
{
	__u32 op = b->pos & (PT_BENCH_OPS - 1), mix = op * 2654435761u;
	bool node = op >= PT_BENCH_OPS / 2;
	__u64 dur = vary(b, 600 + mix % 30000);

	/* Every third operator contains the two before it. */
	if (op % 3 == 2) {
		s->ts_ns = *inner;
		b->clock_ns += vary(b, 500);
	} else {
		s->ts_ns = b->clock_ns + vary(b, 900);
		b->clock_ns = s->ts_ns + dur;
		if (op % 3 == 0)
			*inner = s->ts_ns - 200;
	}
	s->end_ns = b->clock_ns;
	s->probe = node ? b->row_cnt + 1 : 1 + (mix >> 8) % b->row_cnt;
	s->kind = node ? PT_KIND_NODE : PT_KIND_STATIC;
	s->end = node ? PT_END_INFERRED : PT_END_RETURN;
	s->flags = 0;
	s->vtable = node ? b->vtable + ((mix >> 8) & (PT_BENCH_TYPES - 1)) * b->vtable_stride : 0;
	s->type_obj = 0;
	s->seq = node ? b->pos : 0;
	b->pos++;
}

struct batch_ctx {
	struct pt_bench *b;
	__u64 inner;
};

static long make_batch(__u32 idx, struct batch_ctx *c)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct pt_rec_spans *r = ring_reserve(&ring, sizeof(*r));

	if (!r) {
		c->b->lost += PT_BATCH;
		c->b->pos += PT_BATCH;
		return 0;
	}
	r->h = (struct pt_rec){
		.kind = PT_REC_SPANS, .size = sizeof(*r), .pid = id >> 32, .tid = id};
	r->cnt = PT_BATCH;
	r->window = 1;
	for (int i = 0; i < PT_BATCH; i++)
		make_span(c->b, &r->spans[i], &c->inner);
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("?syscall")
int bench_spans(struct pt_bench *b)
{
	struct batch_ctx c = {.b = b, .inner = b->clock_ns};

	if (b->row_cnt)
		bpf_loop(b->batches, make_batch, &c, 0);
	return 0;
}
