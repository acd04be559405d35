// SPDX-License-Identifier: BSD-2-Clause
/* The data pipeline: from the ring's records to the table. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "capture/decode/decoder.h"
#include "bpf/thread_state.h"
#include "common/cycles.h"
#include "frameworks/framework.h"
#include "model_synth.h"

TestSuite(pipeline);

static const struct report_opts opts = {.tables = "pipeline", .style.unit = UNIT_NS};

static void rows(struct synth *s, enum span_category cat, const char *name, uint64_t ts,
		 int64_t cnt)
{
	const struct event e = {.ts_ns = ts,
				.id = EVENT_NO_ID,
				.value = cnt,
				.track = s->main,
				.name = recording_writer__name(s->w, cat, name, "16"),
				.type = EVENT_COUNTER};

	synth__write(s, &e);
}

/* Two batches are asked for, one was there; the map has two threads and is slow. */
static struct synth sample(void)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");

	rows(&s, CAT_QUEUE_EMPTY, "BatchOp(ID:0)::queue of 16", 10, 3);
	rows(&s, CAT_QUEUE_EMPTY, "BatchOp(ID:0)::queue of 16", 20, 0);
	synth__span(&s, s.main, CAT_QUEUE_EMPTY, "BatchOp(ID:0)::queue empty", 20, 60);
	synth__span(&s, s.main, CAT_PIPELINE, "MapOp(ID:1)::WorkerProcess", 100, 130);
	synth__span(&s, s.other, CAT_PIPELINE, "MapOp(ID:1)::WorkerProcess", 100, 110);
	rows(&s, CAT_QUEUE_FULL, "MapOp(ID:1)::queue of 16, before put", 130, 16);
	synth__span(&s, s.other, CAT_QUEUE_FULL, "MapOp(ID:1)::queue full", 130, 150);
	rows(&s, CAT_QUEUE_EMPTY, "ShuffleOp(ID:10)::queue of 16", 10, 4);
	synth__step(&s, 0, 0, 200);
	synth__open(&s, "{}");
	return s;
}

Test(pipeline, an_operation_is_a_row_and_what_is_not_known_is_none)
{
	struct synth s = sample();

	EXPECT_LINES(&s, "pipeline", &opts,
		     "BatchOp(ID:0)     -      -  -  -                   2     "
		     "1.50  3  16  50.00            40  -",
		     "MapOp(ID:1)       2      40  20  30                -     "
		     "-  16  16  -                  -  20",
		     "ShuffleOp(ID:10)  -      -  -  -                   1     "
		     "4.00  4  16  0.00             0  -");
	synth__free(&s);
}

Test(pipeline, its_queues_are_not_the_users_counters)
{
	struct synth s = sample();
	char *text = synth__tables(&s, "counters", &opts);

	cr_expect_null(strstr(text, "::queue"), "%s", text);
	free(text);
	synth__free(&s);
}

Test(pipeline, without_one_there_is_no_table)
{
	struct synth s = synth__new("{}");
	char *text;

	synth__span(&s, s.main, CAT_OPERATOR, "mm", 10, 20);
	synth__step(&s, 0, 0, 100);
	synth__open(&s, "{}");
	text = synth__tables(&s, NULL, &opts);
	cr_expect_null(strstr(text, "Data Pipeline"), "%s", text);
	free(text);
	synth__free(&s);
}

/* ---- from the ring ---- */

enum { ROW_TAKE = 1, ROW_PUT, ROW_STAGE };

static struct planned_probe probes[] = {
	{.row = ROW_TAKE,
	 .group = GROUP_INNER,
	 .category = CAT_QUEUE_EMPTY,
	 .program = "queue_take",
	 .name = "queue empty"},
	{.row = ROW_PUT,
	 .group = GROUP_INNER,
	 .category = CAT_QUEUE_FULL,
	 .program = "queue_put",
	 .name = "queue full"},
	{.row = ROW_STAGE, .group = GROUP_INNER, .category = CAT_PIPELINE, .program = "stage_end"},
};
static const struct probe_plan plan = {.probes = probes, .cnt = 3, .row_cnt = 3};

extern const struct framework framework_mindspore;

/* The words around a vtable in the Itanium ABI. */
static const struct {
	uint64_t vtable;
	const char *name;
} type_info = {0, "N9mindspore7dataset5MapOpE"};
static const struct {
	const void *type_info;
	uint64_t functions[1];
} vtable = {&type_info, {0}};

static void asked(struct decoder *d, uint32_t row, uint64_t cnt, uint64_t begin, uint64_t end)
{
	struct pt_rec_spans r = {
		.h = {.kind = PT_REC_SPANS, .size = sizeof(r), .pid = 100, .tid = 100}, .cnt = 1};

	r.spans[0] = (struct pt_span){.ts_ns = begin,
				      .end_ns = end,
				      .vtable = (uint64_t)(uintptr_t)vtable.functions,
				      .type_obj = 1,
				      .seq = cnt | 16ull << 32,
				      .probe = row,
				      .kind = PT_KIND_QUEUE,
				      .end = PT_END_SITE};
	cr_assert_eq(decoder__record(d, &r, sizeof(r)), 0);
}

static void stage(struct decoder *d, const char *name, uint64_t begin, uint64_t end)
{
	struct pt_rec_named r = {.h = {.kind = PT_REC_NAMED_SPAN,
				       .size = sizeof(r),
				       .probe = ROW_STAGE,
				       .pid = 100,
				       .tid = 100},
				 .ts_ns = begin,
				 .end_ns = end,
				 .name_len = (uint32_t)strlen(name)};

	memcpy(r.name.text, name, strlen(name));
	cr_assert_eq(decoder__record(d, &r, sizeof(r)), 0);
}

Test(pipeline, records_of_the_ring)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");
	struct target *self;
	const struct pt_passes passes = {0};
	struct decoder *d;
	uint64_t hits[GROUP_CNT];

	cr_assert_eq(target__open(getpid(), &self), 0);
	d = decoder__new(self, &framework_mindspore, &plan, &passes);
	cr_assert(d);
	decoder__set_writer(d, s.w);
	asked(d, ROW_TAKE, 0, 10, 30);	 /* waited */
	asked(d, ROW_TAKE, 2, 40, 45);	 /* there was one */
	asked(d, ROW_PUT, 16, 50, 57);	 /* waited for room */
	asked(d, ROW_PUT, 15, 60, 1000); /* did not */
	stage(d, "MapOp(ID:1)::WorkerProcess", 2000, 2011);
	stage(d, "MapOp(ID:1)::WorkerGet", 2020, 2900);	 /* a wait, which is not the stage's own
							    time */
	stage(d, "RunGraph::WorkerProcess", 3000, 3100); /* no operation of a pipeline */
	cr_expect_eq(decoder__malformed(d), 0);
	decoder__hits(d, hits);
	cr_expect_eq(hits[GROUP_INNER], 4 * 2 + 3);
	decoder__free(d);
	target__close(self);
	synth__open(&s, "{}");
	EXPECT_LINES(&s, "pipeline", &opts,
		     "MapOp(ID:1)       1      11  11  11                2     "
		     "1.00  16  16  50.00           20  7");
	synth__free(&s);
}

#ifdef __x86_64__
/* The same for clocks between 0.5 and 20 GHz. */
Test(pipeline, counts_of_the_processor_are_times)
{
	uint32_t shifted = cycles__ns_shifted(20);

	if (!shifted)
		cr_skip("the processor's counter has no constant rate");
	cr_expect(shifted > (1u << 20) / 20 && shifted < 2u << 20, "%u", shifted);
	cr_expect_eq(cycles__ns_shifted(20), shifted);
}
#endif
