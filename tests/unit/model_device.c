// SPDX-License-Identifier: BSD-2-Clause
/* Device events find their launch, and memory events their span. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include "model_synth.h"

TestSuite(model_device);

Test(model_device, the_outermost_runtime_call_launches)
{
	struct synth s = synth__new("{}");
	uint32_t stream = synth__stream(&s, 0, 7);
	struct event e = synth__event(&s, s.main, CAT_DRIVER, "cuLaunchKernel", 22, 24);

	e.id = 5;
	synth__write(&s, &e);
	synth__launch(&s, s.main, 5, 20, 26);
	synth__launch(&s, s.main, 6, 28, 29);
	synth__span(&s, s.main, CAT_OPERATOR, "mm", 10, 40);
	synth__kernel(&s, stream, CAT_KERNEL, "gemm", 5, 30, 50);
	synth__kernel(&s, stream, CAT_MEMCPY, "copy", 6, 50, 53);
	synth__kernel(&s, stream, CAT_KERNEL, "nobody's", 77, 60, 61);
	synth__step(&s, 0, 0, 100);
	synth__expect_tree(
		&s, "step 0 [0,100) cpu 100 D 0 F 0 B 0 O 0 other 100\n"
		    " track 1\n"
		    "  Operator mm [10,40) cpu 30 self 23 device 23 kernel 20\n"
		    "    Runtime launch [20,26) cpu 6 self 4 device 20 kernel 20\n"
		    "      Runtime cuLaunchKernel [22,24) cpu 2 self 2\n"
		    "    Runtime launch [28,29) cpu 1 self 1 device 3 kernel 0\n"
		    " track 3\n"
		    "  Kernel gemm [30,50) cpu 0 self 0 device 20 kernel 20 by launch at 20\n"
		    "  Memcpy copy [50,53) cpu 0 self 0 device 3 kernel 0 by launch at 28\n"
		    "no step\n"
		    " track 3\n"
		    "  Kernel nobody's [60,61) cpu 0 self 0 device 1 kernel 1\n");
}

Test(model_device, a_device_event_may_come_a_step_late)
{
	struct synth s = synth__new("{}");
	uint32_t stream = synth__stream(&s, 1, 7);

	synth__launch(&s, s.main, 5, 20, 26);
	synth__step(&s, 0, 0, 100);
	synth__span(&s, s.main, CAT_OPERATOR, "next", 110, 120);
	synth__step(&s, 1, 100, 200);
	synth__kernel(&s, stream, CAT_KERNEL, "late", 5, 90, 150);
	synth__step(&s, 2, 200, 300);
	synth__expect_tree(
		&s, "step 0 [0,100) cpu 100 D 0 F 0 B 0 O 0 other 100\n"
		    " track 1\n"
		    "  Runtime launch [20,26) cpu 6 self 6 device 60 kernel 60\n"
		    " track 3\n"
		    "  Kernel late [90,150) cpu 0 self 0 device 60 kernel 60 by launch at 20\n"
		    "step 1 [100,200) cpu 100 D 0 F 0 B 0 O 0 other 100\n"
		    " track 1\n"
		    "  Operator next [110,120) cpu 10 self 10\n"
		    "step 2 [200,300) cpu 100 D 0 F 0 B 0 O 0 other 100\n");
}

Test(model_device, a_call_may_go_on_for_steps_of_another_thread)
{
	struct synth s = synth__new("{}");
	uint32_t stream = synth__stream(&s, 1, 7);

	synth__launch(&s, s.other, 5, 20, 330);
	synth__span(&s, s.other, CAT_OPERATOR, "linear", 10, 340);
	synth__kernel(&s, stream, CAT_KERNEL, "gemm", 5, 30, 50);
	for (uint64_t i = 0; i < 4; i++)
		synth__step(&s, i, 100 * i, 100 * i + 100);
	synth__expect_tree(
		&s, "step 0 [0,100) cpu 100 D 0 F 0 B 0 O 0 other 100\n"
		    "step 1 [100,200) cpu 100 D 0 F 0 B 0 O 0 other 100\n"
		    "step 2 [200,300) cpu 100 D 0 F 0 B 0 O 0 other 100\n"
		    "step 3 [300,400) cpu 100 D 0 F 0 B 0 O 0 other 100\n"
		    " track 2\n"
		    "  Operator linear [10,340) cpu 330 self 20 device 20 kernel 20\n"
		    "    Runtime launch [20,330) cpu 310 self 310 device 20 kernel 20\n"
		    " track 3\n"
		    "  Kernel gemm [30,50) cpu 0 self 0 device 20 kernel 20 by launch at 20\n");
}

Test(model_device, memory_belongs_to_the_innermost_span)
{
	struct synth s = synth__new("{}");

	synth__memory(&s, s.main, 5, 0x10, 64);
	synth__memory(&s, s.main, 15, 0x20, 100);
	synth__span(&s, s.main, CAT_OPERATOR, "empty", 12, 18);
	synth__memory(&s, s.main, 20, 0x30, 7);
	synth__memory(&s, s.main, 22, 0x20, 0);
	synth__memory(&s, s.main, 24, 0x99, 0);
	synth__span(&s, s.main, CAT_OPERATOR, "mm", 10, 30);
	synth__step(&s, 0, 0, 40);
	synth__expect_tree(&s, "step 0 [0,40) cpu 40 D 0 F 0 B 0 O 0 other 40\n"
			       " track 1\n"
			       "  Operator mm [10,30) cpu 20 self 14 bytes 7 self -93\n"
			       "    OperatorInner empty [12,18) cpu 6 self 6 bytes 100 self 100\n"
			       " memory 5 64 -\n"
			       " memory 15 100 empty\n"
			       " memory 20 7 mm\n"
			       " memory 22 -100 mm\n"
			       " memory 24 0 mm\n");
}

Test(model_device, memory_in_a_span_that_crosses_a_step_waits_for_it)
{
	struct synth s = synth__new("{}");

	synth__memory(&s, s.other, 90, 0x10, 64);
	synth__step(&s, 0, 0, 100);
	synth__span(&s, s.other, CAT_OPERATOR, "mm", 80, 120);
	synth__step(&s, 1, 100, 200);
	synth__expect_tree(&s, "step 0 [0,100) cpu 100 D 0 F 0 B 0 O 0 other 100\n"
			       "step 1 [100,200) cpu 100 D 0 F 0 B 0 O 0 other 100\n"
			       " track 2\n"
			       "  Operator mm [80,120) cpu 40 self 40 bytes 64 self 64\n"
			       " memory 90 64 mm\n");
}

/* The device's clock is ahead: by at least 100 us, as the wait shows, and by at most 130 us. */
Test(model_device, a_wait_that_ends_before_its_work_tells_of_the_clock)
{
	struct synth s = synth__new("{}");
	uint32_t stream = synth__stream(&s, 0, 7);
	struct model_stats stats = {};
	const struct model_opts opts = {.stats = &stats};
	struct event wait =
		synth__event(&s, s.main, CAT_RUNTIME, "cudaDeviceSynchronize", 300000, 400000);

	wait.id = 7;
	synth__launch(&s, s.main, 5, 100000, 110000);
	synth__launch(&s, s.main, 6, 120000, 130000);
	synth__write(&s, &wait);
	synth__kernel(&s, stream, CAT_KERNEL, "gemm", 5, 230000, 350000);
	synth__kernel(&s, stream, CAT_KERNEL, "gemm", 6, 350000, 500000);
	synth__launch(&s, s.main, 8, 410000, 420000);
	synth__kernel(&s, stream, CAT_KERNEL, "gemm", 8, 600000, 700000);
	synth__step(&s, 0, 0, 1000000);
	synth__open(&s, NULL);
	free(synth__tree(&s, &opts));
	cr_expect_eq(stats.waits, 1);
	cr_expect_eq(stats.after_wait, 1);
	cr_expect_eq(stats.after_wait_ns, 100000);
	cr_expect_eq(stats.least_delay_ns, 130000);
	synth__free(&s);
}

/* The call waits only for the current device. Its thread may have launched nothing there. */
Test(model_device, a_wait_in_a_process_with_two_devices_tells_nothing)
{
	struct synth s = synth__new("{}");
	uint32_t one = synth__stream(&s, 0, 7), two = synth__stream(&s, 1, 7);
	struct model_stats stats = {};
	const struct model_opts opts = {.stats = &stats};

	synth__launch(&s, s.main, 5, 100000, 110000);
	synth__launch(&s, s.main, 6, 120000, 130000);
	synth__span(&s, s.main, CAT_RUNTIME, "cudaDeviceSynchronize", 300000, 400000);
	synth__kernel(&s, one, CAT_KERNEL, "gemm", 5, 230000, 350000);
	synth__kernel(&s, two, CAT_KERNEL, "gemm", 6, 350000, 500000);
	synth__step(&s, 0, 0, 1000000);
	synth__open(&s, NULL);
	free(synth__tree(&s, &opts));
	cr_expect_eq(stats.after_wait, 0);
	synth__free(&s);
}

/* Expects that device event `number` begins at ts_ns. */
static void expect_begin(const struct synth *s, int number, uint64_t ts_ns)
{
	struct recording_cursor *c;
	struct event e = {};

	cr_assert_eq(recording_cursor__open(s->r, &c), 0);
	for (int i = 0; i <= number; i += e.type == EVENT_DEVICE)
		cr_assert_eq(recording_cursor__next(c, &e), 1);
	cr_expect_eq(e.ts_ns, ts_ns);
	cr_expect_eq(e.dur_ns, 2000);
	recording_cursor__close(c);
}

/* The recording says that device 0's clock is 1 us ahead. Its work moves, and records of waits do
 * not. */
Test(model_device, a_corrected_clock_moves_the_devices_work_alone)
{
	struct synth s = synth__new("{}");
	uint32_t stream = synth__stream(&s, 0, 7), other = synth__stream(&s, 1, 7);

	synth__launch(&s, s.main, 5, 1000, 1500);
	synth__launch(&s, s.main, 6, 1600, 1700);
	synth__kernel(&s, stream, CAT_KERNEL, "gemm", 5, 3000, 5000);
	synth__kernel(&s, stream, CAT_SYNC, "Context Sync", 5, 3000, 5000);
	synth__kernel(&s, other, CAT_KERNEL, "gemm", 6, 3000, 5000);
	synth__open(&s, "{\"device\": {\"clocks\": [{\"device\": 0, \"at_ns\": 0, \"shift_ns\": "
			"-1000, \"ppm\": 0.0}]}}");
	expect_begin(&s, 0, 2000);
	expect_begin(&s, 1, 3000);
	expect_begin(&s, 2, 3000);
	synth__free(&s);
}
