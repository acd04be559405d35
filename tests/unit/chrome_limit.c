// SPDX-License-Identifier: BSD-2-Clause
/* --limit-size: checks the trace's size, and what the trace says about the cut. */
#include <criterion/criterion.h>
#include <string.h>
#include "chrome_sample.h"
#include "common/util.h"
#include "exporters/exporter.h"

#define STEPS	 40
#define PER_STEP 500
#define SPAN_NS	 2000
#define STEP_NS	 ((uint64_t)PER_STEP * SPAN_NS)
#define LIMIT	 (1u << 20)

/* Steps 5 to 44, back to back, with one span after the other. */
static void fill(struct made *s)
{
	made__begin(s, NULL);
	for (uint64_t i = 0; i < STEPS; i++) {
		const uint64_t begin = i * STEP_NS;

		for (uint64_t j = 0; j < PER_STEP; j++)
			made__span(s, CAT_OPERATOR, "aten::add", begin + j * SPAN_NS,
				   begin + j * SPAN_NS + 1500, EVENT_NO_ID);
		made__step(s, 5 + i, begin, begin + STEP_NS);
	}
	made__close(s);
}

static uint64_t export_to(const struct made *s, const char *path, int level, uint64_t limit_bytes)
{
	const struct export_opts opts = {
		.output = path, .gzip_level = level, .limit_bytes = limit_bytes};
	struct export_result result;
	struct recording *r;

	cr_assert_eq(recording__open(s->path, &r), 0);
	cr_assert_eq(exporter__find("chrome")->run(r, &opts, &result), 0);
	recording__close(r);
	return result.events;
}

static int64_t arg(const json_t *event, const char *key)
{
	const json_t *value = trace__arg(event, key);

	cr_assert(json_is_integer(value), "%s", key);
	return json_integer_value(value);
}

/* Spans of the step that are in the trace. */
static size_t spans_in(const json_t *trace, uint64_t step)
{
	const double begin = (double)((step - 5) * STEP_NS) / 1e3;
	const json_t *e;
	size_t cnt = 0, i;

	json_array_foreach(json_object_get(trace, "traceEvents"), i, e)
	{
		const double ts = json_number_value(json_object_get(e, "ts"));

		cnt += !strcmp(json_string_value(json_object_get(e, "name")), "aten::add") &&
		       ts >= begin && ts < begin + (double)STEP_NS / 1e3;
	}
	return cnt;
}

Test(chrome_limit, what_it_says_of_the_cut_is_so)
{
	auto_free char *text = NULL;
	json_t *trace, *mark;
	struct made s;
	uint64_t events;
	size_t len;

	fill(&s);
	events = export_to(&s, s.trace, 0, LIMIT);
	text = file__read(s.trace, &len);
	cr_expect(len <= LIMIT && len > LIMIT * 3 / 4, "%zu bytes", len);
	trace = json_loads(text, 0, NULL);
	cr_assert_not_null(trace);
	mark = trace__find(trace, "cut by --limit-size", "i");
	cr_assert_not_null(mark);
	cr_expect_eq(arg(mark, "limit_bytes"), LIMIT);
	cr_expect_eq(arg(mark, "steps"), STEPS);
	cr_expect_eq((uint64_t)arg(mark, "events_left_out") + events, STEPS * (PER_STEP + 1));
	cr_expect_eq(arg(mark, "first_whole_step"), 5);
	cr_expect_eq(arg(mark, "last_whole_step"), 4 + arg(mark, "whole_steps"));
	cr_expect(arg(mark, "whole_steps") > 2 && arg(mark, "whole_steps") < STEPS);
	cr_expect(json_is_true(json_object_get(json_object_get(trace, "proftrace"), "truncated")));
	for (int64_t i = 5; i <= arg(mark, "last_whole_step"); i++)
		cr_expect_eq(spans_in(trace, (uint64_t)i), PER_STEP, "step %lld", (long long)i);
	cr_expect_lt(spans_in(trace, (uint64_t)arg(mark, "last_whole_step") + 1), PER_STEP);
	cr_expect_eq(spans_in(trace, (uint64_t)arg(mark, "last_whole_step") + 2), 0);
	json_decref(trace);
	made__remove(&s);
}

Test(chrome_limit, a_trace_that_fits_is_as_without)
{
	auto_free char *limited = NULL, *whole = NULL;
	struct made s;

	fill(&s);
	export_to(&s, s.trace, 0, 1u << 30);
	limited = file__read(s.trace, NULL);
	export_to(&s, s.trace, 0, 0);
	whole = file__read(s.trace, NULL);
	cr_expect_str_eq(limited, whole);
	made__remove(&s);
}

/* The limit is for the uncompressed text, because a viewer holds that. */
Test(chrome_limit, compression_does_not_move_the_cut)
{
	struct made s;
	uint64_t plain;

	fill(&s);
	plain = export_to(&s, s.trace, 0, LIMIT);
	unlink(s.trace);
	strcat(s.trace, ".gz");
	cr_expect_eq(export_to(&s, s.trace, 6, LIMIT), plain);
	made__remove(&s);
}
