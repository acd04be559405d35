// SPDX-License-Identifier: BSD-2-Clause
/* The page's data: target text must not break out of it, and its size is limited. */
#include <criterion/criterion.h>
#include <string.h>
#include "common/err.h"
#include "common/util.h"
#include "model_synth.h"
#include "page/page_internal.h"
#include "page_text.h"

TestSuite(page);

/* Returns the data between its tags. Modifies html. */
static json_t *data_of(char *html)
{
	char *begin = page_text__data(html), *end = strstr(begin, PAGE_DATA_END);
	json_error_t error;
	json_t *data;

	cr_assert_not_null(end);
	*end = '\0';
	cr_expect_null(strchr(begin, '<'), "data with a <: %.80s", strchr(begin, '<'));
	data = json_loads(begin, 0, &error);
	cr_assert_not_null(data, "%s at %d", error.text, error.position);
	return data;
}

static json_t *page_data(const struct recording *r)
{
	const struct report_opts opts = {};
	auto_free char *html = page_text(r, &opts);

	return data_of(html);
}

Test(page, the_rest_of_a_step_of_timer_only_is_no_phase)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}, \"detail\": \"timer\"}");
	json_t *data, *steps, *bar;

	synth__span(&s, s.main, CAT_DATALOADER, "next", 0, 10);
	synth__span(&s, s.main, CAT_OPTIMIZER, "step", 50, 70);
	synth__step(&s, 0, 0, 100);
	synth__open(&s, "{}");
	data = page_data(s.r);
	steps = json_object_get(data, "steps");
	cr_expect_eq(json_array_size(json_object_get(steps, "phases")), 2);
	cr_expect_str_eq(json_string_value(json_array_get(json_object_get(steps, "phases"), 1)),
			 PHASE_UNRECORDED);
	bar = json_array_get(json_object_get(steps, "bars"), 0);
	cr_assert_eq(json_array_size(bar), 7);
	cr_expect_eq(json_integer_value(json_array_get(bar, 5)), 10);
	cr_expect_eq(json_integer_value(json_array_get(bar, 6)), 90);
	json_decref(data);
	synth__free(&s);
}

static bool has_name(const json_t *data, const char *name)
{
	const json_t *item;
	size_t i;

	json_array_foreach(json_object_get(data, "names"), i, item)
	{
		if (!strcmp(json_string_value(item), name))
			return true;
	}
	return false;
}

Test(page, hostile_names_stay_text)
{
	static const char script[] = "</script><script>alert(1)</script><!--\"\\\n\x01";
	static const char no_utf8[] = "caf\xe9 \xf0\x28";
	struct synth s = synth__new("{\"process\":{\"pid\":100,\"comm\":\"<img>&amp;\"}}");
	json_t *data;

	synth__span(&s, s.main, CAT_OPERATOR, script, 100, 200);
	synth__span(&s, s.main, CAT_USER, no_utf8, 50, 300);
	synth__step(&s, 0, 0, 1000);
	synth__open(&s, "{}");
	data = page_data(s.r);
	cr_expect(has_name(data, script));
	cr_expect(has_name(data, "caf\\xe9 \\xf0("));
	cr_expect_str_eq(json_string_value(json_object_get(data, "title")),
			 "process 100 (<img>&amp;)");
	json_decref(data);
	synth__free(&s);
}

Test(page, nothing_may_be_loaded)
{
	const struct report_opts opts = {};
	struct synth s = synth__new("{}");
	auto_free char *first = NULL, *second = NULL;

	synth__open(&s, "{}");
	first = page_text(s.r, &opts);
	second = page_text(s.r, &opts);
	cr_expect_not_null(strstr(first, "content=\"default-src 'none'; script-src 'nonce-"));
	cr_expect_null(strstr(first, "unsafe"));
	cr_expect_null(strstr(first, "http:"));
	cr_expect_null(strstr(first, "https:"));
	cr_expect_null(strstr(first, "{{"), "a mark was left");
	cr_expect_str_neq(first, second, "a nonce that can be known is none");
	synth__free(&s);
}

Test(page, a_recording_without_steps_has_a_timeline)
{
	struct synth s = synth__new("{}");
	json_t *data, *line;

	synth__span(&s, s.main, CAT_OPERATOR, "op", 100, 200);
	synth__span(&s, s.main, CAT_OPERATOR, "op", 300, 500);
	synth__open(&s, NULL);
	data = page_data(s.r);
	line = json_array_get(json_object_get(data, "timelines"), 0);
	cr_expect_eq(json_integer_value(json_object_get(line, "step")), -1);
	cr_expect_eq(json_array_size(json_object_get(line, "spans")), 2);
	cr_expect_eq(json_integer_value(json_object_get(line, "length_ns")), 400);
	cr_expect_eq(json_array_size(json_object_get(json_object_get(data, "steps"), "bars")), 0);
	json_decref(data);
	synth__free(&s);
}

Test(page, timelines_are_of_the_slowest_the_median_and_the_first_step)
{
	static const uint64_t lengths[] = {300, 200, 900, 100, 500};
	struct synth s = synth__new("{}");
	uint64_t t = 0;
	json_t *data, *lines;

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		synth__span(&s, s.main, CAT_OPERATOR, "op", t + 10, t + 50);
		synth__step(&s, 7 + i, t, t + lengths[i]);
		t += lengths[i];
	}
	synth__open(&s, "{}");
	data = page_data(s.r);
	lines = json_object_get(data, "timelines");
	cr_expect_eq(json_array_size(lines), 2);
	cr_expect_eq(json_integer_value(json_object_get(json_array_get(lines, 0), "step")), 9);
	cr_expect_eq(json_integer_value(json_object_get(json_array_get(lines, 1), "step")), 7);
	cr_expect_str_eq(json_string_value(json_object_get(json_array_get(lines, 1), "why")),
			 "median, first");
	json_decref(data);
	synth__free(&s);
}

/* Step 1 is the slowest: the collective of step 0 runs into it. */
Test(page, a_timeline_has_what_the_device_still_does_of_the_step_before)
{
	struct synth s = synth__new("{}");
	uint32_t stream = synth__stream(&s, 0, 7);
	json_t *data, *line, *span;

	synth__launch(&s, s.main, 1, 10, 20);
	synth__kernel(&s, stream, CAT_KERNEL, "ncclDevKernel_AllReduce", 1, 50, 250);
	synth__step(&s, 0, 0, 100);
	synth__span(&s, s.main, CAT_OPERATOR, "op", 110, 150);
	synth__step(&s, 1, 100, 400);
	synth__open(&s, "{}");
	data = page_data(s.r);
	line = json_array_get(json_object_get(data, "timelines"), 0);
	cr_expect_eq(json_integer_value(json_object_get(line, "step")), 1);
	cr_assert_eq(json_array_size(json_object_get(line, "spans")), 2);
	span = json_array_get(json_object_get(line, "spans"), 1);
	cr_expect_eq(json_integer_value(json_array_get(span, 2)), 0, "from the step's begin");
	cr_expect_eq(json_integer_value(json_array_get(span, 3)), 150);
	cr_expect_eq(json_integer_value(json_array_get(span, 5)), KIND_COMMUNICATION);
	json_decref(data);
	synth__free(&s);
}

Test(page, many_steps_are_grouped)
{
	struct synth s = synth__new("{}");
	json_t *data, *steps, *bars, *bar;
	int64_t sum = 0;
	size_t i;

	for (uint64_t n = 0; n < 2 * BARS_MAX + 1; n++)
		synth__step(&s, n, n * 100, n * 100 + (n == 5 ? 99 : 50));
	synth__open(&s, "{}");
	data = page_data(s.r);
	steps = json_object_get(data, "steps");
	bars = json_object_get(steps, "bars");
	cr_expect_eq(json_integer_value(json_object_get(steps, "group")), 3);
	cr_expect_leq(json_array_size(bars), BARS_MAX);
	json_array_foreach(bars, i, bar) sum += json_integer_value(json_array_get(bar, 1));
	cr_expect_eq(sum, 2 * BARS_MAX + 1);
	bar = json_array_get(bars, 1);
	cr_expect_eq(json_integer_value(json_array_get(bar, 3)), 99, "the longest of its group");
	cr_expect_eq(json_integer_value(json_array_get(bar, 4)), 1, "slow ones");
	json_decref(data);
	synth__free(&s);
}

Test(page, bins_keep_sums_and_levels_as_they_widen)
{
	struct bins b = {};
	uint64_t sum = 0;
	int64_t max = 0;

	bins__begin(&b, 1000);
	for (uint64_t t = 0; t < 1000000; t += 1000)
		cr_assert_eq(bins__add(&b, BIN_DEVICE, 0, 1000 + t, 1000 + t + 700), 0);
	cr_assert_eq(bins__level(&b, 0, 1000, 10), 0);
	cr_assert_eq(bins__level(&b, 0, 1100, 99), 0);
	cr_assert_eq(bins__level(&b, 0, 1200, 20), 0);
	cr_assert_eq(bins__add(&b, BIN_DEVICE, 0, 500, 1700), 0, "before the begin: left out");
	cr_assert_eq(bins__add(&b, BIN_DEVICE, 0, 9000000, 9000001), 0);
	cr_expect_eq(b.cnt, 2);
	for (size_t i = 0; i < BIN_CNT; i++) {
		sum += b.series[0]->sum_ns[i];
		max = b.series[1]->has[i] && b.series[1]->max[i] > max ? b.series[1]->max[i] : max;
	}
	cr_expect_eq(sum, 1000 * 700 + 700 + 1);
	cr_expect_eq(max, 99);
	cr_expect_eq(b.series[1]->last[0], 20);
	cr_expect_geq(b.width_ns * BIN_CNT, 9000001 - 1000);
	cr_expect_lt(b.width_ns * BIN_CNT, 2 * 9000001);
	bins__free(&b);
}

static void put(struct page_timeline *t, uint32_t row, uint64_t begin, uint64_t end)
{
	const struct timeline_span s = {
		.begin_ns = begin, .end_ns = end, .row = row, .cnt = 1, .kind = KIND_OPERATOR};

	cr_assert_eq(ARRAY_PUSH(t->spans, t->cnt, t->cap, s), 0);
}

Test(page, small_spans_merge_and_are_counted)
{
	struct page_timeline t = {};
	uint64_t cnt = 0;

	put(&t, 0, 0, 1000000);
	for (uint64_t i = 0; i < 10000; i++)
		put(&t, 1, i * 100, i * 100 + 50);
	put(&t, 1, 2000000, 2500000);
	page_timeline__merge(&t, 100);
	cr_expect_leq(t.cnt, 100);
	for (size_t i = 0; i < t.cnt; i++)
		cnt += t.spans[i].cnt;
	cr_expect_eq(cnt + t.left_out, 10002);
	cr_expect_eq(t.left_out, 0);
	cr_expect_eq(t.merged, 10000);
	cr_expect_eq(t.spans[0].end_ns, 1000000, "a long one stays alone");
	cr_expect_eq(t.spans[t.cnt - 1].cnt, 1);
	free(t.spans);
}

Test(page, what_cannot_merge_is_left_out_and_counted)
{
	struct page_timeline t = {};

	for (uint32_t row = 0; row < 60; row++)
		for (uint64_t i = 0; i < 5; i++)
			put(&t, row, i * 1000, i * 1000 + 900);
	page_timeline__merge(&t, 40);
	cr_expect_eq(t.cnt, 40);
	cr_expect_gt(t.left_out, 0);
	free(t.spans);
}

Test(page, long_names_are_whole)
{
	struct synth s = synth__new("{}");
	char name[4097];
	json_t *data;

	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	name[sizeof(name) - 2] = 'a';
	synth__span(&s, s.main, CAT_OPERATOR, name, 0, 10);
	name[sizeof(name) - 2] = 'b';
	synth__span(&s, s.main, CAT_OPERATOR, name, 20, 30);
	synth__open(&s, "{}");
	data = page_data(s.r);
	cr_expect(has_name(data, name));
	name[sizeof(name) - 2] = 'a';
	cr_expect(has_name(data, name));
	json_decref(data);
	synth__free(&s);
}

Test(page, committed_recordings_have_all_parts)
{
	static const char *const recordings[] = {"cpu", "gpu", "simgpu", "cut"};
	static const char *const parts[] = {"title", "loss",  "kinds",	   "tables", "steps",
					    "usage", "flame", "timelines", "names"};

	for (size_t i = 0; i < ARRAY_SIZE(recordings); i++) {
		struct recording *r;
		char path[64];
		json_t *data;

		snprintf(path, sizeof(path), "tests/golden/%s.ptrec", recordings[i]);
		cr_assert_eq(recording__open(path, &r), 0, "%s", path);
		data = page_data(r);
		for (size_t p = 0; p < ARRAY_SIZE(parts); p++)
			cr_expect_not_null(json_object_get(data, parts[p]), "%s: %s", recordings[i],
					   parts[p]);
		json_decref(data);
		recording__close(r);
	}
}
