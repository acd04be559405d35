// SPDX-License-Identifier: BSD-2-Clause
/* What is printed about a device of which only the calls are known. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include "model_synth.h"

static void call(struct synth *s, enum span_category cat, const char *name, uint64_t begin,
		 int64_t bytes, uint16_t flags, const char *kernel)
{
	struct event e = synth__event(s, s->main, cat, name, begin, begin + 10);
	struct event_call args = {.stream = EVENT_NO_ID};

	if (kernel)
		args.kernel = recording_writer__name(s->w, CAT_KERNEL, kernel, NULL);
	e.id = EVENT_NO_ID;
	e.value = bytes;
	e.flags = flags;
	e.args = &args;
	e.args_len = sizeof(args);
	synth__write(s, &e);
}

static struct synth calls(void)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");

	call(&s, CAT_RUNTIME, "cudaLaunchKernel", 10, 0, 0, "_Z3addPf");
	call(&s, CAT_RUNTIME, "cudaLaunchKernel", 30, 0, 0, "_Z3addPf");
	call(&s, CAT_RUNTIME, "cudaLaunchKernel", 50, 0, 0, NULL);
	call(&s, CAT_RUNTIME, "cudaMemcpyAsync", 70, 1024, 0, NULL);
	call(&s, CAT_RUNTIME, "cudaMalloc", 90, 4096, 0, NULL);
	call(&s, CAT_RUNTIME, "cudaMalloc", 110, 1 << 20, EVENT_FAILED, NULL);
	synth__step(&s, 0, 0, 200);
	return s;
}

static char *report(struct synth *s)
{
	static const struct report_opts ns = {.style.unit = UNIT_NS, .tables = "calls"};

	return synth__report(s, &ns);
}

Test(report_calls, calls_and_the_kernels_they_launch)
{
	struct synth s = calls();
	char *text;

	synth__open(&s, "{}");
	text = report(&s);
	synth__expect_line(text, "cudaLaunchKernel          3       30  15.00  10  10  10    "
				 "             -         -         0");
	synth__expect_line(text, "  _Z3addPf                2       20  66.67  10  10  10    "
				 "             -         -         0");
	synth__expect_line(text, "cudaMemcpyAsync           1       10  5.00  10  10  10     "
				 "             -         1.00 KiB  0");
	/* memory that was not allocated has no size */
	synth__expect_line(text, "cudaMalloc                2       20  10.00  10  10  10    "
				 "             -         4.00 KiB  1");
	free(text);
	synth__free(&s);
}

Test(report_calls, by_default_only_where_no_device_told_itself)
{
	static const struct report_opts ns = {.style.unit = UNIT_NS};

	for (int device = 0; device < 2; device++) {
		struct synth s = calls();
		char *text;

		if (device)
			synth__kernel(&s, synth__stream(&s, 0, 7), CAT_KERNEL, "add", 1, 20, 30);
		synth__open(&s, "{}");
		text = synth__report(&s, &ns);
		cr_expect_eq(!!strstr(text, "Device Call Summary"), !device, "%s", text);
		free(text);
		synth__free(&s);
	}
}

Test(report_calls, device_time_where_it_is_known)
{
	struct synth s = calls();
	struct event launch = synth__event(&s, s.main, CAT_RUNTIME, "cudaGraphLaunch", 130, 140);
	char *text;

	launch.id = 1;
	synth__write(&s, &launch);
	synth__kernel(&s, synth__stream(&s, 0, 7), CAT_KERNEL, "add", 1, 150, 157);
	synth__kernel(&s, synth__stream(&s, 0, 7), CAT_KERNEL, "add", 1, 160, 165);
	synth__open(&s, "{}");
	text = report(&s);
	synth__expect_line(text, "cudaGraphLaunch           1       10  5.00  10  10  10     "
				 "             12        -         0");
	synth__expect_line(text, "cudaMemcpyAsync           1       10  5.00  10  10  10     "
				 "             0         1.00 KiB  0");
	free(text);
	synth__free(&s);
}
