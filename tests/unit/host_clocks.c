// SPDX-License-Identifier: BSD-2-Clause
/* Hosts whose clocks differ: the ends of collectives tell by how much. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/job/clock_offset.h"
#include "analysis/job/job.h"
#include "common/util.h"
#include "finding_job.h"

#define US   1000ll
#define HOUR (3600000ll * (int64_t)MS)

/* A generator of our own, so that each run has the same job. */
static uint64_t random_below(uint64_t *state, uint64_t limit)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return (*state >> 33) % limit;
}

/* Steps of a job; both ranks have the same ones. */
struct plan {
	size_t steps;
	uint64_t uneven_us; /* a step takes up to so much more than 30 ms */
	uint64_t noise_us;  /* a rank ends a collective up to so much later */
	const char *const *names;
	size_t name_cnt;
};

static const char *const all_reduces[] = {"gloo:all_reduce", "gloo:all_reduce"};
static const struct plan usual = {
	.steps = 30, .uneven_us = 4000, .noise_us = 200, .names = all_reduces, .name_cnt = 2};

/* The collectives of a rank. Its window begins at step `from`. Its clock is ahead by ahead_ns. */
static struct collective_ends rank_of(const struct plan *p, size_t from, int64_t ahead_ns,
				      uint64_t seed)
{
	struct collective_ends e = {};
	uint64_t job = 1, at = 20 * (uint64_t)HOUR;

	for (size_t i = 0; i < from + p->steps; i++) {
		at += 30 * MS + random_below(&job, p->uneven_us + 1) * (uint64_t)US;
		for (size_t k = 0; k < p->name_cnt && i >= from; k++) {
			const uint64_t late = random_below(&seed, p->noise_us + 1) * (uint64_t)US;
			const uint64_t end = at + 2 * MS * k + late + (uint64_t)ahead_ns;

			cr_assert_eq(collective_ends__add(&e, i, p->names[k],
							  end - MS - random_below(&seed, MS), end),
				     0);
		}
	}
	collective_ends__sort(&e);
	return e;
}

static struct clock_offset offset_of(struct collective_ends a, struct collective_ends b,
				     int64_t ahead_ns)
{
	struct clock_offset o;

	cr_assert_eq(clock_offset__find(&a, &b, ahead_ns, &o), 0);
	collective_ends__free(&a);
	collective_ends__free(&b);
	return o;
}

static struct clock_offset between(const struct plan *p, size_t a_from, size_t b_from,
				   int64_t ahead_ns)
{
	return offset_of(rank_of(p, a_from, 0, 7), rank_of(p, b_from, ahead_ns, 8), 0);
}

static void expect_offset(struct clock_offset o, int64_t ns, size_t collectives)
{
	cr_expect_eq(o.result, OFFSET_KNOWN, "%d", o.result);
	cr_expect_lt(llabs(o.ns - ns), 70 * US, "%lld, not %lld", (long long)o.ns, (long long)ns);
	cr_expect_leq(llabs(o.ns - ns), (int64_t)o.error_ns);
	cr_expect_leq(o.error_ns, (uint64_t)(200 * US));
	cr_expect_eq(o.collectives, collectives);
}

Test(host_clocks, an_offset_is_found_whatever_its_length)
{
	static const int64_t offsets[] = {
		0, 35 * (int64_t)MS, -35 * (int64_t)MS, 7 * HOUR + 1234567, -9 * HOUR, 200 * US};

	for (size_t i = 0; i < ARRAY_SIZE(offsets); i++)
		expect_offset(between(&usual, 0, 0, offsets[i]), offsets[i], 60);
}

Test(host_clocks, windows_that_begin_some_steps_apart_are_laid_side_by_side)
{
	expect_offset(between(&usual, 0, 3, 35 * (int64_t)MS), 35 * (int64_t)MS, 54);
	expect_offset(between(&usual, 5, 0, -2 * HOUR), -2 * HOUR, 50);
	cr_expect_eq(between(&usual, 0, 26, 0).result, OFFSET_APART, "four are common");
}

Test(host_clocks, the_clocks_of_the_recordings_count)
{
	expect_offset(offset_of(rank_of(&usual, 0, 0, 7), rank_of(&usual, 0, 5 * HOUR, 8),
				-5 * HOUR + 35 * (int64_t)MS),
		      35 * (int64_t)MS, 60);
}

Test(host_clocks, few_steps_tell_nothing)
{
	struct plan few = usual;

	few.steps = OFFSET_STEPS - 1;
	cr_expect_eq(between(&few, 0, 0, 0).result, OFFSET_FEW_STEPS);
	few.steps = 0;
	cr_expect_eq(between(&few, 0, 0, 0).result, OFFSET_FEW_STEPS);
	few.steps = OFFSET_STEPS;
	expect_offset(between(&few, 0, 0, 35 * (int64_t)MS), 35 * (int64_t)MS, 10);
}

Test(host_clocks, collectives_that_ranks_leave_alone_do_not_count)
{
	static const char *const alone[] = {"gloo:broadcast",
					    "gloo:reduce",
					    "gloo:send",
					    "gloo:scatter",
					    "gloo:gather",
					    "ncclDevKernel_SendRecv",
					    "ncclDevKernel_Broadcast_RING_LL"};
	static const char *const together[] = {
		"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
		"ncclKernel_ReduceScatter_RING_LL_Sum_float", "nccl:_all_gather_base",
		"gloo:all_to_all", "gloo:barrier"};
	struct collective_ends e = {};

	for (size_t i = 0; i < ARRAY_SIZE(alone); i++)
		cr_assert_eq(collective_ends__add(&e, 0, alone[i], 1, 2), 0);
	cr_expect_eq(e.cnt, 0);
	for (size_t i = 0; i < ARRAY_SIZE(together); i++)
		cr_assert_eq(collective_ends__add(&e, 0, together[i], 1, 2), 0);
	cr_expect_eq(e.cnt, ARRAY_SIZE(together));
	collective_ends__free(&e);
}

Test(host_clocks, steps_that_are_alike_are_said_to_be)
{
	struct plan alike = usual;
	struct clock_offset o;

	alike.uneven_us = 0;
	o = between(&alike, 0, 0, 5 * (int64_t)MS);
	cr_expect_eq(o.result, OFFSET_OF_ALIKE_STEPS);
	cr_expect_lt(llabs(o.ns - 5 * (int64_t)MS), 70 * US);
	o = between(&alike, 0, 2, 35 * (int64_t)MS);
	cr_expect_eq(o.result, OFFSET_OF_ALIKE_STEPS);
	cr_expect_lt(llabs(o.ns - 5 * (int64_t)MS), 70 * US, "a step of 30 ms less");
	cr_expect_eq(between(&alike, 0, 0, HOUR).result, OFFSET_APART, "by any of 120,000 steps");
}

Test(host_clocks, ranks_of_two_jobs_have_no_offset)
{
	const struct plan noisy = {.steps = 30,
				   .uneven_us = 4000,
				   .noise_us = 28000,
				   .names = all_reduces,
				   .name_cnt = 1};

	cr_expect_eq(between(&noisy, 0, 0, 0).result, OFFSET_APART);
}

Test(host_clocks, a_collective_that_ends_before_the_other_rank_comes_is_another)
{
	struct collective_ends a = rank_of(&usual, 0, 0, 7), b = rank_of(&usual, 0, 0, 8);

	for (size_t i = 0; i < b.cnt; i++) { /* ends at 5 ms, begins at 3 ms, and the reverse */
		b.items[i].begin_ns += (i % 2 ? 3 : -3) * (int64_t)MS;
		b.items[i].end_ns += (i % 2 ? 3 : -3) * (int64_t)MS;
	}
	cr_expect_eq(offset_of(a, b, 0).result, OFFSET_APART);
}

Test(host_clocks, times_of_damaged_files_harm_nothing)
{
	static const int64_t clocks[] = {INT64_MIN, INT64_MAX, INT64_MIN / 2, INT64_MAX / 2};
	struct collective_ends e = {};

	for (size_t i = 0; i < ARRAY_SIZE(clocks); i++)
		offset_of(rank_of(&usual, 0, 0, 7), rank_of(&usual, 0, 0, 8), clocks[i]);
	cr_assert_eq(collective_ends__add(&e, 0, all_reduces[0], 2, 1), 0);
	cr_assert_eq(collective_ends__add(&e, 0, all_reduces[0], 2, UINT64_MAX), 0);
	cr_assert_eq(collective_ends__add(&e, 0, all_reduces[0], 2, UINT64_MAX / 2), 0);
	cr_expect_eq(e.cnt, 0);
	collective_ends__free(&e);
}

/* ---- reports ---- */

/* A rank with a collective of 4 ms, less late_ns, at the end of each step. */
struct host {
	int rank;
	const char *name;
	size_t steps;
	int64_t ahead_ns;  /* the wall clock */
	int64_t booted_ns; /* the monotonic clock: it was booted so much earlier */
	uint64_t late_ns;
	bool on_device; /* the collective is a kernel that runs behind its step */
};

static void put_collective(struct synth *s, const struct host *h, uint32_t stream, uint64_t i,
			   uint64_t at, uint64_t end)
{
	struct event e = synth__event(s, s->main, CAT_COMMUNICATION, "gloo:all_reduce",
				      end - 4 * MS + h->late_ns, end);

	if (h->on_device) {
		synth__launch(s, s->main, 1 + i, at, at + 1000);
		synth__kernel(s, stream, CAT_KERNEL, "ncclDevKernel_AllReduce_Sum_f32", 1 + i,
			      end + 2 * MS + h->late_ns, end + 6 * MS);
		return;
	}
	e.type = EVENT_ASYNC;
	synth__write(s, &e);
}

static struct synth recorded(const struct host *h)
{
	auto_free char *meta = NULL;
	uint64_t job = 1, at = 100 * MS + (uint64_t)h->booted_ns;
	uint32_t stream;
	struct synth s;

	cr_assert_gt(asprintf(&meta,
			      "{\"process\": {\"pid\": %d}, \"rank\": {\"rank\": %d},"
			      " \"host\": {\"name\": \"%s\"},"
			      " \"clock\": {\"monotonic_ns\": %lld, \"realtime_ns\": %lld}}",
			      100 + h->rank, h->rank, h->name, (long long)h->booted_ns,
			      1000000000000000000ll + (long long)h->ahead_ns),
		     0);
	s = synth__new(meta);
	stream = h->on_device ? synth__stream(&s, 0, 7) : 0;
	for (uint64_t i = 0; i < h->steps; i++) {
		const uint64_t end = at + 10 * MS + random_below(&job, MS);

		put_collective(&s, h, stream, i, at, end);
		synth__step(&s, i, at, end);
		at = end;
	}
	synth__open(&s, "{}");
	return s;
}

static char *report_of(const struct host *hosts, size_t cnt)
{
	const struct report_opts opts = {.style = {.unit = UNIT_MS, .width = 200}};
	const char *paths[4];
	struct synth ranks[4];
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (size_t i = 0; i < cnt; i++) {
		ranks[i] = recorded(&hosts[i]);
		paths[i] = ranks[i].path;
	}
	cr_assert_eq(job__print(paths, cnt, &opts, out), 0);
	fclose(out);
	for (size_t i = 0; i < cnt; i++)
		synth__free(&ranks[i]);
	return text;
}

static void expect_text(const char *text, const char *part)
{
	cr_expect_not_null(strstr(text, part), "%s\nnot in\n%s", part, text);
}

Test(host_clocks, a_report_corrects_clocks_and_says_so)
{
	const struct host hosts[] = {
		{0, "node-a", 12, 0, 0, 0, false},
		{1, "node-b", 12, 2 * HOUR, 7 * HOUR, 3 * MS, false},
		{2, "node-b", 12, 2 * HOUR, 7 * HOUR, 0, false},
		{3, "node-c", 12, -35 * (int64_t)MS, -5 * (int64_t)MS, 0, false}};
	auto_free char *text = report_of(hosts, 4);

	synth__expect_line(text, "straggler: 1");
	synth__expect_line(text, "others wait per step: 3.000 ms");
	expect_text(text, "The clock of node-b (rank 1) is 7200.000 s ahead of that of node-a "
			  "(rank 0), with an uncertainty of 0 ns, by the ends of 12 "
			  "collectives. This report corrects it.\n");
	expect_text(text, "The clock of node-c (rank 3) is 35.00 ms behind that of node-a (rank "
			  "0)");
	cr_expect_null(strstr(text, "rank 2)"), "a host has one clock: %s", text);
	cr_expect_null(strstr(text, "do not overlap"), "%s", text);
}

Test(host_clocks, a_clock_of_unknown_offset_is_used_as_it_is)
{
	const struct host hosts[] = {{0, "node-a", 4, 0, 0, 0, false},
				     {1, "node-b", 4, 2 * HOUR, 7 * HOUR, 3 * MS, false}};
	auto_free char *text = report_of(hosts, 2);

	expect_text(text, "The clock of node-b (rank 1) is used as it is: the ranks have too few "
			  "steps with collectives in common.");
	expect_text(text, "The windows of the ranks do not overlap");
}

Test(host_clocks, ranks_of_one_host_have_one_clock)
{
	const struct host hosts[] = {{0, "node-a", 12, 0, 0, 0, false},
				     {1, "node-a", 12, 0, 0, 3 * MS, false}};
	auto_free char *text = report_of(hosts, 2);

	synth__expect_line(text, "straggler: 1");
	cr_expect_null(strstr(text, "The clock of"), "%s", text);
}

Test(host_clocks, hosts_of_one_name_are_told_apart_by_their_clocks)
{
	const struct host hosts[] = {
		{0, "localhost", 12, 0, 0, 0, false},
		{1, "localhost", 12, 35 * (int64_t)MS, 7 * HOUR, 3 * MS, false}};
	auto_free char *text = report_of(hosts, 2);

	expect_text(text, "The clock of localhost (rank 1) is 35.00 ms ahead");
}

Test(host_clocks, kernels_of_devices_that_are_behind_are_compared)
{
	const struct host hosts[] = {{0, "node-a", 12, 0, 0, 0, true},
				     {1, "node-b", 12, 2 * HOUR, 7 * HOUR, 3 * MS, true}};
	auto_free char *text = report_of(hosts, 2);

	expect_text(text,
		    "The clock of node-b (rank 1) is 7200.000 s ahead of that of node-a (rank "
		    "0), with an uncertainty of 0 ns, by the ends of 12 collectives.");
	expect_text(text, "The devices are behind their hosts.");
	cr_expect_null(strstr(text, "The straggler is found by their mean times"), "%s", text);
	synth__expect_line(text, "straggler: 1");
	synth__expect_line(text, "others wait per step: 3.000 ms");
}
