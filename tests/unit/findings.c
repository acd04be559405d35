// SPDX-License-Identifier: BSD-2-Clause
/* Each finding on a job that has exactly that illness, and none on a healthy one. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include "model_synth.h"

TestSuite(findings);

#define MS    1000000ull
#define STEPS 10

struct job {
	struct synth s;
	uint32_t stream;
	uint64_t id;
};

/* What a step is made of, in ms. */
struct step_plan {
	uint64_t loader, forward, backward, optimizer; /* one after the other */
	uint64_t total;				       /* 0: the sum */
};

static const struct step_plan healthy = {2, 40, 45, 8, 0};

static struct job job_with(const char *meta)
{
	struct job j = {.s = synth__new(meta)};

	j.stream = synth__stream(&j.s, 0, 7);
	return j;
}

static struct job job_new(void)
{
	return job_with("{\"process\": {\"pid\": 100}}");
}

/* Whose operators run on the thread that calls them. */
static struct job torch_job(void)
{
	return job_with("{\"process\": {\"pid\": 100}, \"detail\": \"operator\", "
			"\"runtime\": {\"runs_in_caller\": true}}");
}

static uint64_t plan_ms(const struct step_plan *p)
{
	return p->total ? p->total : p->loader + p->forward + p->backward + p->optimizer;
}

/* A step without its step event, so that a test can add to it; returns its end. */
static uint64_t begin_step(struct job *j, uint64_t at, const struct step_plan *p)
{
	uint64_t t = at + p->loader * MS;

	if (p->loader)
		synth__span(&j->s, j->s.main, CAT_DATALOADER, "next", at, t);
	synth__span(&j->s, j->s.main, CAT_FORWARD, "forward", t, t + p->forward * MS);
	t += p->forward * MS;
	synth__span(&j->s, j->s.main, CAT_BACKWARD, "backward", t, t + p->backward * MS);
	t += p->backward * MS;
	synth__span(&j->s, j->s.main, CAT_OPTIMIZER, "step", t, t + p->optimizer * MS);
	return at + plan_ms(p) * MS;
}

static void launch(struct job *j, const char *call, enum span_category what, const char *name,
		   uint64_t call_begin, uint64_t call_end, uint64_t begin, uint64_t end,
		   int64_t bytes)
{
	struct event e = synth__event(&j->s, j->s.main, CAT_RUNTIME, call, call_begin, call_end);
	struct event d;

	e.id = ++j->id;
	synth__write(&j->s, &e);
	d = synth__event(&j->s, j->stream, what, name, begin, end);
	d.type = EVENT_DEVICE;
	d.id = j->id;
	d.value = bytes;
	synth__write(&j->s, &d);
}

static void sched_for(struct job *j, uint32_t track, uint64_t step, uint8_t state,
		      const char *reason, uint64_t ms)
{
	const struct sched_row row = {
		.track = track,
		.step = step,
		.state = state,
		.reason = reason ? recording_writer__name(j->s.w, CAT_NONE, reason, NULL) : 0,
		.ns = ms * MS,
		.cnt = 1};

	cr_assert_eq(recording_writer__sched(j->s.w, &row), 0);
}

static void sched(struct job *j, uint32_t track, uint64_t step, uint8_t state, uint64_t ms)
{
	sched_for(j, track, step, state, NULL, ms);
}

/* Ends the job, and expects just this finding (NULL: none), with this in its text. */
static void expect_of(struct job *j, const char *summary, const char *rule, const char *text)
{
	static const struct report_opts opts = {.style = {.format = TABLE_JSON}};
	json_t *report, *rows, *row;
	char *printed;

	synth__open(&j->s, summary);
	printed = synth__tables(&j->s, "findings", &opts);
	report = json_loads(printed, 0, NULL);
	rows = json_object_get(json_object_get(report, "findings"), "rows");
	cr_assert_eq(json_array_size(rows), rule ? 1 : 0, "%s", printed);
	row = json_array_get(rows, 0);
	if (rule) {
		cr_assert_str_eq(json_string_value(json_object_get(row, "rule")), rule, "%s",
				 printed);
		cr_assert_not_null(strstr(printed, text), "%s", printed);
	}
	json_decref(report);
	free(printed);
	synth__free(&j->s);
}

static void expect(struct job *j, const char *rule, const char *text)
{
	expect_of(j, "{\"cpu\": {\"busy_ns\": 99, \"idle_ns\": 1}}", rule, text);
}

static void plain_steps(struct job *j, const struct step_plan *p)
{
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t end = begin_step(j, at, p);

		synth__step(&j->s, i, at, end);
		at = end;
	}
}

/* The device works all the time, by kernels of 10 ms. */
static void busy_device(struct job *j, uint64_t at, uint64_t end)
{
	for (uint64_t t = at; t < end; t += 10 * MS)
		launch(j, "cudaLaunchKernel", CAT_KERNEL, "gemm", t + MS, t + MS + 5000, t,
		       t + 10 * MS < end ? t + 10 * MS : end, 0);
}

Test(findings, a_healthy_job_has_none)
{
	struct job j = job_new();

	plain_steps(&j, &healthy);
	expect(&j, NULL, NULL);
}

Test(findings, a_healthy_device_job_has_none)
{
	struct job j = job_new();
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t end = at + plan_ms(&healthy) * MS;

		busy_device(&j, at, end);
		begin_step(&j, at, &healthy);
		sched(&j, j.s.main, i, SCHED_RUN, 80);
		sched(&j, j.s.main, i, SCHED_RUNNABLE, 2);
		synth__step(&j.s, i, at, end);
		at = end;
	}
	expect(&j, NULL, NULL);
}

Test(findings, a_loader_without_workers)
{
	static const struct step_plan plan = {30, 30, 30, 10, 0};
	struct job j = job_new();

	plain_steps(&j, &plan);
	expect(&j, "data_loader", "num_workers");
}

Test(findings, a_loader_whose_workers_are_busy)
{
	static const struct step_plan plan = {30, 30, 30, 10, 0};
	struct job j = job_new();
	uint32_t worker = synth__thread(&j.s, 200, 200, "worker");

	for (uint64_t i = 0; i < STEPS; i++)
		sched(&j, worker, i, SCHED_RUN, 99);
	plain_steps(&j, &plan);
	expect(&j, "data_loader", "the workers are the bottleneck");
}

Test(findings, a_loader_whose_workers_wait)
{
	static const struct step_plan plan = {30, 30, 30, 10, 0};
	struct job j = job_new();
	uint32_t worker = synth__thread(&j.s, 200, 200, "worker");

	for (uint64_t i = 0; i < STEPS; i++) {
		sched(&j, worker, i, SCHED_RUN, 20);
		sched(&j, worker, i, SCHED_BLOCKED, 80);
	}
	plain_steps(&j, &plan);
	expect(&j, "data_loader", "the workers wait too");
}

Test(findings, a_loader_whose_workers_lack_processors)
{
	struct job j = job_new();
	uint32_t worker = synth__thread(&j.s, 200, 200, "worker");

	plain_steps(&j, &(struct step_plan){40, 20, 30, 10, 0});
	for (uint64_t i = 0; i < STEPS; i++) {
		sched(&j, worker, i, SCHED_RUN, 16);
		sched(&j, worker, i, SCHED_RUNNABLE, 84);
	}
	expect(&j, "data_loader", "the workers lack processors");
}

Test(findings, short_kernels_that_the_host_launches_too_slowly)
{
	struct job j = job_new();
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t end = at + plan_ms(&healthy) * MS;

		for (uint64_t t = at; t < end; t += MS)
			launch(&j, "cudaLaunchKernel", CAT_KERNEL, "add", t, t + 5000, t + 5000,
			       t + 12000, 0);
		begin_step(&j, at, &healthy);
		synth__step(&j.s, i, at, end);
		at = end;
	}
	expect(&j, "device_idle", "CUDA graphs");
}

Test(findings, synchronizing_again_and_again)
{
	struct job j = job_new();
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t end = at + plan_ms(&healthy) * MS;

		busy_device(&j, at, end);
		for (uint64_t k = 0; k < 4; k++) {
			uint64_t t = at + (5 + k * 8) * MS;

			synth__span(&j.s, j.s.main, CAT_RUNTIME, "cudaStreamSynchronize", t + 1000,
				    t + 2 * MS);
			synth__span(&j.s, j.s.main, CAT_OPERATOR, "aten::item", t,
				    t + 2 * MS + 1000);
		}
		begin_step(&j, at, &healthy);
		synth__step(&j.s, i, at, end);
		at = end;
	}
	expect(&j, "synchronization", "most in aten::item (4.0 a step)");
}

/* The line that asks most often, of those that ask. */
Test(findings, a_line_of_code_where_stacks_were_recorded)
{
	struct job j = job_new();
	uint32_t line[2];
	uint64_t at = 0;

	for (uint32_t i = 0; i < 2; i++)
		line[i] = recording_writer__frame(
			j.s.w, 0, recording_writer__code(j.s.w, "/job/train.py", "<module>", 1),
			41 + i);
	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t end = at + plan_ms(&healthy) * MS;

		busy_device(&j, at, end);
		for (uint64_t k = 0; k < 4; k++) {
			uint64_t t = at + (5 + k * 8) * MS;
			struct event e = synth__event(&j.s, j.s.main, CAT_OPERATOR, "aten::item", t,
						      t + 2 * MS + 1000);

			synth__span(&j.s, j.s.main, CAT_RUNTIME, "cudaStreamSynchronize", t + 1000,
				    t + 2 * MS);
			e.stack = line[k > 0];
			synth__write(&j.s, &e);
		}
		begin_step(&j, at, &healthy);
		synth__step(&j.s, i, at, end);
		at = end;
	}
	expect(&j, "synchronization", "most in aten::item at train.py:42 (4.0 a step)");
}

Test(findings, many_small_copies)
{
	struct job j = job_new();
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t end = at + plan_ms(&healthy) * MS;

		busy_device(&j, at, end);
		for (uint64_t k = 0; k < 30; k++) {
			uint64_t t = at + (5 + k) * MS;

			launch(&j, "cudaMemcpyAsync", CAT_MEMCPY, "Memcpy HtoD", t, t + MS / 5, t,
			       t + 900, 64);
			synth__span(&j.s, j.s.main, CAT_OPERATOR, "aten::copy_", t, t + MS / 2);
		}
		begin_step(&j, at, &healthy);
		synth__step(&j.s, i, at, end);
		at = end;
	}
	expect(&j, "small_copies", "most in aten::copy_");
}

/* What a step copies from pageable memory, beside three batches of 8 MB from page-locked memory at
 * 20 GB/s. */
struct copy_plan {
	int64_t bytes;
	uint64_t ns;
	bool beside_kernels, no_pinned;
};

static void copying_steps(struct job *j, const struct copy_plan *p)
{
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		const uint64_t end = at + plan_ms(&healthy) * MS;
		uint64_t t = at + 3 * MS; /* in the forward pass */

		for (int k = 0; k < 3 && !p->no_pinned; k++, t += MS / 2)
			launch(j, "cudaMemcpyAsync", CAT_MEMCPY, "Memcpy HtoD (Pinned -> Device)",
			       t, t + 5000, t, t + 400000, 8000000);
		launch(j, "cudaMemcpyAsync", CAT_MEMCPY, "Memcpy HtoD (Pageable -> Device)", t,
		       t + p->ns, t, t + p->ns, p->bytes);
		synth__span(&j->s, j->s.main, CAT_OPERATOR, "aten::copy_", t, t + p->ns);
		busy_device(j, p->beside_kernels ? at : t + p->ns, end);
		begin_step(j, at, &healthy);
		synth__step(&j->s, i, at, end);
		at = end;
	}
}

Test(findings, pageable_copies_below_the_link)
{
	struct job j = job_new();

	copying_steps(&j, &(struct copy_plan){.bytes = 50000000, .ns = 10 * MS});
	expect(&j, "copy_bandwidth",
	       "Large copies of pageable memory (HtoD) run at 5.0 GB/s, of page-locked at 20.0.");
}

Test(findings, what_better_copies_would_save)
{
	struct job j = job_new();

	copying_steps(&j, &(struct copy_plan){.bytes = 50000000, .ns = 10 * MS});
	expect(&j, "copy_bandwidth", "\"cost_ns\": 7500000"); /* 10 ms at 5 of 20 GB/s */
}

Test(findings, pageable_copies_at_the_links_rate)
{
	struct job j = job_new();

	copying_steps(&j, &(struct copy_plan){.bytes = 150000000, .ns = 10 * MS});
	expect(&j, NULL, NULL);
}

Test(findings, slow_copies_behind_kernels_cost_nothing)
{
	struct job j = job_new();

	copying_steps(
		&j, &(struct copy_plan){.bytes = 50000000, .ns = 10 * MS, .beside_kernels = true});
	expect(&j, NULL, NULL);
}

Test(findings, slow_copies_that_take_little)
{
	struct job j = job_new();

	copying_steps(&j, &(struct copy_plan){.bytes = 10000000, .ns = 2 * MS});
	expect(&j, NULL, NULL);
}

Test(findings, without_page_locked_copies_the_link_is_not_known)
{
	struct job j = job_new();

	copying_steps(&j, &(struct copy_plan){.bytes = 50000000, .ns = 10 * MS, .no_pinned = true});
	expect(&j, NULL, NULL);
}

/* PCIe of the fourth generation with so many lanes. */
static void expect_by_link(unsigned int lanes, const char *rule, const char *text)
{
	struct job j = job_new();
	char summary[160];

	snprintf(summary, sizeof(summary),
		 "{\"device\": {\"devices\": [{\"id\": 0, \"name\": \"GPU\", \"link_mts\": 16000, "
		 "\"link_width\": %u}]}}",
		 lanes);
	copying_steps(&j, &(struct copy_plan){.bytes = 50000000, .ns = 10 * MS, .no_pinned = true});
	expect_of(&j, summary, rule, text);
}

Test(findings, without_page_locked_copies_the_link_is_what_its_lanes_carry)
{
	expect_by_link(16, "copy_bandwidth", "run at 5.0 GB/s, of the link's 25.2.");
	expect_by_link(
		16, "copy_bandwidth",
		"PCIe of 16.0 GT/s and 16 lanes carries 31.5, of which copies of page-locked "
		"memory are taken to reach 80 %");
	expect_by_link(4, NULL, NULL); /* 6.3 GB/s: they are near enough */
}

Test(findings, memory_from_the_driver_in_each_step)
{
	struct job j = job_new();
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t end = at + plan_ms(&healthy) * MS;

		busy_device(&j, at, end);
		for (uint64_t k = 0; k < 3; k++) {
			uint64_t t = at + (5 + k * 8) * MS;

			synth__span(&j.s, j.s.main, CAT_RUNTIME, k ? "cudaFree" : "cudaMalloc", t,
				    t + MS);
		}
		begin_step(&j, at, &healthy);
		synth__step(&j.s, i, at, end);
		at = end;
	}
	expect(&j, "device_allocation", "3.0 times a step");
}

Test(findings, communication_that_nothing_hides)
{
	struct job j = job_new();
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t end = at + plan_ms(&healthy) * MS;

		busy_device(&j, at, end - 25 * MS);
		launch(&j, "cudaLaunchKernel", CAT_KERNEL,
		       "ncclDevKernel_AllReduce_Sum_f32_RING_LL", end - 30 * MS,
		       end - 30 * MS + 5000, end - 25 * MS, end, 0);
		begin_step(&j, at, &healthy);
		synth__step(&j.s, i, at, end);
		at = end;
	}
	expect(&j, "exposed_communication", "25.00 ms of a step in collectives");
}

Test(findings, copies_that_nothing_hides)
{
	struct job j = job_new();
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t end = at + plan_ms(&healthy) * MS;

		busy_device(&j, at, end - 20 * MS);
		launch(&j, "cudaMemcpyAsync", CAT_MEMCPY, "Memcpy HtoD (Pinned -> Device)",
		       end - 30 * MS, end - 30 * MS + 5000, end - 25 * MS, end, 50000000);
		begin_step(&j, at, &healthy);
		synth__step(&j.s, i, at, end);
		at = end;
	}
	expect(&j, "exposed_copies",
	       "20.00 ms of a step in copies between host and device while "
	       "no kernel runs; 50.0 MB a step");
}

Test(findings, communication_of_the_host)
{
	struct job j = job_new();
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t end = at + plan_ms(&healthy) * MS;
		struct event e = synth__event(&j.s, j.s.main, CAT_COMMUNICATION, "gloo:all_reduce",
					      end - 60 * MS, end - 10 * MS);

		e.type = EVENT_ASYNC;
		begin_step(&j, at, &healthy);
		synth__write(&j.s, &e);
		sched(&j, j.s.main, i, SCHED_RUN, 65);
		sched(&j, j.s.main, i, SCHED_BLOCKED, 30);
		synth__step(&j.s, i, at, end);
		at = end;
	}
	expect(&j, "exposed_communication",
	       "30.00 ms of a step in collectives while the training thread is blocked");
}

Test(findings, a_training_thread_without_a_processor)
{
	struct job j = job_new();

	for (uint64_t i = 0; i < STEPS; i++) {
		sched(&j, j.s.main, i, SCHED_RUN, 60);
		sched(&j, j.s.main, i, SCHED_RUNNABLE, 30);
	}
	plain_steps(&j, &healthy);
	expect(&j, "cpu_wait", "processors were 99 % busy");
}

Test(findings, a_slow_step_and_what_is_longer_in_it)
{
	static const struct step_plan slow = {2, 40, 245, 8, 0};
	struct job j = job_new();
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t end = begin_step(&j, at, i == 6 ? &slow : &healthy);

		synth__step(&j.s, i, at, end);
		at = end;
	}
	expect(&j, "slow_steps", "step 6 295.0 ms; 100 % of the surplus lies in Backward");
}

Test(findings, steps_that_are_slow_half_of_the_time_are_usual)
{
	static const struct step_plan slow = {2, 240, 45, 8, 0};
	struct job j = job_new();
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t end = begin_step(&j, at, i % 5 < 3 ? &healthy : &slow);

		synth__step(&j.s, i, at, end);
		at = end;
	}
	expect(&j, NULL, NULL);
}

/* The waits lie outside the phases, and are their cause. */
Test(findings, a_cause_comes_before_what_it_causes)
{
	static const struct report_opts opts = {.style = {.format = TABLE_CSV}};
	static const struct step_plan plan = {2, 10, 10, 8, 100};
	struct job j = job_new();
	uint64_t at = 0;
	char *printed, *cause, *effect;

	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t end = at + 100 * MS;

		busy_device(&j, at, end);
		begin_step(&j, at, &plan);
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
	struct job j = job_new();

	plain_steps(&j, &plan);
	expect(&j, "outside_phases", "37 % of the step");
}

/* ---- the training thread off the processor ---- */

/* 50 of the 95 ms of each step in futex; another thread runs for 80 of them. */
static void locked_steps(struct job *j)
{
	for (uint64_t i = 0; i < STEPS; i++) {
		sched(j, j->s.main, i, SCHED_RUN, 43);
		sched_for(j, j->s.main, i, SCHED_BLOCKED, "futex", 50);
		sched_for(j, j->s.main, i, SCHED_BLOCKED, "read", 2);
		sched(j, j->s.other, i, SCHED_RUN, 80);
	}
	plain_steps(j, &healthy);
}

Test(findings, a_lock_that_another_thread_holds)
{
	struct job j = torch_job();

	locked_steps(&j);
	/* 52.6 % of 95 ms, of which the 2 ms of the loader may be a part */
	expect(&j, "off_cpu",
	       "48.00 ms to 50.00 ms of a step, besides the data loader, calls of the device, "
	       "collectives and "
	       "what other threads run for it; the thread other (101), which was not seen to run "
	       "an operator, ran for 80.00 ms of a step");
}

Test(findings, a_lock_where_operators_run_on_other_threads_is_their_result)
{
	struct job j = job_with("{\"process\": {\"pid\": 100}, \"detail\": \"operator\", "
				"\"runtime\": {\"runs_in_caller\": false}}");

	locked_steps(&j);
	expect(&j, NULL, NULL);
}

/* As of devices: the nodes run on a thread of their own. */
Test(findings, waiting_for_the_backward_pass_of_another_thread)
{
	struct job j = torch_job();
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t end = begin_step(&j, at, &healthy);

		sched(&j, j.s.main, i, SCHED_RUN, 50);
		sched_for(&j, j.s.main, i, SCHED_BLOCKED, "futex", 45);
		sched(&j, j.s.other, i, SCHED_RUN, 45);
		synth__span(&j.s, j.s.other, CAT_BACKWARD_NODE, "node", at + 43 * MS, at + 45 * MS);
		synth__step(&j.s, i, at, end);
		at = end;
	}
	expect(&j, NULL, NULL);
}

Test(findings, waiting_for_the_loader_and_the_device_is_their_rules)
{
	static const struct step_plan plan = {7, 40, 45, 8, 0};
	struct job j = torch_job();
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t end = at + plan_ms(&plan) * MS;

		busy_device(&j, at, end);
		synth__span(&j.s, j.s.main, CAT_RUNTIME, "cudaStreamSynchronize", end - 7 * MS,
			    end - MS);
		begin_step(&j, at, &plan);
		sched(&j, j.s.main, i, SCHED_RUN, 70);
		sched_for(&j, j.s.main, i, SCHED_BLOCKED, "futex", 27);
		synth__step(&j.s, i, at, end);
		at = end;
	}
	/* 27 ms, of which 7 in the loader and 6 for the device: 14 % of the step are left. */
	expect(&j, NULL, NULL);
}

Test(findings, a_step_that_waits_for_the_disk)
{
	struct job j = job_new(); /* of whatever framework */

	for (uint64_t i = 0; i < STEPS; i++) {
		sched(&j, j.s.main, i, SCHED_RUN, 60);
		sched_for(&j, j.s.main, i, SCHED_BLOCKED, "fsync (disk)", 30);
	}
	plain_steps(&j, &healthy);
	expect(&j, "off_cpu",
	       "The training thread is blocked in fsync (disk) for 29 % of the step.");
}

Test(findings, a_step_that_sleeps)
{
	struct job j = job_new();

	for (uint64_t i = 0; i < STEPS; i++)
		sched_for(&j, j.s.main, i, SCHED_BLOCKED, "clock_nanosleep", 30);
	plain_steps(&j, &healthy);
	expect(&j, "off_cpu", "The training thread sleeps for 29 % of the step.");
}

/* What the loader takes in one step hides nothing of what another one waits for. */
Test(findings, a_sleep_in_steps_that_do_not_load)
{
	static const struct step_plan loads = {40, 40, 45, 8, 0};
	struct job j = job_new();
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		const uint64_t end = begin_step(&j, at, i == 4 ? &loads : &healthy);

		sched_for(&j, j.s.main, i, SCHED_BLOCKED, "clock_nanosleep", i == 4 ? 0 : 20);
		synth__step(&j.s, i, at, end);
		at = end;
	}
	/* 180 of 988 ms, in nine steps with 2 ms of the loader each */
	expect(&j, "off_cpu", "16.20 ms to 18.00 ms of a step, besides");
}

Test(findings, a_wait_that_makes_one_step_slow_is_told_once)
{
	static const struct step_plan slow = {2, 290, 45, 8, 0};
	struct job j = job_new();
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		const uint64_t end = begin_step(&j, at, i == 4 ? &slow : &healthy);

		sched_for(&j, j.s.main, i, SCHED_BLOCKED, "fsync (disk)", i == 4 ? 250 : 0);
		synth__step(&j.s, i, at, end);
		at = end;
	}
	expect(&j, "slow_steps", "the thread is blocked for 100 % of it in fsync (disk)");
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
	plain_steps(j, &healthy);
}

Test(findings, a_step_that_takes_its_memory_anew)
{
	struct job j = job_new();

	faulting_steps(&j, FAULT_ANONYMOUS, 4000, 19);
	expect(&j, "page_faults",
	       "4000 of a step, 19.00 ms, by memory without a file, and 3.0 calls");
}

Test(findings, a_step_that_reads_mapped_files)
{
	struct job j = job_new();

	faulting_steps(&j, FAULT_DISK, 70, 9);
	expect(&j, "page_faults", "it reads files that are mapped into memory");
}

Test(findings, few_or_short_faults_are_none)
{
	struct job few = job_new(), quick = job_new();

	faulting_steps(&few, FAULT_ANONYMOUS, 7, 19);
	expect(&few, NULL, NULL);
	faulting_steps(&quick, FAULT_ANONYMOUS, 4000, 4);
	expect(&quick, NULL, NULL);
}

/* By the kernel's own count; the ten steps take 950 ms. */
Test(findings, faults_that_were_only_counted)
{
	struct job many = job_new(), few = job_new();

	plain_steps(&many, &healthy);
	expect_of(&many,
		  "{\"faults\": {\"minor\": 100000, \"major\": 0, \"over_ns\": 950000000, "
		  "\"fault_ns\": 2000}}",
		  "page_faults",
		  "10000 of a step as the kernel counts them, 20.00 ms if each takes as long as "
		  "one of proftrace's own (2.0 us)");
	plain_steps(&few, &healthy);
	expect_of(&few,
		  "{\"faults\": {\"minor\": 20000, \"major\": 0, \"over_ns\": 950000000, "
		  "\"fault_ns\": 2000}}",
		  NULL, NULL);
}

/* ---- memory ---- */

#define MB 1000000

/* 100 MB of activations, which grow in the forward pass and go in the backward pass. */
static void activations(struct job *j, uint64_t at)
{
	for (uint64_t k = 0; k < 10; k++) {
		synth__memory(&j->s, j->s.main, at + (4 + 4 * k) * MS, 0x1000 + k, 10 * MB);
		synth__memory(&j->s, j->s.main, at + (86 - 4 * k) * MS, 0x1000 + k, 0);
	}
}

static void memory_steps(struct job *j, int64_t spike_bytes, uint64_t spike_ms)
{
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t end, t = at + 42 * MS;

		activations(j, at);
		synth__memory(&j->s, j->s.main, t + 1000, 0x9000, spike_bytes);
		synth__memory(&j->s, j->s.main, t + spike_ms * MS, 0x9000, 0);
		synth__span(&j->s, j->s.main, CAT_OPERATOR, "aten::cross_entropy_loss", t,
			    t + 30 * MS);
		end = begin_step(j, at, &healthy);
		synth__step(&j->s, i, at, end);
		at = end;
	}
}

Test(findings, a_spike_of_memory)
{
	struct job j = job_new();

	memory_steps(&j, 400 * MB, 3);
	expect(&j, "memory_peak",
	       "500.0 MB more than at its begin, and 100.0 MB or less but for 2.999 ms; 400.0 MB "
	       "of the peak by aten::cross_entropy_loss; 10 of 10 steps have such a spike");
}

Test(findings, memory_that_grows_and_goes_is_no_spike)
{
	struct job j = job_new();

	memory_steps(&j, 0, 3);
	expect(&j, NULL, NULL);
}

Test(findings, memory_that_is_held_for_long_is_no_spike)
{
	struct job j = job_new();

	memory_steps(&j, 400 * MB, 20);
	expect(&j, NULL, NULL);
}

Test(findings, a_small_spike_is_none)
{
	struct job j = job_new();

	memory_steps(&j, 60 * MB, 3);
	expect(&j, NULL, NULL);
}

Test(findings, a_spike_in_one_step_is_none)
{
	struct job j = job_new();
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t end;

		if (i == 4) {
			synth__memory(&j.s, j.s.main, at + 42 * MS, 0x9000, 400 * MB);
			synth__memory(&j.s, j.s.main, at + 44 * MS, 0x9000, 0);
		}
		end = begin_step(&j, at, &healthy);
		synth__step(&j.s, i, at, end);
		at = end;
	}
	expect(&j, NULL, NULL);
}

/* Of a device of 80 GB. */
static void reserving_steps(struct job *j, uint64_t allocated, uint64_t reserved)
{
	const struct event_memory args = {.total_allocated = allocated,
					  .total_reserved = reserved,
					  .device_type = 1,
					  .device_index = 0};
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		struct event e = {.ts_ns = at + 10 * MS,
				  .id = 0x40 + i,
				  .value = 1000,
				  .track = j->s.main,
				  .type = EVENT_MEMORY,
				  .args_len = sizeof(args),
				  .args = &args};
		uint64_t end;

		synth__write(&j->s, &e);
		end = begin_step(j, at, &healthy);
		synth__step(&j->s, i, at, end);
		at = end;
	}
}

#define GB 1000000000ull
static const char device_80_gb[] =
	"{\"device\": {\"devices\": [{\"id\": 0, \"name\": \"GPU\", \"memory_bytes\": "
	"80000000000}]}}";

Test(findings, memory_that_is_reserved_and_not_used)
{
	struct job j = job_new();

	reserving_steps(&j, 20 * GB, 60 * GB);
	expect_of(&j, device_80_gb, "memory_unused",
		  "The allocator holds 60.0 GB of GPU0, and at most 20.0 GB of it were in use.");
}

Test(findings, memory_that_is_reserved_and_used_or_not_missed)
{
	struct job used = job_new(), free_device = job_new(), unknown = job_new();

	reserving_steps(&used, 50 * GB, 60 * GB);
	expect_of(&used, device_80_gb, NULL, NULL);
	reserving_steps(&free_device, 10 * GB, 30 * GB);
	expect_of(&free_device, device_80_gb, NULL, NULL);
	reserving_steps(&unknown, 20 * GB, 60 * GB);
	expect_of(&unknown, "{}", NULL, NULL);
}

Test(findings, what_costs_memory_comes_after_what_costs_time)
{
	static const struct report_opts opts = {.style = {.format = TABLE_JSON}};
	struct job j = job_new();
	char *printed, *time, *memory;

	for (uint64_t i = 0; i < STEPS; i++)
		sched(&j, j.s.main, i, SCHED_RUNNABLE, 30);
	memory_steps(&j, 400 * MB, 3);
	synth__open(&j.s, "{}");
	printed = synth__tables(&j.s, "findings", &opts);
	time = strstr(printed, "\"cpu_wait\"");
	memory = strstr(printed, "\"memory_peak\"");
	cr_assert(time && memory, "%s", printed);
	cr_expect_lt(time, memory, "%s", printed);
	cr_expect_not_null(strstr(printed, "it costs memory, not time"), "%s", printed);
	free(printed);
	synth__free(&j.s);
}

/* ---- what differs in slow steps ---- */

static void slow_operator_steps(struct job *j)
{
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		const bool is_slow = i == 6;
		const struct step_plan plan = {2, is_slow ? 240 : 40, 45, 8, 0};
		const uint64_t mm_ms = is_slow ? 190 : 10;
		uint64_t end;

		synth__span(&j->s, j->s.main, CAT_OPERATOR, "aten::mm", at + 10 * MS,
			    at + (10 + mm_ms) * MS);
		synth__span(&j->s, j->s.main, CAT_OPERATOR, "aten::add", at + (11 + mm_ms) * MS,
			    at + (is_slow ? 31 : 13) * MS + mm_ms * MS);
		sched(j, j->s.main, i, SCHED_RUN, is_slow ? 115 : 95);
		sched_for(j, j->s.main, i, SCHED_BLOCKED, "read (disk)", is_slow ? 180 : 0);
		synth__memory(&j->s, j->s.main, at + 12 * MS, 0x1000, is_slow ? 90 * MB : MB);
		synth__memory(&j->s, j->s.main, at + 25 * MS, 0x1000, 0);
		end = begin_step(j, at, &plan);
		synth__step(&j->s, i, at, end);
		at = end;
	}
}

Test(findings, which_operator_state_and_memory_slow_steps_have_more)
{
	struct job j = job_new();

	slow_operator_steps(&j);
	expect(&j, "slow_steps",
	       "100 % of the surplus lies in Forward; 90 % in aten::mm itself; the thread is "
	       "blocked "
	       "for 90 % of it in read (disk); each allocates 90.0 MB, the others 1.0");
}

Test(findings, without_steps_there_are_none)
{
	struct job j = job_new();

	begin_step(&j, 0, &healthy);
	expect(&j, NULL, NULL);
}
