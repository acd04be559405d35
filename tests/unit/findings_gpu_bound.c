// SPDX-License-Identifier: BSD-2-Clause
/* A device that is behind its host: its limit must be found, and not be reported as something
 * else. */
#include <criterion/criterion.h>
#include "common/util.h"
#include "finding_job.h"

TestSuite(findings_gpu_bound);

#define AHEAD 16 /* number of steps by which the host is ahead of the device */

/*
 * Steps of 2 ms, each of which launches 10 ms of kernels; one of 16 then waits for the device, in
 * the next step's time outside of the phases. Device work of the steps before the first is under
 * way.
 */
static struct job ahead(const char *call, uint64_t steps)
{
	static const struct step_plan plan = {0, 1, 1, 0, 0};
	struct job j = job__new();
	uint64_t at = 200 * MS, device_at = 200 * MS + 13000;

	synth__kernel(&j.s, j.stream, CAT_KERNEL, "before", 999999, 0, device_at);
	for (uint64_t i = 0; i < steps; i++) {
		const bool waits = i % AHEAD == AHEAD - 1;
		const uint64_t begin = at;

		if (waits) {
			synth__span(&j.s, j.s.main, CAT_RUNTIME, call, at, device_at);
			at = device_at + 1000;
		}
		job__launch(&j, "cudaLaunchKernel", CAT_KERNEL, "gemm", at + 5000, at + 10000,
			    device_at > at ? device_at : at + 12000,
			    (device_at > at ? device_at : at + 12000) + 10 * MS, 0);
		device_at = (device_at > at ? device_at : at + 12000) + 10 * MS;
		at = job__begin_step(&j, at, &plan);
		synth__step(&j.s, i, begin, at);
	}
	return j;
}

Test(findings_gpu_bound, a_host_that_waits_for_its_device)
{
	struct job j = ahead("cudaDeviceSynchronize", 64);

	job__expect(&j, "gpu_bound",
		    "GPU0 is busy for 100.0 % of the steps; the training thread waits");
}

Test(findings_gpu_bound, calls_that_are_blocked_are_waits_too)
{
	struct job j = ahead("cudaLaunchKernel", 64);

	job__expect(&j, "gpu_bound", "most in cudaLaunchKernel");
	j = ahead("cudaMemcpy", 64);
	job__expect(&j, "gpu_bound", "most in cudaMemcpy");
	j = ahead("cudaMemcpyAsync", 64);
	job__expect(&j, "gpu_bound", "most in cudaMemcpyAsync");
}

/* The device still works for 150 ms at what the window has no record of, as the first kernel that
 * it has begins so long after its launch. The wait of step 4 is no slow step. */
Test(findings_gpu_bound, what_was_launched_before_the_window_is_waited_for)
{
	static const struct step_plan plan = {0, 1, 1, 0, 0};
	struct job j = job__new();
	uint64_t at = 0, device_at = 150 * MS;

	for (uint64_t i = 0; i < 64; i++) {
		const uint64_t begin = at;

		if (i == 4) {
			synth__span(&j.s, j.s.main, CAT_RUNTIME, "cudaDeviceSynchronize", at,
				    device_at);
			at = device_at + 1000;
		}
		if (device_at < at + 12000)
			device_at = at + 12000;
		job__launch(&j, "cudaLaunchKernel", CAT_KERNEL, "gemm", at + 5000, at + 10000,
			    device_at, device_at + 2 * MS, 0);
		device_at += 2 * MS;
		at = job__begin_step(&j, at, &plan);
		synth__step(&j.s, i, begin, at);
	}
	/* 150 ms in 64 steps. */
	job__expect(&j, "gpu_bound", "the training thread waits 2.344 ms of a step");
}

/* The steps' thread waits for threads of its backward pass, from 42 ms to 87 ms of each step. */
static struct job blocked_on_another_thread(uint64_t begin_ms, uint64_t end_ms)
{
	struct job j = job__torch();
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		const uint64_t end = at + step_plan__ms(&healthy) * MS;

		job__busy_device(&j, at, end);
		synth__span(&j.s, j.s.other, CAT_RUNTIME, "cudaLaunchKernel", at + begin_ms * MS,
			    at + end_ms * MS);
		job__begin_step(&j, at, &healthy);
		synth__step(&j.s, i, at, end);
		at = end;
	}
	return j;
}

Test(findings_gpu_bound, a_backward_pass_on_another_thread_that_is_blocked)
{
	struct job j = blocked_on_another_thread(43, 83);

	job__expect(&j, "gpu_bound", "the training thread waits 40.00 ms of a step");
	j = blocked_on_another_thread(3, 40);
	job__expect(&j, NULL, NULL); /* whatever that thread is, the steps do not wait for it */
}

/* No other call: what it waits for is not known. Nor is there anything to gain, as the device works
 * all the time. */
Test(findings_gpu_bound, other_calls_are_none)
{
	struct job j = ahead("cudaGetDeviceProperties", 64);

	job__expect(&j, NULL, NULL);
}

Test(findings_gpu_bound, no_share_is_of_what_the_steps_launched)
{
	static const struct report_opts csv = {.style = {.format = TABLE_CSV}};
	struct job j = ahead("cudaDeviceSynchronize", 40);

	synth__open(&j.s, "{}");
	/* They launch 400 ms of kernels and take 328.027; after each of two waits the device has
	 * nothing for 13 us. */
	EXPECT_LINES(&j.s, "device", &csv, "GPU0,99.9920738,0");
	synth__free(&j.s);
}

/* A wait for a copy is no wait for a kernel, which runs at the same time. */
Test(findings_gpu_bound, a_call_that_copies_waits_until_the_copy_begins)
{
	struct job j = job__new();
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		const uint64_t end = at + step_plan__ms(&healthy) * MS;

		job__busy_device(&j, at, end);
		job__launch(&j, "cudaMemcpy", CAT_MEMCPY, "Memcpy HtoD", at + 3 * MS, at + 33 * MS,
			    at + 4 * MS, at + 33 * MS, 100);
		job__begin_step(&j, at, &healthy);
		synth__step(&j.s, i, at, end);
		at = end;
	}
	job__expect(&j, NULL, NULL);
}

/* In the device's collectives the rank waits for other processes. */
Test(findings_gpu_bound, waiting_for_a_collective_is_none)
{
	struct job j = job__new();
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		const uint64_t end = at + step_plan__ms(&healthy) * MS;

		job__launch(&j, "cudaLaunchKernel", CAT_KERNEL,
			    "ncclDevKernel_AllReduce_Sum_f32_RING_LL", at, at + 5000, at + 5000,
			    end, 0);
		synth__span(&j.s, j.s.main, CAT_RUNTIME, "cudaStreamSynchronize", at + 5 * MS,
			    end - 10 * MS);
		job__begin_step(&j, at, &healthy);
		synth__step(&j.s, i, at, end);
		at = end;
	}
	job__expect(&j, NULL, NULL);
}
