// SPDX-License-Identifier: BSD-2-Clause
/* Counters and instants: from the ring's records to the table. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include "capture/decode/decoder.h"
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

	memcpy(r.name, name, strlen(name));
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
	mark(d, ROW_DYNAMIC, PT_MARK_INSTANT, 0, "", 40); /* its name could not be read */
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

/* 63 characters of two bytes, and the first byte of the next: what the kernel's side has room for.
 */
static void long_name(struct decoder *d)
{
	char name[PT_NAME_MAX] = "";

	for (size_t i = 0; i + 1 < sizeof(name); i++)
		name[i] = i % 2 ? '\xb6' : '\xc3';
	mark(d, ROW_DYNAMIC, PT_MARK_INSTANT, 0, name, 10);
}

Test(capture_marks, a_name_ends_with_a_whole_character)
{
	char *text = report_of(long_name, 0);

	cr_expect(strstr(text, "\u00f6\u00f6 "), "%s", text);
	cr_expect(!strstr(text, "\xc3 "), "%s", text);
	free(text);
}
