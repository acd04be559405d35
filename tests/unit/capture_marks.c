// SPDX-License-Identifier: BSD-2-Clause
/* Counters and instants: from the ring's records to the table. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include "capture/decode/decoder.h"
#include "capture/decode/long_names.h"
#include "common/util.h"
#include "model_synth.h"

enum { ROW_DYNAMIC = 1, ROW_STATIC = 2 };

static struct planned_probe probes[] = {
	{.row = ROW_DYNAMIC, .group = GROUP_OPERATOR, .category = CAT_USER},
	{.row = ROW_STATIC, .group = GROUP_OPERATOR, .category = CAT_USER, .name = "app:tick"},
};
static const struct probe_plan plan = {.probes = probes, .cnt = 2, .row_cnt = 2};

static void mark(struct decoder *d, uint32_t row, enum pt_mark_op op, int64_t value,
		 const char *name, uint64_t ts_ns)
{
	struct pt_rec_mark r = {
		.h = {.kind = PT_REC_MARK, .size = sizeof(r), .probe = row, .pid = 100, .tid = 100},
		.ts_ns = ts_ns,
		.value = value,
		.op = op,
		.scope = 'g',
		.name_len = (uint32_t)strlen(name)};

	memcpy(r.name.text, name, strlen(name));
	cr_assert_eq(decoder__record(d, &r, sizeof(r)), 0);
}

static char *report_of(void (*make)(struct decoder *d), uint64_t malformed)
{
	static const struct report_opts opts = {.tables = "counters"};
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");
	const struct pt_passes passes = {0};
	struct decoder *d = decoder__new(NULL, NULL, &plan, &passes);
	char *text;

	cr_assert(d);
	decoder__set_writer(d, s.w);
	make(d);
	cr_expect_eq(decoder__malformed(d), malformed);
	decoder__free(d);
	synth__open(&s, "{}");
	text = synth__report(&s, &opts);
	synth__free(&s);
	return text;
}

static void set_and_add(struct decoder *d)
{
	mark(d, ROW_DYNAMIC, PT_MARK_SET, 5, "queue", 10);
	mark(d, ROW_DYNAMIC, PT_MARK_ADD, 7, "queue", 20);
	mark(d, ROW_DYNAMIC, PT_MARK_ADD, -14, "queue", 30);
	mark(d, ROW_DYNAMIC, PT_MARK_SET, 1, "queue", 40);
}

Test(capture_marks, a_counter_is_set_and_changed)
{
	char *text = report_of(set_and_add, 0);

	synth__expect_line(
		text, "queue                     4       -2         12         1          counter");
	cr_expect(!strstr(text, "count from 0"), "%s", text);
	free(text);
}

static void only_add(struct decoder *d)
{
	mark(d, ROW_DYNAMIC, PT_MARK_ADD, 3, "served", 10);
	mark(d, ROW_DYNAMIC, PT_MARK_ADD, 3, "served", 20);
}

Test(capture_marks, without_a_value_it_counts_from_0_and_says_so)
{
	char *text = report_of(only_add, 0);

	synth__expect_line(
		text, "served                    2       3          6          6          counter");
	cr_expect(strstr(text, "count from 0"), "%s", text);
	free(text);
}

static void instants(struct decoder *d)
{
	mark(d, ROW_STATIC, PT_MARK_INSTANT, 0, "", 10);
	mark(d, ROW_STATIC, PT_MARK_INSTANT, 0, "", 20);
	mark(d, ROW_DYNAMIC, PT_MARK_INSTANT, 0, "reload", 30);
	mark(d, ROW_DYNAMIC, PT_MARK_INSTANT, 0, "", 40); /* the mark's name could not be read */
}

Test(capture_marks, instants_are_counted)
{
	char *text = report_of(instants, 1);

	synth__expect_line(
		text, "app:tick                  2       -          -          -          mark");
	synth__expect_line(
		text, "reload                    1       -          -          -          mark");
	free(text);
}

static void alike(struct decoder *d)
{
	static const struct pt_long_name rows[] = {
		{.domain_len = 6, .len = 9, .text = "serverlength/in"},
		{.domain_len = 6, .len = 10, .text = "serverlength/out"},
	};
	struct pt_rec_mark r = {
		.h = {.kind = PT_REC_MARK, .size = sizeof(r), .probe = 1, .pid = 100, .tid = 100},
		.op = PT_MARK_SET,
		.name_len = 10,
		.name.text = "server::le"};
	struct long_names *names = long_names__new(-1, 0, NULL);

	decoder__set_long_names(d, names);
	for (uint64_t i = 0; i < 6; i++) {
		r.name.key = PT_KEY_FIRST + i % 3;
		r.ts_ns = 10 * i;
		r.value = (int64_t)i;
		if (i < ARRAY_SIZE(rows))
			cr_assert_eq(long_names__put(names, r.name.key, &rows[i]), 0);
		cr_assert_eq(decoder__record(d, &r, sizeof(r)), 0);
	}
	cr_expect_eq(decoder__cut_names(d), 2, "of the third the text is not known");
	long_names__free(names);
}

Test(capture_marks, counters_whose_names_begin_alike_are_not_one)
{
	char *text = report_of(alike, 0);

	synth__expect_line(
		text,
		"server::length/in                    2       0          3          3          "
		"counter");
	synth__expect_line(
		text,
		"server::length/out                   2       1          4          4          "
		"counter");
	synth__expect_line(text, "server::le... (names that begin so)  2  2  5  5  counter");
	free(text);
}
