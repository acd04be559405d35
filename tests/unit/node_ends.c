// SPDX-License-Identifier: BSD-2-Clause
/* The last node of a device's thread ends with its pass. This must also hold if the library in the
 * target records the pass, although its memory is read after the kernel's ring. */
#include <criterion/criterion.h>
#include <stddef.h>
#include <unistd.h>
#include "capture/decode/decoder.h"
#include "bpf/thread_state.h"
#include "common/util.h"
#include "model_synth.h"

#define PID	    100
#define DEVICE_TID  101
#define ROW_PASS    1
#define ROW_NODE    2
#define NEXT_PASSES 3

static struct planned_probe rows[] = {
	{.row = ROW_PASS, .group = GROUP_STEP, .category = CAT_BACKWARD, .program = "phase_entry"},
	{.row = ROW_NODE,
	 .group = GROUP_NODE_TYPE,
	 .category = CAT_BACKWARD_NODE,
	 .name = "node",
	 .program = "node_entry"},
};
static const struct probe_plan plan = {
	.probes = rows, .cnt = ARRAY_SIZE(rows), .row_cnt = ARRAY_SIZE(rows)};

/* The library's notes: [1000 i, 1000 i + 400) each. */
struct noted {
	struct decoder *d;
	uint64_t read_cnt, look_cnt;
};

static int look(void *ctx, uint64_t end_ns)
{
	struct noted *n = ctx;

	n->look_cnt++;
	for (; 1000 * n->read_cnt + 400 <= end_ns; n->read_cnt++)
		decoder__meet(n->d, PID, PID,
			      &(struct pt_span){.ts_ns = 1000 * n->read_cnt,
						.end_ns = 1000 * n->read_cnt + 400,
						.probe = ROW_PASS});
	return 0;
}

static void node(struct decoder *d, uint64_t begin_ns, uint64_t end_ns)
{
	struct pt_rec_spans r = {.h = {.kind = PT_REC_SPANS, .pid = PID, .tid = DEVICE_TID},
				 .cnt = 1};
	const uint32_t size = offsetof(struct pt_rec_spans, spans) + sizeof(r.spans[0]);

	r.h.size = size;
	r.spans[0] = (struct pt_span){.ts_ns = begin_ns,
				      .end_ns = end_ns,
				      .probe = ROW_NODE,
				      .kind = PT_KIND_NODE,
				      .end = PT_END_INFERRED};
	cr_assert_eq(decoder__record(d, &r, size), 0);
}

Test(node_ends, the_librarys_passes_are_asked_for_before_a_node_is_written)
{
	static const struct pt_passes passes;
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");
	struct noted noted = {};
	struct target *self;

	cr_assert_eq(target__open(getpid(), &self), 0);
	noted.d = decoder__new(self, NULL, &plan, &passes);
	cr_assert(noted.d);
	decoder__set_writer(noted.d, s.w);
	decoder__set_look(noted.d, look, &noted);
	for (uint64_t i = 0; i < NEXT_PASSES; i++) {
		node(noted.d, 1000 * i + 100, 1000 * i + 380);
		node(noted.d, 1000 * i + 380, 1000 * (i + 1) + 100);
	}
	cr_expect_eq(noted.look_cnt, 2 * NEXT_PASSES);
	cr_expect_eq(decoder__malformed(noted.d), 0);
	decoder__free(noted.d);
	target__close(self);
	synth__step(&s, 0, 0, 4000);
	synth__open(&s, "{}");
	synth__expect(synth__tree(&s, NULL),
		      "step 0 [0,4000) cpu 4000 D 0 F 0 B 0 O 0 other 4000\n"
		      " track 2\n"
		      "  Operator node [100,380) cpu 280 self 280 inferred\n"
		      "  Operator node [380,400) cpu 20 self 20 inferred\n"
		      "  Operator node [1100,1380) cpu 280 self 280 inferred\n"
		      "  Operator node [1380,1400) cpu 20 self 20 inferred\n"
		      "  Operator node [2100,2380) cpu 280 self 280 inferred\n"
		      "  Operator node [2380,2400) cpu 20 self 20 inferred\n");
	synth__free(&s);
}
