// SPDX-License-Identifier: BSD-2-Clause
/* Findings about memory: spikes, and reserved memory without use. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include "finding_job.h"

TestSuite(findings_memory);

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
		end = job__begin_step(j, at, &healthy);
		synth__step(&j->s, i, at, end);
		at = end;
	}
}

Test(findings_memory, a_spike_of_memory)
{
	struct job j = job__new();

	memory_steps(&j, 400 * MB, 3);
	job__expect(
		&j, "memory_peak",
		"500.0 MB more than at its begin, and 100.0 MB or less but for 2.999 ms; 400.0 MB "
		"of the peak by aten::cross_entropy_loss; 10 of 10 steps have such a spike");
}

Test(findings_memory, memory_that_grows_and_goes_is_no_spike)
{
	struct job j = job__new();

	memory_steps(&j, 0, 3);
	job__expect(&j, NULL, NULL);
}

Test(findings_memory, memory_that_is_held_for_long_is_no_spike)
{
	struct job j = job__new();

	memory_steps(&j, 400 * MB, 20);
	job__expect(&j, NULL, NULL);
}

Test(findings_memory, a_small_spike_is_none)
{
	struct job j = job__new();

	memory_steps(&j, 60 * MB, 3);
	job__expect(&j, NULL, NULL);
}

Test(findings_memory, a_spike_in_one_step_is_none)
{
	struct job j = job__new();
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t end;

		if (i == 4) {
			synth__memory(&j.s, j.s.main, at + 42 * MS, 0x9000, 400 * MB);
			synth__memory(&j.s, j.s.main, at + 44 * MS, 0x9000, 0);
		}
		end = job__begin_step(&j, at, &healthy);
		synth__step(&j.s, i, at, end);
		at = end;
	}
	job__expect(&j, NULL, NULL);
}

/* On a device of 80 GB. */
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
		end = job__begin_step(j, at, &healthy);
		synth__step(&j->s, i, at, end);
		at = end;
	}
}

#define GB 1000000000ull
static const char device_80_gb[] =
	"{\"device\": {\"devices\": [{\"id\": 0, \"name\": \"GPU\", \"memory_bytes\": "
	"80000000000}]}}";

Test(findings_memory, memory_that_is_reserved_and_not_used)
{
	struct job j = job__new();

	reserving_steps(&j, 20 * GB, 60 * GB);
	job__expect_of(
		&j, device_80_gb, "memory_unused",
		"The allocator holds 60.0 GB of GPU0, and at most 20.0 GB of it were in use.");
}

Test(findings_memory, memory_of_a_small_device_is_told_in_what_fits)
{
	static const char device_1_gb[] = "{\"device\": {\"devices\": [{\"id\": 0, \"name\": "
					  "\"GPU\", \"memory_bytes\": 1000000000}]}}";
	struct job j = job__new();

	reserving_steps(&j, 33 * MB, 600 * MB);
	job__expect_of(
		&j, device_1_gb, "memory_unused",
		"The allocator holds 600.0 MB of GPU0, and at most 33.0 MB of it were in use.");
}

Test(findings_memory, memory_that_is_reserved_and_used_or_not_missed)
{
	struct job used = job__new(), free_device = job__new(), unknown = job__new();

	reserving_steps(&used, 50 * GB, 60 * GB);
	job__expect_of(&used, device_80_gb, NULL, NULL);
	reserving_steps(&free_device, 10 * GB, 30 * GB);
	job__expect_of(&free_device, device_80_gb, NULL, NULL);
	reserving_steps(&unknown, 20 * GB, 60 * GB);
	job__expect_of(&unknown, "{}", NULL, NULL);
}

Test(findings_memory, what_costs_memory_comes_after_what_costs_time)
{
	static const struct report_opts opts = {.style = {.format = TABLE_JSON}};
	struct job j = job__new();
	char *printed, *time, *memory;

	for (uint64_t i = 0; i < STEPS; i++)
		job__sched(&j, j.s.main, i, SCHED_RUNNABLE, 30);
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
