// SPDX-License-Identifier: BSD-2-Clause
/* Recordings larger than the exporter's window: order, nesting and count must still be right. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include "chrome_sample.h"
#include "common/util.h"

static uint64_t random_state;

static uint64_t random_below(uint64_t n)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return (random_state >> 33) % n;
}

/* A random tree of spans, each written when it ends. With noise, some ends are too late and some
 * begins too early. */
static void grow(struct made *s, uint64_t *now_ns, int depth, uint64_t noise_ns)
{
	const uint64_t begin_ns = *now_ns;

	for (uint64_t i = depth ? random_below(5) : 2500; i > 0; i--) {
		*now_ns += random_below(1500);
		if (depth < 6)
			grow(s, now_ns, depth + 1, noise_ns);
	}
	*now_ns += 1 + random_below(1500);
	made__span(s, CAT_OPERATOR, "op", begin_ns - (noise_ns ? random_below(noise_ns) : 0),
		   *now_ns + (noise_ns ? random_below(noise_ns) : 0), EVENT_NO_ID);
}

struct open_slice {
	double end;
};

/* Expects slices in order of begin, each inside the open ones. */
static size_t expect_nested(const json_t *trace, size_t *clipped)
{
	struct open_slice *open = NULL;
	size_t open_cnt = 0, open_cap = 0, cnt = 0, i;
	double last = 0;
	json_t *e;

	json_array_foreach(json_object_get(trace, "traceEvents"), i, e)
	{
		double ts, end;

		if (strcmp(json_string_value(json_object_get(e, "ph")), "X"))
			continue;
		ts = trace__number(e, "ts");
		end = ts + trace__number(e, "dur");
		if (ts < last)
			cr_assert_fail("event %zu begins before the one before it", i);
		last = ts;
		while (open_cnt && open[open_cnt - 1].end <= ts)
			open_cnt--;
		if (open_cnt && end > open[open_cnt - 1].end)
			cr_assert_fail("event %zu reaches out", i);
		if (ARRAY_PUSH(open, open_cnt, open_cap, (struct open_slice){end}))
			cr_assert_fail("no memory");
		*clipped += trace__arg(e, "clipped_ns") != NULL;
		cnt++;
	}
	free(open);
	return cnt;
}

static void export_tree(uint64_t noise_ns, uint64_t seed, size_t *clipped)
{
	uint64_t now_ns = 1000000, written;
	struct made s;
	json_t *trace;

	random_state = seed;
	made__begin(&s, NULL);
	grow(&s, &now_ns, 0, noise_ns);
	written = recording_writer__events(s.w);
	cr_assert_gt(written, 100000, "%llu events", (unsigned long long)written);
	trace = made__export(&s, NULL);
	cr_expect_eq(expect_nested(trace, clipped), written);
	json_decref(trace);
	made__remove(&s);
}

Test(chrome_stream, exact_trees_are_left_as_they_are)
{
	size_t clipped = 0;

	export_tree(0, 1, &clipped);
	cr_expect_eq(clipped, 0);
}

Test(chrome_stream, noisy_trees_are_made_to_nest)
{
	size_t clipped = 0;

	export_tree(3000, 2, &clipped);
	cr_expect_gt(clipped, 0);
}

/* In a foreign file no order can be trusted. */
Test(chrome_stream, any_order_comes_out_nested)
{
	size_t clipped = 0;
	struct made s;
	json_t *trace;

	random_state = 3;
	made__begin(&s, NULL);
	for (uint64_t i = 0; i < 100000; i++) {
		const uint64_t begin_ns = random_below(1ull << 30);

		made__span(&s, CAT_OPERATOR, "op", begin_ns, begin_ns + random_below(1ull << 20),
			   EVENT_NO_ID);
	}
	trace = made__export(&s, NULL);
	cr_expect_eq(expect_nested(trace, &clipped), 100000);
	json_decref(trace);
	made__remove(&s);
}
