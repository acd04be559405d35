// SPDX-License-Identifier: BSD-2-Clause
/* Findings about the training thread: without a processor, blocked, at page faults. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include "finding_job.h"

TestSuite(findings_host);

Test(findings_host, a_training_thread_without_a_processor)
{
	struct job j = job__new();

	for (uint64_t i = 0; i < STEPS; i++) {
		job__sched(&j, j.s.main, i, SCHED_RUN, 60);
		job__sched(&j, j.s.main, i, SCHED_RUNNABLE, 30);
	}
	job__plain_steps(&j, &healthy);
	job__expect(&j, "cpu_wait", "processors were 99 % busy");
}

/* Without probes the thread would have run for less time, and the step would be shorter. */
Test(findings_host, what_probes_took_is_no_running_time_of_the_step)
{
	struct job j = job__with("{\"process\": {\"pid\": 100}, \"probe_cost\": "
				 "{\"span_inside_ns\": 50000, \"span_total_ns\": 90000}}");

	for (uint64_t i = 0; i < STEPS; i++) {
		job__sched(&j, j.s.main, i, SCHED_RUN, 60);
		job__sched(&j, j.s.main, i, SCHED_RUNNABLE, 30);
	}
	job__plain_steps(&j, &healthy);
	job__expect(&j, "cpu_wait", "it ran 59.80 ms of a step and stood ready for 30.00 ms");
}

/* In each step the thread is ready without a processor for so long. Other rules subtract that
 * time. */
static struct job ready_job(const struct step_plan *plan, uint64_t ready_ms)
{
	struct job j = job__torch();

	for (uint64_t i = 0; i < STEPS; i++) {
		job__sched(&j, j.s.main, i, SCHED_RUN, step_plan__ms(plan) - ready_ms);
		job__sched(&j, j.s.main, i, SCHED_RUNNABLE, ready_ms);
	}
	job__plain_steps(&j, plan);
	return j;
}

Test(findings_host, a_loader_is_not_what_a_thread_without_a_processor_waits_for)
{
	static const struct step_plan plan = {30, 30, 30, 10, 0};
	struct job all = ready_job(&plan, 28), some = ready_job(&plan, 10);

	job__expect(&all, "cpu_wait", "stood ready for 28.00 ms");
	job__expect_two(
		&some, "data_loader", "cpu_wait",
		"the loader takes 20.00 ms of a step of 100.0 ms, without waits for a processor");
}

Test(findings_host, time_outside_the_phases_is_not_what_a_thread_without_a_processor_had)
{
	static const struct step_plan plan = {2, 20, 25, 8, 100};
	struct job all = ready_job(&plan, 40), some = ready_job(&plan, 10);

	job__expect(&all, "cpu_wait", "stood ready for 40.00 ms");
	job__expect_two(&some, "outside_phases", "cpu_wait",
			"35.00 ms of a step of 100.0 ms, without waits for a processor");
}

Test(findings_host, a_short_window_is_told)
{
	static const struct {
		uint64_t steps, ms;
		bool is_short;
	} cases[] = {{7, 100, true}, {8, 100, false}, {20, 4, true}, {20, 5, false}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		static const struct report_opts opts = {.style = {.format = TABLE_JSON}};
		struct job j = job__new();
		char *printed;

		for (uint64_t k = 0; k < cases[i].steps; k++)
			synth__step(&j.s, k, k * cases[i].ms * MS, (k + 1) * cases[i].ms * MS);
		synth__open(&j.s, "{}");
		printed = synth__tables(&j.s, "findings", &opts);
		cr_expect_eq(!!strstr(printed, "The window is short"), cases[i].is_short, "%zu: %s",
			     i, printed);
		free(printed);
		synth__free(&j.s);
	}
}

/* ---- the training thread off the processor ---- */

/* 50 of the 95 ms of each step in futex; another thread runs for 80 of them. */
static void locked_steps(struct job *j)
{
	for (uint64_t i = 0; i < STEPS; i++) {
		job__sched(j, j->s.main, i, SCHED_RUN, 43);
		job__sched_for(j, j->s.main, i, SCHED_BLOCKED, "futex", 50);
		job__sched_for(j, j->s.main, i, SCHED_BLOCKED, "read", 2);
		job__sched(j, j->s.other, i, SCHED_RUN, 80);
	}
	job__plain_steps(j, &healthy);
}

Test(findings_host, a_lock_that_another_thread_holds)
{
	struct job j = job__torch();

	locked_steps(&j);
	/* 52.6 % of 95 ms, of which the 2 ms of the loader may be a part */
	job__expect(
		&j, "off_cpu",
		"48.00 ms to 50.00 ms of a step, besides the data loader, calls of the device, "
		"collectives and "
		"what other threads run for it; the thread other (101), which was not seen to run "
		"an operator, ran for 80.00 ms of a step");
}

Test(findings_host, a_lock_whose_holder_waits_itself)
{
	struct job j = job__torch();

	for (uint64_t i = 0; i < STEPS; i++)
		job__sched_for(&j, j.s.main, i, SCHED_BLOCKED, "futex", 50);
	job__plain_steps(&j, &healthy);
	job__expect(&j, "off_cpu", "no thread ran so long meanwhile");
}

Test(findings_host, a_lock_where_operators_run_on_other_threads_is_their_result)
{
	struct job j = job__with("{\"process\": {\"pid\": 100}, \"detail\": \"operator\", "
				 "\"runtime\": {\"runs_in_caller\": false}}");

	locked_steps(&j);
	job__expect(&j, NULL, NULL);
}

/* As with devices, the nodes run on their own thread. */
Test(findings_host, waiting_for_the_backward_pass_of_another_thread)
{
	struct job j = job__torch();
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t end = job__begin_step(&j, at, &healthy);

		job__sched(&j, j.s.main, i, SCHED_RUN, 50);
		job__sched_for(&j, j.s.main, i, SCHED_BLOCKED, "futex", 45);
		job__sched(&j, j.s.other, i, SCHED_RUN, 45);
		synth__span(&j.s, j.s.other, CAT_BACKWARD_NODE, "node", at + 43 * MS, at + 45 * MS);
		synth__step(&j.s, i, at, end);
		at = end;
	}
	job__expect(&j, NULL, NULL);
}

Test(findings_host, waiting_for_the_loader_and_the_device_is_their_rules)
{
	static const struct step_plan plan = {7, 40, 45, 8, 0};
	struct job j = job__torch();
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t end = at + step_plan__ms(&plan) * MS;

		job__busy_device(&j, at, end);
		synth__span(&j.s, j.s.main, CAT_RUNTIME, "cudaStreamSynchronize", end - 7 * MS,
			    end - MS);
		job__begin_step(&j, at, &plan);
		job__sched(&j, j.s.main, i, SCHED_RUN, 70);
		job__sched_for(&j, j.s.main, i, SCHED_BLOCKED, "futex", 27);
		synth__step(&j.s, i, at, end);
		at = end;
	}
	/* 27 ms, of which 7 in the loader and 6 for the device: 14 % of the step are left. */
	job__expect(&j, NULL, NULL);
}

Test(findings_host, a_step_that_waits_for_the_disk)
{
	struct job j = job__new(); /* for any framework */

	for (uint64_t i = 0; i < STEPS; i++) {
		job__sched(&j, j.s.main, i, SCHED_RUN, 60);
		job__sched_for(&j, j.s.main, i, SCHED_BLOCKED, "fsync (disk)", 30);
	}
	job__plain_steps(&j, &healthy);
	job__expect(&j, "off_cpu",
		    "The training thread is blocked in fsync (disk) for 29 % of the step.");
}

Test(findings_host, a_step_that_sleeps)
{
	struct job j = job__new();

	for (uint64_t i = 0; i < STEPS; i++)
		job__sched_for(&j, j.s.main, i, SCHED_BLOCKED, "clock_nanosleep", 30);
	job__plain_steps(&j, &healthy);
	job__expect(&j, "off_cpu", "The training thread sleeps for 29 % of the step.");
}

/* The loader's time in one step must not hide another step's waits. */
Test(findings_host, a_sleep_in_steps_that_do_not_load)
{
	static const struct step_plan loads = {40, 40, 45, 8, 0};
	struct job j = job__new();

	for (uint64_t i = 0; i < STEPS; i++)
		job__sched_for(&j, j.s.main, i, SCHED_BLOCKED, "clock_nanosleep", i == 4 ? 0 : 20);
	job__steps_but(&j, &healthy, 4, &loads);
	/* 180 of 988 ms, in nine steps with 2 ms of the loader each */
	job__expect(&j, "off_cpu", "16.20 ms to 18.00 ms of a step, besides");
}

Test(findings_host, a_wait_that_makes_one_step_slow_is_told_once)
{
	static const struct step_plan slow = {2, 290, 45, 8, 0};
	struct job j = job__new();

	for (uint64_t i = 0; i < STEPS; i++)
		job__sched_for(&j, j.s.main, i, SCHED_BLOCKED, "fsync (disk)", i == 4 ? 250 : 0);
	job__steps_but(&j, &healthy, 4, &slow);
	job__expect(&j, "slow_steps", "the thread is blocked for 100 % of it in fsync (disk)");
}

static const struct step_plan with_a_pause = {2, 40, 45, 8, 135};

Test(findings_host, a_wait_between_the_phases_is_told_once)
{
	struct job j = job__new();

	for (uint64_t i = 0; i < STEPS; i++) {
		job__sched_for(&j, j.s.main, i, SCHED_BLOCKED, "clock_nanosleep", 30);
		job__sched_for(&j, j.s.main, i, SCHED_BLOCKED, "read", 2);
	}
	job__plain_steps(&j, &with_a_pause);
	job__expect(&j, "off_cpu", "The training thread sleeps for 21 % of the step.");
}

Test(findings_host, time_between_the_phases_that_no_rule_explains_is_told)
{
	struct job j = job__new(); /* its locks may be those of its operators */

	for (uint64_t i = 0; i < STEPS; i++)
		job__sched_for(&j, j.s.main, i, SCHED_BLOCKED, "futex", 38);
	job__plain_steps(&j, &with_a_pause);
	job__expect(&j, "outside_phases", "30 % of the step");
}

/* Operators that another thread runs for 38 of the 40 ms between the phases of each step. */
static void queued_steps(struct job *j)
{
	for (uint64_t i = 0; i < STEPS; i++) {
		const uint64_t at = i * with_a_pause.total * MS;

		synth__span(&j->s, j->s.other, CAT_OPERATOR, "Convolution", at + 96 * MS,
			    at + 134 * MS);
	}
	job__plain_steps(j, &with_a_pause);
}

Test(findings_host, waiting_for_operators_that_were_queued_is_no_gap)
{
	struct job j = job__new();

	for (uint64_t i = 0; i < STEPS; i++)
		job__sched_for(&j, j.s.main, i, SCHED_BLOCKED, "futex", 38);
	queued_steps(&j);
	job__expect(&j, NULL, NULL);
}

/* Whose engine's operators are not in the recording, but the call that waits for them is. */
Test(findings_host, a_call_that_waits_for_operators_is_no_gap)
{
	struct job j = job__new();

	for (uint64_t i = 0; i < STEPS; i++) {
		const uint64_t at = i * with_a_pause.total * MS;

		synth__span(&j.s, j.s.main, CAT_NONE, "MXNDArraySyncCopyToCPU", at + 96 * MS,
			    at + 134 * MS);
	}
	job__plain_steps(&j, &with_a_pause);
	job__expect(&j, NULL, NULL);
}

Test(findings_host, the_wait_for_queued_operators_is_told_below_the_phases)
{
	static const struct report_opts opts = {};
	struct job j = job__new();
	char *text;

	synth__span(&j.s, j.s.main, CAT_OPERATOR, "slice_axis", 95 * MS, 96 * MS);
	queued_steps(&j);
	synth__open(&j.s, "{}");
	text = synth__tables(&j.s, "model", &opts);
	cr_expect_not_null(strstr(text, "Others is mostly the wait for operators"), "%s", text);
	free(text);
	synth__free(&j.s);
}

Test(findings_host, a_gap_in_which_the_thread_itself_runs_is_told_though_others_work)
{
	struct job j = job__new();

	for (uint64_t i = 0; i < STEPS; i++)
		job__sched(&j, j.s.main, i, SCHED_RUN, 135);
	queued_steps(&j);
	job__expect(&j, "outside_phases", "30 % of the step");
}

/* ---- of a server: steps of 100 ms without any phase ---- */

/* Step `odd` takes 300 ms. The additional time is in the same wait. */
static void served_steps(struct job *j, uint64_t odd, const char *waits_in)
{
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		const uint64_t ms = i == odd ? 300 : 100;

		synth__span(&j->s, j->s.main, CAT_OPERATOR, "aten::linear", at, at + 40 * MS);
		job__sched_for(j, j->s.main, i, SCHED_BLOCKED, waits_in, ms - 60);
		synth__step(&j->s, i, at, at + ms * MS);
		at += ms * MS;
	}
}

Test(findings_host, a_server_that_waits_for_requests_has_nothing_to_mend)
{
	static const char *const waits[] = {"epoll_wait", "futex", "read"};

	for (size_t i = 0; i < 3; i++) {
		struct job j = job__torch();

		served_steps(&j, STEPS, waits[i]);
		job__expect(&j, NULL, NULL);
	}
}

Test(findings_host, a_late_request_makes_no_slow_step)
{
	struct job j = job__torch();

	served_steps(&j, 4, "epoll_wait");
	job__expect(&j, NULL, NULL);
}

Test(findings_host, a_server_whose_lock_another_thread_holds)
{
	struct job j = job__torch();

	for (uint64_t i = 0; i < STEPS; i++)
		job__sched(&j, j.s.other, i, SCHED_RUN, 80);
	served_steps(&j, STEPS, "futex");
	job__expect(&j, "off_cpu", "The thread of the steps waits on a lock (futex)");
}

/* The event loop reads requests for half of the time that a worker waits for one. */
Test(findings_host, a_server_whose_worker_waits_for_the_event_loop)
{
	struct job j = job__torch();

	for (uint64_t i = 0; i < STEPS; i++)
		job__sched(&j, j.s.other, i, SCHED_RUN, 30);
	served_steps(&j, STEPS, "futex");
	job__expect(&j, NULL, NULL);
}

Test(findings_host, a_server_that_writes_to_disk)
{
	struct job j = job__torch();

	served_steps(&j, STEPS, "fsync (disk)");
	job__expect(&j, "off_cpu", "The thread of the steps is blocked in fsync (disk) for 40 %");
}

/* ---- page faults ---- */

static void entry(struct job *j, uint64_t step, uint8_t state, const char *what, uint64_t cnt,
		  uint64_t ms)
{
	const struct sched_row row = {.track = j->s.main,
				      .step = step,
				      .state = state,
				      .reason =
					      recording_writer__name(j->s.w, CAT_NONE, what, NULL),
				      .ns = ms * MS,
				      .cnt = cnt};

	cr_assert_eq(recording_writer__entry(j->s.w, &row), 0);
}

static void faulting_steps(struct job *j, const char *what, uint64_t cnt, uint64_t ms)
{
	for (uint64_t i = 0; i < STEPS; i++) {
		entry(j, i, ENTRY_FAULT, what, cnt, ms);
		entry(j, i, ENTRY_SYSCALL, "munmap", 3, 1);
		entry(j, i, ENTRY_SYSCALL, "futex", 3, 80);
	}
	job__plain_steps(j, &healthy);
}

Test(findings_host, a_step_that_takes_its_memory_anew)
{
	struct job j = job__new();

	faulting_steps(&j, FAULT_ANONYMOUS, 4000, 19);
	job__expect(&j, "page_faults",
		    "4000 of a step, 19.00 ms, by memory without a file, and 3.0 calls");
}

Test(findings_host, a_step_that_reads_mapped_files)
{
	struct job j = job__new();

	faulting_steps(&j, FAULT_DISK, 70, 9);
	job__expect(&j, "page_faults", "it reads files that are mapped into memory");
}

Test(findings_host, few_or_short_faults_are_none)
{
	struct job few = job__new(), quick = job__new();

	faulting_steps(&few, FAULT_ANONYMOUS, 7, 19);
	job__expect(&few, NULL, NULL);
	faulting_steps(&quick, FAULT_ANONYMOUS, 4000, 4);
	job__expect(&quick, NULL, NULL);
}

/* As counted by the kernel. The ten steps take 950 ms. */
Test(findings_host, faults_that_were_only_counted)
{
	struct job many = job__new(), few = job__new();

	job__plain_steps(&many, &healthy);
	job__expect_of(
		&many,
		"{\"faults\": {\"minor\": 100000, \"major\": 0, \"over_ns\": 950000000, "
		"\"fault_ns\": 2000}}",
		"page_faults",
		"10000 per step (the kernel's count); at 2.0 us each, as one of proftrace's own, "
		"20.00 ms");
	job__plain_steps(&few, &healthy);
	job__expect_of(&few,
		       "{\"faults\": {\"minor\": 20000, \"major\": 0, \"over_ns\": 950000000, "
		       "\"fault_ns\": 2000}}",
		       NULL, NULL);
}
