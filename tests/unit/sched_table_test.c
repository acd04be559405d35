// SPDX-License-Identifier: BSD-2-Clause
/* The tables that the scheduler's programs keep, in memory of ours. */
#include "capture/sched/sched_source.h"
#include "capture/sched/sched_table.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#define SETS 64

static struct sched_table table;
static size_t given;

static void start(void)
{
	table.sets = calloc(SETS, sizeof(*table.sets));
	table.threads = calloc(SETS * PT_SCHED_WAYS, sizeof(*table.threads));
	table.cpus = calloc(1, sizeof(*table.cpus));
	table.set_cnt = SETS;
	table.cpu_cnt = 1;
}

static void finish(void)
{
	free(table.sets);
	free(table.threads);
	free(table.cpus);
}

TestSuite(sched_table, .init = start, .fini = finish);

/* Puts the thread into its `way`-th possible place. */
static struct pt_sched_thread *place(uint32_t tid, size_t way, uint32_t owner)
{
	const size_t set = tid % SETS;

	table.sets[set].tids[way] = owner;
	return &table.threads[set * PT_SCHED_WAYS + way];
}

static int expect_7(void *ctx, const struct pt_sched_record *record)
{
	cr_expect(eq(u32, record->tid, 7));
	cr_expect(eq(u32, record->tgid, 6));
	cr_expect(eq(u64, record->step.run_ns, 30));
	cr_expect(eq(str, (char *)record->comm, "worker"));
	given++;
	return 0;
}

static int count_open(void *ctx, uint32_t tid, const struct pt_sched_open *open)
{
	cr_expect(eq(u32, tid, 7));
	cr_expect(eq(u64, open->since_ns, 100));
	given++;
	return 0;
}

Test(sched_table, the_sums_of_a_generation_are_given_once_and_the_others_stay)
{
	struct pt_sched_thread *t = place(7, 2, 7);

	t->open.tgid = 6;
	strcpy(t->comm, "worker");
	t->steps[0].run_ns = 30;
	t->steps[1].run_ns = 50;
	cr_assert(zero(int, sched_table__take(&table, 0, expect_7, NULL)));
	cr_assert(zero(int, sched_table__take(&table, 0, expect_7, NULL)));
	cr_expect(eq(sz, given, 1));
	cr_expect(eq(u64, t->steps[1].run_ns, 50));
}

Test(sched_table, a_thread_that_ended_has_its_place_until_its_sums_are_taken)
{
	struct pt_sched_thread *t = place(7, 0, 7 | PT_SCHED_GONE);

	t->open.tgid = 6;
	strcpy(t->comm, "worker");
	t->steps[1].run_ns = 30;
	cr_assert(zero(int, sched_table__open(&table, count_open, NULL)));
	cr_expect(zero(sz, given));
	cr_assert(zero(int, sched_table__take(&table, 1, expect_7, NULL)));
	cr_expect(eq(sz, given, 1));
	cr_expect(zero(u32, table.sets[7].tids[0]));
}

Test(sched_table, of_two_places_of_a_thread_the_first_counts_and_one_being_filled_does_not)
{
	place(7, 1, 7)->open = (struct pt_sched_open){.since_ns = 100, .state = PT_SCHED_RUN};
	place(7, 3, 7)->open = (struct pt_sched_open){.since_ns = 90, .state = PT_SCHED_BLOCKED};
	place(8, 0, 8);
	cr_assert(zero(int, sched_table__open(&table, count_open, NULL)));
	cr_expect(eq(sz, given, 1));
}

Test(sched_table, nothing_is_left_of_an_earlier_use)
{
	struct pt_sched_thread *t = place(7, 1, 7);

	t->open.state = PT_SCHED_RUN;
	t->steps[1].run_ns = 30;
	table.cpus[0].since_busy = 5;
	sched_table__clear(&table);
	cr_expect(zero(u32, table.sets[7].tids[1]));
	cr_expect(zero(u32, t->open.state));
	cr_expect(zero(u64, t->steps[1].run_ns));
	cr_expect(zero(u64, table.cpus[0].since_busy));
}

Test(sched_table, there_is_room_for_eight_times_the_threads_within_bounds)
{
	cr_expect(eq(u32, sched_source__places(0), PT_SCHED_MIN_THREADS));
	cr_expect(eq(u32, sched_source__places(256), 4096));
	cr_expect(eq(u32, sched_source__places(257), 8192));
	cr_expect(eq(u32, sched_source__places(1000), 16384));
	cr_expect(eq(u32, sched_source__places(1000000), PT_SCHED_MAX_THREADS));
}
