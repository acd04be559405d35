// SPDX-License-Identifier: BSD-2-Clause
/* In any order of the file, slices must nest on their rows, and each begin must have its end. */
#include "exporters/parts/slices.h"
#include <criterion/criterion.h>
#include "chrome_sample.h"
#include "common/util.h"

static uint64_t random_state;

static uint64_t random_below(uint64_t n)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return (random_state >> 33) % n;
}

struct seen {
	uint64_t begins, ends, points, clipped, last_ns[64];
	uint64_t open_ns[64][128];
	size_t open_cnt[64];
};

static void take(struct seen *seen, const struct slice *s)
{
	const uint32_t row = s->row->id;
	size_t *cnt = &seen->open_cnt[row];
	uint64_t *open = seen->open_ns[row];

	if (row >= 64 || *cnt == 128)
		cr_assert_fail("row %u, depth %zu", row, *cnt);
	seen->points += s->what == SLICE_POINT;
	if (s->what == SLICE_POINT)
		return;
	if (s->ts_ns < seen->last_ns[row])
		cr_assert_fail("time goes back on row %u", row);
	seen->last_ns[row] = s->ts_ns;
	if (s->what == SLICE_END) {
		if (!*cnt || open[--*cnt] != s->ts_ns)
			cr_assert_fail("an end on row %u is none of its innermost slice", row);
		seen->ends++;
		return;
	}
	if (s->end_ns < s->ts_ns || (*cnt && s->end_ns > open[*cnt - 1]))
		cr_assert_fail("a slice reaches out");
	open[(*cnt)++] = s->end_ns;
	seen->begins++;
	seen->clipped += s->clipped_ns > 0;
}

static void read_back(struct made *m, struct seen *seen)
{
	struct recording *r;
	struct slices *s;
	struct slice slice;
	int err;

	made__close(m);
	*seen = (struct seen){0};
	cr_assert_eq(recording__open(m->path, &r), 0);
	cr_assert_eq(slices__open(r, &s), 0);
	while ((err = slices__next(s, &slice)) > 0)
		take(seen, &slice);
	cr_expect_eq(err, 0);
	cr_expect_eq(seen->begins, seen->ends);
	slices__close(s);
	recording__close(r);
	made__remove(m);
}

Test(slices, any_order_comes_out_nested)
{
	struct seen seen;
	struct made m;

	random_state = 5;
	made__begin(&m, NULL);
	for (uint64_t i = 0; i < 60000; i++) {
		const uint64_t begin_ns = random_below(1ull << 30);

		made__span(&m, CAT_OPERATOR, "op", begin_ns, begin_ns + random_below(1ull << 20),
			   EVENT_NO_ID);
		made__device(&m, i % 3 ? CAT_KERNEL : CAT_SYNC, "work", begin_ns,
			     begin_ns + random_below(1ull << 18), i);
	}
	read_back(&m, &seen);
	cr_expect_eq(seen.begins, 120000);
	cr_expect_gt(seen.clipped, 0);
}

/* Overlapping asynchronous spans are on lanes, synchronisations apart from kernels: nothing is cut.
 */
Test(slices, what_may_overlap_has_rows_of_its_own)
{
	struct seen seen;
	struct made m;

	made__begin(&m, NULL);
	made__device(&m, CAT_KERNEL, "kernel", 1000, 5000, 1);
	made__device(&m, CAT_SYNC, "wait", 2000, 9000, 2);
	for (uint64_t i = 0; i < 3; i++)
		made__put(&m, &(struct event){.type = EVENT_ASYNC,
					      .track = m.thread,
					      .name = made__name(&m, CAT_COMMUNICATION, "reduce"),
					      .ts_ns = 1000 + 500 * i,
					      .dur_ns = 4000,
					      .id = i});
	made__put(&m, &(struct event){.type = EVENT_INSTANT, .track = m.thread, .ts_ns = 4000});
	read_back(&m, &seen);
	cr_expect_eq(seen.begins, 5);
	cr_expect_eq(seen.clipped, 0);
	cr_expect_eq(seen.points, 1);
}
