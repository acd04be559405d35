// SPDX-License-Identifier: BSD-2-Clause
/* How ranges end: by their program, out of order, or when an outer range ends. */
#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>
#include "capture/decode/decoder.h"
#include "common/util.h"
#include "model_synth.h"

static struct planned_probe ranges[] = {
	{.row = 1, .group = GROUP_STEP, .category = CAT_USER, .program = "range_start"},
};
static const struct probe_plan plan = {
	.probes = ranges, .cnt = ARRAY_SIZE(ranges), .row_cnt = ARRAY_SIZE(ranges)};

static void range(struct decoder *d, const char *name, uint64_t begin, uint64_t end, uint32_t flags)
{
	struct pt_rec_named r = {
		.h = {.kind = PT_REC_NAMED_SPAN,
		      .size = sizeof(r),
		      .probe = 1,
		      .pid = 100,
		      .tid = 100,
		      .end = flags & PT_SPAN_NOT_ENDED ? PT_END_INFERRED : PT_END_OBJECT},
		.ts_ns = begin,
		.end_ns = end,
		.flags = flags,
		.name_len = (uint32_t)strlen(name)};

	memcpy(r.name.text, name, strlen(name));
	cr_assert_eq(decoder__record(d, &r, sizeof(r)), 0);
}

Test(range_ends, those_left_open_are_counted_and_nest)
{
	static const struct pt_passes passes;
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");
	struct target *self;
	struct decoder *d;

	cr_assert_eq(target__open(getpid(), &self), 0);
	d = decoder__new(self, NULL, &plan, &passes);
	cr_assert(d);
	decoder__set_writer(d, s.w);
	range(d, "left", 10, 90, PT_SPAN_NOT_ENDED);
	range(d, "frame", 0, 90, 0);
	range(d, "left", 110, 190, PT_SPAN_NOT_ENDED);
	range(d, "overlapping", 100, 180, PT_SPAN_OVERLAPS);
	cr_expect_eq(decoder__not_ended(d), 2);
	cr_expect_eq(decoder__malformed(d), 0);
	decoder__free(d);
	target__close(self);
	synth__step(&s, 0, 0, 200);
	synth__open(&s, "{}");
	synth__expect(synth__tree(&s, NULL),
		      "step 0 [0,200) cpu 200 D 0 F 0 B 0 O 0 other 200\n"
		      " track 1\n"
		      "  UserDefined frame [0,90) cpu 90 self 10\n"
		      "    UserDefined left [10,90) cpu 80 self 80 inferred\n"
		      "  UserDefined left [110,190) cpu 80 self 80 inferred\n"
		      " other 100\n");
	synth__free(&s);
}
