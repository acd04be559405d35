// SPDX-License-Identifier: BSD-2-Clause
/* Tests how scheduler time is divided when intervals cross steps, windows and reads. The times are
 * tiny. */
#include "capture/sched/sched_sums.h"
#include "capture/sched/wait_reason.h"
#include "recording/event.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>
#include <sys/syscall.h>

static struct sched_sums sums;

static void finish(void)
{
	sched_sums__free(&sums);
}

TestSuite(sched_sums, .fini = finish);

static struct pt_sched_span span(uint64_t begin, uint64_t end)
{
	return (struct pt_sched_span){.begin_ns = begin,
				      .end_ns = end,
				      .cpu_ns = end - begin,
				      .tid = 7,
				      .tgid = 7,
				      .state = PT_SCHED_RUN,
				      .comm = "main"};
}

/* Steps 0, 1, 2 begin at 100, 200, 300. No step begins at 400. */
static void steps(void)
{
	for (uint64_t i = 0; i < 3; i++)
		cr_assert(zero(int, sched_sums__boundary(&sums, 100 * (i + 1), i)));
	cr_assert(zero(int, sched_sums__boundary(&sums, 400, EVENT_NO_ID)));
}

static void expect_row(size_t i, uint64_t step, uint64_t ns, uint64_t cnt)
{
	cr_expect(eq(u64, sums.rows[i].step, step), "row %zu", i);
	cr_expect(eq(u64, sums.rows[i].ns, ns), "row %zu", i);
	cr_expect(eq(u64, sums.rows[i].cnt, cnt), "row %zu", i);
}

Test(sched_sums, an_interval_is_cut_at_each_boundary_and_counts_where_it_begins)
{
	struct pt_sched_span s = span(150, 350);
	size_t cnt;

	steps();
	cr_assert(zero(int, sched_sums__span(&sums, &s)));
	cr_assert(zero(int, sched_sums__window(&sums, 100, 400, &cnt)));
	cr_assert(eq(sz, cnt, 3));
	expect_row(0, 0, 50, 1);
	expect_row(1, 1, 100, 0);
	expect_row(2, 2, 50, 0);
	cr_expect(eq(str, sums.rows[0].comm, "main"));
}

Test(sched_sums, an_interval_is_cut_at_the_window)
{
	struct pt_sched_span s = span(50, 950);
	size_t cnt;

	steps();
	cr_assert(zero(int, sched_sums__span(&sums, &s)));
	cr_assert(zero(int, sched_sums__window(&sums, 200, 300, &cnt)));
	cr_assert(eq(sz, cnt, 1));
	expect_row(0, 1, 100, 1);
	/* The rest belongs to a later window. */
	sched_sums__forget(&sums, 300, cnt);
	cr_assert(zero(int, sched_sums__window(&sums, 300, 400, &cnt)));
	cr_assert(eq(sz, cnt, 1));
	expect_row(0, 2, 100, 1);
	sched_sums__forget(&sums, 1000, cnt);
	cr_expect(eq(sz, sums.span_cnt, 0));
	cr_expect(eq(sz, sums.boundary_cnt, 1));
}

Test(sched_sums, what_was_cut_is_not_counted_again)
{
	struct pt_sched_span open = span(150, 250), ended = span(150, 290), other = span(160, 290);
	size_t cnt;

	steps();
	cr_assert(zero(int, sched_sums__cut(&sums, &open, 1, 200)));
	cr_assert(zero(int, sched_sums__span(&sums, &ended)));
	cr_assert(zero(int, sched_sums__window(&sums, 200, 250, &cnt)));
	cr_assert(eq(sz, cnt, 1));
	expect_row(0, 1, 50, 1);
	sched_sums__forget(&sums, 250, cnt);
	cr_assert(zero(int, sched_sums__window(&sums, 250, 300, &cnt)));
	expect_row(0, 1, 40, 1);
	cr_expect(eq(u64, sums.rows[0].cpu_ns, 40));
	sched_sums__forget(&sums, 300, cnt);
	/* Another interval of that thread was not cut. */
	cr_assert(zero(int, sched_sums__span(&sums, &other)));
	cr_expect(eq(u64, sums.spans[0].begin_ns, 160));
}

Test(sched_sums, kernel_sums_join_with_intervals_of_the_same_step)
{
	struct pt_sched_record record = {
		.tid = 7,
		.tgid = 7,
		.step = {.step_ns = 200, .run_ns = 30, .cpu_ns = 20, .run_cnt = 3}};
	struct pt_sched_span s = span(290, 310);
	size_t cnt;

	steps();
	cr_assert(zero(int, sched_sums__record(&sums, &record)));
	record.step.step_ns = 400; /* of the next window */
	cr_assert(zero(int, sched_sums__record(&sums, &record)));
	record.step.step_ns = 40; /* a boundary seen while the rule was being learned: no step */
	cr_assert(zero(int, sched_sums__record(&sums, &record)));
	cr_assert(zero(int, sched_sums__span(&sums, &s)));
	cr_assert(zero(int, sched_sums__window(&sums, 0, 400, &cnt)));
	cr_assert(eq(sz, cnt, 3));
	expect_row(0, EVENT_NO_ID, 30, 3);
	expect_row(1, 1, 40, 4);
	cr_expect(eq(u64, sums.rows[1].cpu_ns, 30));
	expect_row(2, 2, 10, 0);
	sched_sums__forget(&sums, 400, cnt);
	cr_expect(eq(sz, sums.row_cnt, 1));
	cr_expect(eq(u64, sums.rows[0].step_ns, 400));
}

Test(sched_sums, a_record_holds_what_a_thread_did_and_waited_for)
{
	const uint32_t slept = PT_WAIT_SLEEP << 16 | SYS_futex;
	struct pt_sched_record record = {
		.tid = 7,
		.tgid = 7,
		.comm = "main",
		.step = {.step_ns = 200,
			 .parts = {{.ns = 5,
				    .what = PT_SCHED_RUNNABLE << PT_SCHED_STATE_SHIFT,
				    .cnt = 2},
				   {.ns = 60,
				    .what = PT_SCHED_BLOCKED << PT_SCHED_STATE_SHIFT | slept,
				    .cnt = 1}}}};
	size_t cnt;

	steps();
	cr_assert(zero(int, sched_sums__record(&sums, &record)));
	/* The same step again, because the table of its parts was full once. */
	cr_assert(zero(int, sched_sums__record(&sums, &record)));
	cr_assert(zero(int, sched_sums__window(&sums, 100, 400, &cnt)));
	cr_assert(eq(sz, cnt, 2));
	expect_row(0, 1, 10, 4);
	cr_expect(eq(u32, sums.rows[0].state, PT_SCHED_RUNNABLE));
	expect_row(1, 1, 120, 2);
	cr_expect(eq(u32, sums.rows[1].state, PT_SCHED_BLOCKED));
	cr_expect(eq(u32, sums.rows[1].reason, slept));
	cr_expect(eq(str, sums.rows[1].comm, "main"));
}

Test(sched_sums, a_cpu_is_busy_and_idle_by_the_window)
{
	const struct pt_sched_cpu_sum sum = {.window_ns = 100, .busy_ns = 70, .idle_ns = 30};
	size_t cnt;

	steps();
	cr_assert(zero(int, sched_sums__cpu(&sums, 3, &sum)));
	cr_assert(zero(int, sched_sums__window(&sums, 100, 400, &cnt)));
	cr_assert(eq(sz, cnt, 2));
	cr_expect(eq(u32, sums.rows[0].tid, 3));
	cr_expect(eq(u32, sums.rows[0].tgid, PT_SCHED_CPU));
	cr_expect(eq(u32, sums.rows[0].state, PT_SCHED_RUN));
	cr_expect(eq(u64, sums.rows[0].ns, 70));
	cr_expect(eq(u64, sums.rows[1].ns, 30));
}

Test(sched_sums, stolen_time_is_spread_over_the_interval)
{
	struct pt_sched_span s = span(100, 300);
	size_t cnt;

	s.cpu_ns = 100;
	steps();
	cr_assert(zero(int, sched_sums__span(&sums, &s)));
	cr_assert(zero(int, sched_sums__window(&sums, 100, 300, &cnt)));
	cr_assert(eq(sz, cnt, 2));
	cr_expect(eq(u64, sums.rows[0].cpu_ns, 50));
	cr_expect(eq(u64, sums.rows[1].cpu_ns, 50));
}

static const char *text(uint32_t wait, uint32_t call)
{
	static char buf[WAIT_REASON_MAX];
	const char *t = wait_reason__text(wait << 16 | call, buf);

	return t ? t : "nothing";
}

Test(wait_reason, says_what_a_thread_waits_for)
{
	cr_expect(eq(str, (char *)text(PT_WAIT_SLEEP, SYS_futex), "futex"));
	cr_expect(eq(str, (char *)text(PT_WAIT_SLEEP, SYS_read), "read"));
	cr_expect(eq(str, (char *)text(PT_WAIT_DISK, SYS_read), "read (disk)"));
	cr_expect(eq(str, (char *)text(PT_WAIT_DISK, PT_CALL_NONE), "page fault"));
	cr_expect(eq(str, (char *)text(PT_WAIT_DISK, PT_CALL_KTHREAD), "kernel thread (disk)"));
	cr_expect(eq(str, (char *)text(PT_WAIT_SLEEP, 9999), "syscall 9999"));
	cr_expect(eq(str, (char *)text(PT_WAIT_DISK, 9999), "syscall 9999 (disk)"));
	cr_expect(eq(str, (char *)text(PT_WAIT_PREEMPTED, 0), "preempted"));
	cr_expect(eq(str, (char *)text(PT_WAIT_PREEMPTED, SYS_sched_yield), "sched_yield"));
	cr_expect(eq(str, (char *)text(PT_WAIT_STOPPED, SYS_read), "stopped"));
	cr_expect(eq(str, (char *)text(PT_WAIT_NONE, 0), "nothing"));
}
