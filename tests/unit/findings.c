// SPDX-License-Identifier: BSD-2-Clause
/* Findings on jobs with exactly one illness, of the loader or in general, and no finding on a
 * healthy job. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include "common/util.h"
#include "finding_job.h"

TestSuite(findings);

Test(findings, a_healthy_job_has_none)
{
	struct job j = job__new();

	job__plain_steps(&j, &healthy);
	job__expect(&j, NULL, NULL);
}

Test(findings, a_healthy_device_job_has_none)
{
	struct job j = job__new();
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t end = at + step_plan__ms(&healthy) * MS;

		job__busy_device(&j, at, end);
		job__begin_step(&j, at, &healthy);
		job__sched(&j, j.s.main, i, SCHED_RUN, 80);
		job__sched(&j, j.s.main, i, SCHED_RUNNABLE, 2);
		synth__step(&j.s, i, at, end);
		at = end;
	}
	job__expect(&j, NULL, NULL);
}

Test(findings, a_loader_without_workers)
{
	static const struct step_plan plan = {30, 30, 30, 10, 0};
	struct job j = job__new();

	job__plain_steps(&j, &plan);
	job__expect(&j, "data_loader", "num_workers");
}

Test(findings, a_loader_that_waits_for_queued_operators)
{
	static const struct step_plan plan = {30, 30, 30, 10, 0};
	struct job j = job__new();

	for (uint64_t i = 0; i < STEPS; i++)
		synth__span(&j.s, j.s.main, CAT_NONE, "MXNDArraySyncCopyFromCPU",
			    (i * 100 + 2) * MS, (i * 100 + 28) * MS);
	job__plain_steps(&j, &plan);
	job__expect(&j, "data_loader", "26.00 ms of that in calls that wait for queued operators");
}

Test(findings, a_loader_that_is_a_pipeline)
{
	static const struct step_plan slow = {50, 40, 45, 8, 0};
	struct job j = job__new();

	for (uint64_t i = 0; i < STEPS; i++) {
		synth__span(&j.s, j.s.other, CAT_PIPELINE, "MapOp", i * 143 * MS,
			    (i * 143 + 60) * MS);
		synth__span(&j.s, j.s.other, CAT_PIPELINE, "BatchOp", (i * 143 + 60) * MS,
			    (i * 143 + 70) * MS);
	}
	job__plain_steps(&j, &slow);
	job__expect(&j, "data_loader",
		    "of its pipeline MapOp has most time of its own, 60.00 ms of a step");
}

Test(findings, a_loader_whose_workers_are_busy)
{
	static const struct step_plan plan = {30, 30, 30, 10, 0};
	struct job j = job__new();
	uint32_t worker = synth__thread(&j.s, 200, 200, "worker");

	for (uint64_t i = 0; i < STEPS; i++)
		job__sched(&j, worker, i, SCHED_RUN, 99);
	job__plain_steps(&j, &plan);
	job__expect(&j, "data_loader", "the workers are the bottleneck");
}

Test(findings, another_process_that_trains_is_no_worker_of_the_loader)
{
	static const struct step_plan plan = {30, 30, 30, 10, 0};
	struct job j = job__new();
	uint32_t rank = synth__thread(&j.s, 200, 200, "python");

	for (uint64_t i = 0; i < STEPS; i++) {
		job__sched(&j, rank, i, SCHED_RUN, 99);
		synth__span(&j.s, rank, CAT_BACKWARD, "backward", (i * 100 + 40) * MS,
			    (i * 100 + 60) * MS);
	}
	job__plain_steps(&j, &plan);
	job__expect(&j, "data_loader", "no worker process was seen");
}

static void add_processes(struct job *j, size_t cnt)
{
	for (uint32_t p = 0; p < cnt; p++) {
		const uint32_t id = synth__thread(&j->s, 200 + p, 200 + p, "python");

		for (uint64_t i = 0; i < STEPS; i++) {
			job__sched(j, id, i, SCHED_RUN, 99);
			job__sched(j, id, i, SCHED_BLOCKED, 1);
		}
	}
}

/* Processes 200 to 202 are a tracker, a server and the server's child. An older recording does not
 * say so. */
Test(findings, a_tracker_and_a_server_are_no_workers_of_the_loader)
{
	static const struct step_plan plan = {30, 30, 30, 10, 0};
	static const struct {
		const char *helpers, *text;
	} rows[] = {
		{"", "3 worker processes ran"},
		{", \"helpers\": []", "3 worker processes ran"},
		{", \"helpers\": [{\"pid\": 200, \"kind\": \"tracker\"}]",
		 "2 worker processes ran"},
		{", \"helpers\": [{\"pid\": 200, \"kind\": \"tracker\"},"
		 "{\"pid\": 201, \"kind\": \"forkserver\"}]",
		 "1 worker process ran"},
		{", \"helpers\": [{\"pid\": 200, \"kind\": \"tracker\"}, {\"pid\": 201},"
		 "{\"pid\": 202, \"kind\": \"of a later version\"}, {\"pid\": \"x\"}, 7]",
		 "no worker process was seen"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct job j = job__new();
		char summary[256];

		snprintf(summary, sizeof(summary), "{\"cpu\": {\"busy_ns\": 99, \"idle_ns\": 1}%s}",
			 rows[i].helpers);
		add_processes(&j, 3);
		job__plain_steps(&j, &plan);
		job__expect_of(&j, summary, "data_loader", rows[i].text);
	}
}

Test(findings, a_loader_whose_workers_wait)
{
	static const struct step_plan plan = {30, 30, 30, 10, 0};
	struct job j = job__new();
	uint32_t worker = synth__thread(&j.s, 200, 200, "worker");

	for (uint64_t i = 0; i < STEPS; i++) {
		job__sched(&j, worker, i, SCHED_RUN, 20);
		job__sched(&j, worker, i, SCHED_BLOCKED, 80);
	}
	job__plain_steps(&j, &plan);
	job__expect(&j, "data_loader", "the workers wait too");
}

Test(findings, a_loader_in_which_the_training_thread_works)
{
	static const struct step_plan plan = {30, 30, 30, 10, 0};
	struct job j = job__new();
	uint32_t worker = synth__thread(&j.s, 200, 200, "worker");

	for (uint64_t i = 0; i < STEPS; i++) {
		job__sched(&j, worker, i, SCHED_RUN, 20);
		job__sched(&j, j.s.main, i, SCHED_RUN, 98);
		job__sched(&j, j.s.main, i, SCHED_BLOCKED, 2);
		job__sched(&j, worker, i, SCHED_BLOCKED, 80);
	}
	job__plain_steps(&j, &plan);
	job__expect(&j, "data_loader", "it waits for no worker: it takes the batch apart itself");
}

Test(findings, a_loader_whose_workers_lack_processors)
{
	struct job j = job__new();
	uint32_t worker = synth__thread(&j.s, 200, 200, "worker");

	job__plain_steps(&j, &(struct step_plan){40, 20, 30, 10, 0});
	for (uint64_t i = 0; i < STEPS; i++) {
		job__sched(&j, worker, i, SCHED_RUN, 16);
		job__sched(&j, worker, i, SCHED_RUNNABLE, 84);
	}
	job__expect(&j, "data_loader", "the workers lack processors");
}

/* The waits lie outside the phases, and cause the time there. */
Test(findings, a_cause_comes_before_what_it_causes)
{
	static const struct report_opts opts = {.style = {.format = TABLE_CSV}};
	static const struct step_plan plan = {2, 10, 10, 8, 100};
	struct job j = job__new();
	uint64_t at = 0;
	char *printed, *cause, *effect;

	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t end = at + 100 * MS;

		job__busy_device(&j, at, end - 60 * MS);
		job__begin_step(&j, at, &plan);
		for (uint64_t t = end - 60 * MS; t < end; t += 10 * MS)
			synth__span(&j.s, j.s.main, CAT_RUNTIME, "cudaStreamSynchronize", t,
				    t + 9 * MS);
		synth__step(&j.s, i, at, end);
		at = end;
	}
	synth__open(&j.s, "{}");
	printed = synth__tables(&j.s, "findings", &opts);
	cause = strstr(printed, ",synchronization,");
	effect = strstr(printed, ",outside_phases,");
	cr_assert(cause && effect, "%s", printed);
	cr_expect_lt(cause, effect, "%s", printed);
	free(printed);
	synth__free(&j.s);
}

Test(findings, time_that_belongs_to_no_phase)
{
	static const struct step_plan plan = {2, 40, 45, 8, 150};
	struct job j = job__new();

	job__plain_steps(&j, &plan);
	job__expect(&j, "outside_phases", "37 % of the step");
}

/* Findings of a job with one odd step, which another rule reports too. */
static char *findings_of_odd_step(struct job *j, const struct step_plan *usual,
				  const struct step_plan *odd)
{
	static const struct report_opts opts = {.style = {.format = TABLE_CSV}};
	char *printed;

	job__steps_but(j, usual, 4, odd);
	synth__open(&j->s, "{}");
	printed = synth__tables(&j->s, "findings", &opts);
	synth__free(&j->s);
	return printed;
}

/* An epoch's begin: the usual batch waits for nothing. */
Test(findings, a_loader_whose_workers_start_in_one_step)
{
	static const struct step_plan usual = {1, 4, 4, 1, 0}, first = {40, 4, 4, 1, 0};
	struct job j = job__new();
	char *printed;

	synth__thread(&j.s, 200, 200, "worker");
	printed = findings_of_odd_step(&j, &usual, &first);
	cr_expect(strstr(printed, "the loader takes 4.900 ms of a step of 13.90 ms, 82 % of that "
				  "in 1 of 10 steps (longest 40.00 ms, step 4); it has 1 worker"),
		  "%s", printed);
	cr_expect(strstr(printed, "persistent_workers=True"), "%s", printed);
	free(printed);
}

/* Epochs of three steps, each with its own workers. The workers import longer than they work. */
Test(findings, a_loader_whose_workers_start_in_every_third_step)
{
	static const struct step_plan usual = {1, 4, 4, 1, 0}, first = {91, 4, 4, 1, 0};
	struct job j = job__new();
	uint32_t helper = synth__thread(&j.s, 300, 300, "ldconfig");
	char *printed;
	uint64_t at = 0;

	for (uint64_t i = 0; i < 9; i++) {
		const uint64_t begin = at;

		at = job__begin_step(&j, at, i % 3 == 2 ? &first : &usual);
		synth__step(&j.s, i, begin, at);
	}
	for (uint32_t n = 0; n < 4; n++) {
		uint32_t worker = synth__thread(&j.s, 200 + n, 200 + n, "worker");

		if (n)
			job__sched(&j, worker, 3 * n - 1, SCHED_RUN, 90);
		for (uint64_t i = 3 * n; i < 3 * n + 2 && i < 9; i++)
			job__sched(&j, worker, i, SCHED_RUN, 9);
	}
	job__sched(&j, helper, 2, SCHED_RUN, 1);
	synth__open(&j.s, "{}");
	printed = synth__tables(
		&j.s, "findings",
		&(struct report_opts){.style = {.format = TABLE_TEXT, .unit = UNIT_MS}});
	cr_expect(strstr(printed, "98 % of that in 3 of 9 steps"), "%s", printed);
	cr_expect(strstr(printed, "4 worker processes"), "%s", printed);
	cr_expect(strstr(printed, "3 began after the first step"), "%s", printed);
	cr_expect(strstr(printed, "persistent_workers=True"), "%s", printed);
	free(printed);
	synth__free(&j.s);
}

/* An evaluation between two epochs. No other step has such time. */
Test(findings, time_outside_the_phases_of_one_step)
{
	static const struct step_plan usual = {0, 40, 45, 8, 0}, evaluation = {0, 40, 45, 8, 593};
	struct job j = job__new();
	char *printed = findings_of_odd_step(&j, &usual, &evaluation);

	cr_expect(strstr(printed, "50.00 ms of a step of 143.0 ms, 100 % of that in 1 of 10 steps "
				  "(longest 500.0 ms, step 4)"),
		  "%s", printed);
	cr_expect(
		strstr(printed, "an evaluation, a checkpoint, the start and end of loader workers"),
		"%s", printed);
	free(printed);
}

Test(findings, without_steps_there_are_none)
{
	struct job j = job__new();

	job__begin_step(&j, 0, &healthy);
	job__expect(&j, NULL, NULL);
}
