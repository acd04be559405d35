// SPDX-License-Identifier: BSD-2-Clause
/* Findings about a device: its waits, copies, memory from its driver, communication. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include "finding_job.h"

TestSuite(findings_device);

/* Kernels of so many ns, one every_ns after the other, launched queued_ns before they begin. */
static struct job launching_steps(uint64_t ns, uint64_t every_ns, uint64_t queued_ns)
{
	struct job j = job__new();
	uint64_t at = MS;

	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t end = at + step_plan__ms(&healthy) * MS;

		for (uint64_t t = at; t < end; t += every_ns) {
			job__launch(&j, "cudaLaunchKernel", CAT_KERNEL, "add", t - queued_ns,
				    t - queued_ns + 5000, t + 5000, t + 5000 + ns, 0);
			synth__span(&j.s, j.s.main, CAT_OPERATOR, "aten::add_", t - queued_ns,
				    t - queued_ns + 5000);
		}
		job__begin_step(&j, at, &healthy);
		synth__step(&j.s, i, at, end);
		at = end;
	}
	return j;
}

Test(findings_device, short_kernels_that_the_host_launches_too_slowly)
{
	struct job j = launching_steps(7000, 50000, 0);

	job__expect(&j, "launch_bound",
		    "1900 kernels a step take 7.000 us on average; before 100 % of them the device "
		    "is idle, for 43.00 us each, while the host launches one every 50.00 us; most "
		    "in aten::add_ (1899.0 a step)");
}

/* Meanwhile a stream works that other steps fed. */
Test(findings_device, gaps_that_other_work_fills)
{
	struct job j = launching_steps(7000, 50000, 0);
	const uint32_t stream = synth__stream(&j.s, 0, 9);

	for (uint64_t t = 0; t < STEPS * 95 + 2; t += 10)
		synth__kernel(&j.s, stream, CAT_KERNEL, "long", 1000000000 + t, t * MS,
			      (t + 10) * MS);
	job__expect(&j, NULL, NULL);
}

Test(findings_device, kernels_between_which_the_host_does_other_things)
{
	struct job j = launching_steps(500000, 2 * MS, 0);

	job__expect(&j, "device_idle", "busy with other things than launching");
}

/* Steps of 100 ms. */
static void idle_steps(bool trains, const char *reason, const char *text)
{
	struct job j = job__new();
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		const uint64_t end = trains ? job__begin_step(&j, at, &healthy) : at + 100 * MS;

		for (uint64_t t = at + MS; t < at + 9 * MS; t += 2 * MS)
			job__launch(&j, "cudaStreamSynchronize", CAT_KERNEL, "add", t, t + 5000,
				    t + 5000, t + 9000, 0);
		job__sched(&j, j.s.main, i, SCHED_RUN, 8);
		job__sched_for(&j, j.s.main, i, SCHED_BLOCKED, reason, 90);
		synth__step(&j.s, i, at, end);
		at = end;
	}
	job__expect(&j, "device_idle", text);
}

Test(findings_device, a_host_that_has_no_more_to_do_than_the_device)
{
	idle_steps(false, "epoll_wait",
		   "it is given too little: the thread of the steps waits in epoll_wait for 90.00 "
		   "ms of a step");
	idle_steps(true, "futex", "nor does the process run for most of that");
}

Test(findings_device, short_kernels_that_wait_for_each_other)
{
	struct job j = launching_steps(42000, 50000, 40000);

	job__expect(&j, NULL, NULL);
}

Test(findings_device, kernels_as_long_as_their_launching)
{
	struct job j = launching_steps(46000, 50000, 0);

	job__expect(&j, NULL, NULL);
}

/* Four waits of 2 ms from 5 ms on, after each of which the device is idle for 3. */
static void busy_between_waits(struct job *j, uint64_t at, uint64_t end)
{
	uint64_t t = at;

	for (uint64_t k = 0; k < 4; k++) {
		job__busy_device(j, t, at + (7 + k * 8) * MS);
		t = at + (10 + k * 8) * MS;
	}
	job__busy_device(j, t, end);
}

/* The waits are a thread's of the process. */
static void wait_again_and_again(struct job *j, uint32_t track)
{
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t end = at + step_plan__ms(&healthy) * MS;

		busy_between_waits(j, at, end);
		for (uint64_t k = 0; k < 4; k++) {
			uint64_t t = at + (5 + k * 8) * MS;

			synth__span(&j->s, track, CAT_RUNTIME, "cudaStreamSynchronize", t + 1000,
				    t + 2 * MS);
			synth__span(&j->s, track, CAT_OPERATOR, "aten::item", t, t + 2 * MS + 1000);
		}
		job__begin_step(j, at, &healthy);
		synth__step(&j->s, i, at, end);
		at = end;
	}
}

Test(findings_device, synchronizing_again_and_again)
{
	struct job own = job__new(), backward = job__torch();

	wait_again_and_again(&own, own.s.main);
	job__expect(&own, "synchronization", "most in aten::item (4.0 a step)");
	wait_again_and_again(&backward, backward.s.other);
	job__expect(&backward, "synchronization", "most in aten::item (4.0 a step)");
}

/* A thread of the framework's engine: nobody can write it otherwise. */
Test(findings_device, synchronizing_in_an_engine)
{
	struct job j = job__new();

	wait_again_and_again(&j, j.s.other);
	job__expect(&j, NULL, NULL);
}

/* The device has always something to do: fewer waits would save nothing. */
Test(findings_device, synchronizing_with_a_device_that_is_never_idle)
{
	struct job j = job__new();
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t end = at + step_plan__ms(&healthy) * MS;

		job__busy_device(&j, at, end);
		for (uint64_t k = 0; k < 4; k++) {
			uint64_t t = at + (5 + k * 8) * MS;

			synth__span(&j.s, j.s.main, CAT_RUNTIME, "cudaStreamSynchronize", t + 1000,
				    t + 2 * MS);
		}
		job__begin_step(&j, at, &healthy);
		synth__step(&j.s, i, at, end);
		at = end;
	}
	job__expect(&j, NULL, NULL);
}

static void idle_after_waits(struct job *j, uint32_t waits)
{
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t end = at + step_plan__ms(&healthy) * MS;

		for (uint64_t t = at + 3 * MS; t < end; t += 20 * MS) {
			job__launch(j, "cudaLaunchKernel", CAT_KERNEL, "gemm", t, t + 5000,
				    t + 5000, t + 8 * MS, 0);
			synth__span(&j->s, waits, CAT_RUNTIME, "cudaStreamSynchronize", t + 5000,
				    t + 8 * MS);
		}
		job__begin_step(j, at, &healthy);
		synth__step(&j->s, i, at, end);
		at = end;
	}
}

/* The waits cost less than the idle time that they cause. But the user can remove the waits. */
Test(findings_device, waits_that_a_device_is_idle_for_come_first)
{
	struct job j = job__new();

	idle_after_waits(&j, j.s.main);
	job__expect_two(&j, "synchronization", "device_idle", "see to these waits first");
}

/* The user cannot remove waits of the framework's engine. */
Test(findings_device, idle_beside_waits_of_an_engine)
{
	struct job j = job__new();

	idle_after_waits(&j, j.s.other);
	job__expect(&j, "device_idle", "busy with other things than launching");
}

/* The line of code that asks most often. */
Test(findings_device, a_line_of_code_where_stacks_were_recorded)
{
	struct job j = job__new();
	uint32_t line[2];
	uint64_t at = 0;

	for (uint32_t i = 0; i < 2; i++)
		line[i] = recording_writer__frame(
			j.s.w, 0, recording_writer__code(j.s.w, "/job/train.py", "<module>", 1),
			41 + i);
	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t end = at + step_plan__ms(&healthy) * MS;

		busy_between_waits(&j, at, end);
		for (uint64_t k = 0; k < 4; k++) {
			uint64_t t = at + (5 + k * 8) * MS;
			struct event e = synth__event(&j.s, j.s.main, CAT_OPERATOR, "aten::item", t,
						      t + 2 * MS + 1000);

			synth__span(&j.s, j.s.main, CAT_RUNTIME, "cudaStreamSynchronize", t + 1000,
				    t + 2 * MS);
			e.stack = line[k > 0];
			synth__write(&j.s, &e);
		}
		job__begin_step(&j, at, &healthy);
		synth__step(&j.s, i, at, end);
		at = end;
	}
	job__expect(&j, "synchronization", "most in aten::item at train.py:42 (4.0 a step)");
}

Test(findings_device, many_small_copies)
{
	struct job j = job__new();
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t end = at + step_plan__ms(&healthy) * MS;

		job__busy_device(&j, at, end);
		for (uint64_t k = 0; k < 30; k++) {
			uint64_t t = at + (5 + k) * MS;

			job__launch(&j, "cudaMemcpyAsync", CAT_MEMCPY, "Memcpy HtoD", t, t + MS / 5,
				    t, t + 900, 64);
			synth__span(&j.s, j.s.main, CAT_OPERATOR, "aten::copy_", t, t + MS / 2);
		}
		job__begin_step(&j, at, &healthy);
		synth__step(&j.s, i, at, end);
		at = end;
	}
	job__expect(&j, "small_copies", "most in aten::copy_");
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
		const uint64_t end = at + step_plan__ms(&healthy) * MS;
		uint64_t t = at + 3 * MS; /* in the forward pass */

		for (int k = 0; k < 3 && !p->no_pinned; k++, t += MS / 2)
			job__launch(j, "cudaMemcpyAsync", CAT_MEMCPY,
				    "Memcpy HtoD (Pinned -> Device)", t, t + 5000, t, t + 400000,
				    8000000);
		job__launch(j, "cudaMemcpyAsync", CAT_MEMCPY, "Memcpy HtoD (Pageable -> Device)", t,
			    t + p->ns, t, t + p->ns, p->bytes);
		synth__span(&j->s, j->s.main, CAT_OPERATOR, "aten::copy_", t, t + p->ns);
		job__busy_device(j, p->beside_kernels ? at : t + p->ns, end);
		job__begin_step(j, at, &healthy);
		synth__step(&j->s, i, at, end);
		at = end;
	}
}

Test(findings_device, pageable_copies_below_the_link)
{
	struct job j = job__new();

	copying_steps(&j, &(struct copy_plan){.bytes = 50000000, .ns = 10 * MS});
	job__expect(
		&j, "copy_bandwidth",
		"Large copies of pageable memory (HtoD) run at 5.0 GB/s, of page-locked at 20.0.");
}

Test(findings_device, what_better_copies_would_save)
{
	struct job j = job__new();

	copying_steps(&j, &(struct copy_plan){.bytes = 50000000, .ns = 10 * MS});
	job__expect(&j, "copy_bandwidth", "\"cost_ns\": 7500000"); /* 10 ms at 5 of 20 GB/s */
}

Test(findings_device, pageable_copies_at_the_links_rate)
{
	struct job j = job__new();

	copying_steps(&j, &(struct copy_plan){.bytes = 150000000, .ns = 10 * MS});
	job__expect(&j, NULL, NULL);
}

Test(findings_device, slow_copies_behind_kernels_cost_nothing)
{
	struct job j = job__new();

	copying_steps(
		&j, &(struct copy_plan){.bytes = 50000000, .ns = 10 * MS, .beside_kernels = true});
	job__expect(&j, NULL, NULL);
}

Test(findings_device, slow_copies_that_take_little)
{
	struct job j = job__new();

	copying_steps(&j, &(struct copy_plan){.bytes = 10000000, .ns = 2 * MS});
	job__expect(&j, NULL, NULL);
}

Test(findings_device, without_page_locked_copies_the_link_is_not_known)
{
	struct job j = job__new();

	copying_steps(&j, &(struct copy_plan){.bytes = 50000000, .ns = 10 * MS, .no_pinned = true});
	job__expect(&j, NULL, NULL);
}

/* PCIe of the fourth generation with so many lanes. */
static void expect_by_link(unsigned int lanes, const char *rule, const char *text)
{
	struct job j = job__new();
	char summary[160];

	snprintf(summary, sizeof(summary),
		 "{\"device\": {\"devices\": [{\"id\": 0, \"name\": \"GPU\", \"link_mts\": 16000, "
		 "\"link_width\": %u}]}}",
		 lanes);
	copying_steps(&j, &(struct copy_plan){.bytes = 50000000, .ns = 10 * MS, .no_pinned = true});
	job__expect_of(&j, summary, rule, text);
}

Test(findings_device, without_page_locked_copies_the_link_is_what_its_lanes_carry)
{
	expect_by_link(16, "copy_bandwidth", "run at 5.0 GB/s, of the link's 25.2.");
	expect_by_link(
		16, "copy_bandwidth",
		"PCIe of 16.0 GT/s and 16 lanes carries 31.5, of which copies of page-locked "
		"memory are taken to reach 80 %");
	expect_by_link(4, NULL, NULL); /* 6.3 GB/s: they are near enough */
}

static void expect_allocations(const char *take, const char *give, const char *key,
			       const char *what)
{
	struct job j = job__new();
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t end = at + step_plan__ms(&healthy) * MS;

		job__busy_device(&j, at, end - 4 * MS);
		for (uint64_t k = 0; k < 3; k++) {
			uint64_t t = at + (5 + k * 8) * MS;

			synth__span(&j.s, j.s.main, CAT_RUNTIME, k ? give : take, t, t + MS);
		}
		job__begin_step(&j, at, &healthy);
		synth__step(&j.s, i, at, end);
		at = end;
	}
	job__expect(&j, key, what);
}

Test(findings_device, memory_from_the_driver_in_each_step)
{
	expect_allocations("cudaMalloc", "cudaFree", "device_allocation", "3.0 times a step");
	expect_allocations("cuMemAlloc", "cuMemFree", "device_allocation", "3.0 times a step");
	/* from a pool, and of the host */
	expect_allocations("cudaMallocAsync", "cudaFreeAsync", NULL, NULL);
	expect_allocations("cudaMallocFromPoolAsync", "cudaFreeAsync", NULL, NULL);
	expect_allocations("cuMemAllocAsync", "cuMemFreeAsync", NULL, NULL);
	expect_allocations("cudaMallocHost", "cudaFreeHost", NULL, NULL);
}

Test(findings_device, communication_that_nothing_hides)
{
	struct job j = job__new();
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t end = at + step_plan__ms(&healthy) * MS;

		job__busy_device(&j, at, end - 25 * MS);
		job__launch(&j, "cudaLaunchKernel", CAT_KERNEL,
			    "ncclDevKernel_AllReduce_Sum_f32_RING_LL", end - 30 * MS,
			    end - 30 * MS + 5000, end - 25 * MS, end, 0);
		job__begin_step(&j, at, &healthy);
		synth__step(&j.s, i, at, end);
		at = end;
	}
	job__expect(&j, "exposed_communication", "25.00 ms of a step in collectives");
}

Test(findings_device, an_operator_that_launches_a_collective_is_none)
{
	struct job j = job__new();
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t end = at + step_plan__ms(&healthy) * MS;

		job__busy_device(&j, at, end - 25 * MS);
		synth__span(&j.s, j.s.main, CAT_OPERATOR, "c10d::allreduce_", end - 24 * MS,
			    end - 14 * MS);
		job__launch(&j, "cudaLaunchKernel", CAT_KERNEL,
			    "ncclDevKernel_AllReduce_Sum_f32_RING_LL", end - 20 * MS,
			    end - 20 * MS + 5000, end - 15 * MS, end, 0);
		job__begin_step(&j, at, &healthy);
		synth__step(&j.s, i, at, end);
		at = end;
	}
	job__expect(&j, "exposed_communication", "15.00 ms of a step in collectives");
}

Test(findings_device, copies_that_nothing_hides)
{
	struct job j = job__new();
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t end = at + step_plan__ms(&healthy) * MS;

		job__busy_device(&j, at, end - 20 * MS);
		job__launch(&j, "cudaMemcpyAsync", CAT_MEMCPY, "Memcpy HtoD (Pinned -> Device)",
			    end - 30 * MS, end - 30 * MS + 5000, end - 25 * MS, end, 50000000);
		job__begin_step(&j, at, &healthy);
		synth__step(&j.s, i, at, end);
		at = end;
	}
	job__expect(&j, "exposed_copies",
		    "20.00 ms of a step in copies between host and device while "
		    "no kernel runs; 50.0 MB a step");
}

Test(findings_device, communication_of_the_host)
{
	struct job j = job__new();
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t end = at + step_plan__ms(&healthy) * MS;
		struct event e = synth__event(&j.s, j.s.main, CAT_COMMUNICATION, "gloo:all_reduce",
					      end - 60 * MS, end - 10 * MS);

		e.type = EVENT_ASYNC;
		job__begin_step(&j, at, &healthy);
		synth__write(&j.s, &e);
		job__sched(&j, j.s.main, i, SCHED_RUN, 65);
		job__sched(&j, j.s.main, i, SCHED_BLOCKED, 30);
		synth__step(&j.s, i, at, end);
		at = end;
	}
	job__expect(&j, "exposed_communication",
		    "30.00 ms of a step in collectives while the training thread is blocked");
}
