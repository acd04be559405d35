// SPDX-License-Identifier: BSD-2-Clause
/* What is said of a trace that not each reader bears. */
#include <criterion/criterion.h>
#include "cli/trace_readers.h"

static const char *said(const char *dialect, uint64_t device_events, uint64_t negative)
{
	static char text[512];
	const struct export_result result = {
		.events = 9, .device_events = device_events, .negative_in_hta = negative};

	trace_readers__text("run.ptrec", dialect, &result, text, sizeof(text));
	return text;
}

Test(trace_readers, a_trace_without_device_suits_all)
{
	cr_expect_str_eq(said(NULL, 0, 0), "");
	cr_expect_str_eq(said("tb", 0, 0), "");
}

Test(trace_readers, device_time_needs_the_other_dialect)
{
	static const char *const tb = "torch_tb_profiler 0.4 shows no device time of operators in "
				      "this trace; the one for "
				      "it: proftrace export --dialect tb run.ptrec";

	cr_expect_str_eq(said(NULL, 3, 0), tb);
	cr_expect_str_eq(said("kineto", 3, 0), tb);
	cr_expect_str_eq(said("tb", 3, 0),
			 "HTA reads no more than steps and call graph of this dialect; the trace "
			 "for it: proftrace export run.ptrec");
}

Test(trace_readers, what_HTA_makes_negative_is_counted)
{
	cr_expect_str_eq(said(NULL, 3, 2),
			 "HTA rounds 2 events of the device to -1 us, unless its environment has "
			 "HTA_DISABLE_NS_ROUNDING=1. torch_tb_profiler 0.4 shows no device time of "
			 "operators in this trace; the one for it: proftrace export --dialect tb "
			 "run.ptrec");
}
