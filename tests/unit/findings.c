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

static struct job job_new(void)
{
	struct job j = {.s = synth__new("{\"process\": {\"pid\": 100}}")};

	j.stream = synth__stream(&j.s, 0, 7);
	return j;
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

static void sched(struct job *j, uint32_t track, uint64_t step, uint8_t state, uint64_t ms)
{
	const struct sched_row row = {
		.track = track, .step = step, .state = state, .ns = ms * MS, .cnt = 1};

	cr_assert_eq(recording_writer__sched(j->s.w, &row), 0);
}

/* Ends the job, and expects just this finding (NULL: none), with this in its text. */
static void expect(struct job *j, const char *rule, const char *text)
{
	static const struct report_opts opts = {.style = {.format = TABLE_JSON}};
	json_t *report, *rows, *row;
	char *printed;

	synth__open(&j->s, "{\"cpu\": {\"busy_ns\": 99, \"idle_ns\": 1}}");
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

Test(findings, without_steps_there_are_none)
{
	struct job j = job_new();

	begin_step(&j, 0, &healthy);
	expect(&j, NULL, NULL);
}
