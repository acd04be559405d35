// SPDX-License-Identifier: BSD-2-Clause
/* Tables with data that a training on the CPU does not have: devices, memory, scheduling, threads,
 * damage. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/err.h"
#include "model_synth.h"
#include "recording_sample.h"

TestSuite(report_others);

static const struct report_opts ns = {.style.unit = UNIT_NS};

/* Forward launches 30 from the main thread, backward 40 from another, 5 are outside the phases. */
static struct synth gpu(void)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");
	uint32_t stream = synth__stream(&s, 2, 7);

	synth__span(&s, s.main, CAT_DATALOADER, "next", 0, 10);
	synth__launch(&s, s.main, 1, 20, 22);
	synth__launch(&s, s.main, 2, 23, 24);
	synth__span(&s, s.main, CAT_OPERATOR, "mm", 20, 30);
	synth__span(&s, s.main, CAT_BACKWARD, "backward", 40, 60);
	synth__launch(&s, s.other, 3, 45, 50);
	synth__span(&s, s.other, CAT_BACKWARD_NODE, "node", 44, 55);
	synth__launch(&s, s.main, 4, 70, 71);
	synth__kernel(&s, stream, CAT_KERNEL, "gemm", 1, 25, 55);
	synth__kernel(&s, stream, CAT_MEMCPY, "copy", 2, 55, 57);
	synth__kernel(&s, stream, CAT_KERNEL, "gemm", 3, 60, 100);
	synth__kernel(&s, stream, CAT_KERNEL, "last", 4, 100, 105);
	synth__step(&s, 0, 0, 200);
	synth__open(&s, "{}");
	return s;
}

Test(report_others, gpu_time_is_what_a_phase_launched)
{
	struct synth s = gpu();

	EXPECT_LINES(&s, "device,overview,model", &ns, "GPU2                            37.50",
		     "ProfileStep      1       200  100.00  200  200  200            "
		     "75  100.00  75  75  75",
		     "  Dataloader     1       10  5.00  10  10  10                  "
		     "0  0.00  0  0  0",
		     "  Forward        1       30  15.00  30  30  30                 "
		     "30  40.00  30  30  30",
		     "  Backward       1       20  10.00  20  20  20                 "
		     "40  53.33  40  40  40",
		     "  Others         -       140  70.00  -  -  -                   "
		     "5  6.67  -  -  -",
		     "  Kernel                   3           -                37.50       75",
		     "  Memcpy                   1           -                1.00        2");
	synth__free(&s);
}

Test(report_others, operators_show_what_they_launched)
{
	struct synth s = gpu();
	const struct report_opts detail = {
		.style.unit = UNIT_NS, .op_detail = true, .sort_word = "gpu_total"};

	EXPECT_LINES(&s, "operator", &detail,
		     "node                                                  1       "
		     "11  52.38  11  11  11                 40  55.56  40  40  40",
		     "mm                                                    1       "
		     "10  47.62  10  10  10                 32  44.44  32  32  32",
		     "  gemm                                                1       "
		     "-  -  -  -  -                         30  93.75  30  30  30",
		     "  copy                                                1       "
		     "-  -  -  -  -                         2  6.25  2  2  2");
	synth__free(&s);
}

Test(report_others, without_a_device_there_are_no_gpu_columns)
{
	struct synth s = synth__new("{}");
	char *text;

	synth__span(&s, s.main, CAT_OPERATOR, "mm", 20, 30);
	synth__step(&s, 0, 0, 100);
	synth__open(&s, "{}");
	text = synth__tables(&s, "device,overview,model,operator", &ns);
	cr_expect_null(strstr(text, "GPU"));
	free(text);
	synth__free(&s);
}

static void expect_section(const char *text, const char *title)
{
	const char *at = strstr(text, title);

	cr_assert_not_null(at, "no '%s' in:\n%s", title, text);
	cr_expect(at[-1] == '-' && at[strlen(title)] == '-', "%s", text);
}

Test(report_others, threads_and_processes_are_told_apart)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");
	const struct report_opts by_thread = {.style.unit = UNIT_NS, .by_thread = true};
	uint32_t worker = synth__thread(&s, 200, 200, "pt_data_worker");
	char *text;

	synth__span(&s, s.main, CAT_OPERATOR, "mm", 20, 30);
	synth__span(&s, s.other, CAT_OPERATOR, "mm", 20, 26);
	synth__span(&s, worker, CAT_OPERATOR, "stack", 20, 24);
	synth__step(&s, 0, 0, 100);
	synth__open(&s, "{}");
	text = synth__tables(&s, "operator", &ns);
	expect_section(text, "Thread: All threads merged");
	expect_section(text, "Other processes: All threads merged");
	synth__expect_line(text, "mm                     2       16  100.00  8  10  6");
	free(text);
	text = synth__tables(&s, "operator", &by_thread);
	expect_section(text, "Thread: other (101)");
	free(text);
	EXPECT_LINES(
		&s, "operator", &by_thread,
		"mm                                                    1       "
		"10  100.00  10  10  10",
		"mm                                                    1       6  100.00  6  6  6",
		"stack                                                 1       4  100.00  4  4  4");
	/* The worker's operators are in the Operator table only. */
	EXPECT_LINES(&s, "overview", &ns,
		     "  Operator                 2           10               10.00");
	synth__free(&s);
}

Test(report_others, memory)
{
	struct synth s = synth__new("{}");

	synth__memory(&s, s.main, 5, 0x10, 64);
	synth__memory(&s, s.main, 15, 0x20, 2048);
	synth__memory(&s, s.main, 16, 0x30, 1024);
	synth__memory(&s, s.main, 17, 0x20, 0);
	synth__span(&s, s.main, CAT_OPERATOR, "mm", 10, 30);
	synth__memory(&s, s.main, 35, 0x99, 0);
	synth__step(&s, 0, 0, 40);
	synth__open(&s, "{}");
	EXPECT_LINES(
		&s, NULL, &ns,
		"mm                                                  2                 1           "
		" "
		"    "
		"3.00 KiB         2.00 KiB         1.00 KiB",
		"(outside any event)                                 1                 1           "
		" "
		"    "
		"64 B             0 B              64 B",
		"CPU: Peak Allocated Memory: 3.06 KiB (3136 bytes) above what was allocated when "
		"the window "
		"opened",
		"CPU: the size of 1 free is not known: allocated before the window");
	synth__free(&s);
}

Test(report_others, what_frees_no_block_is_no_free)
{
	struct synth s = synth__new("{}");
	const struct report_opts opts = {.tables = "memory", .style = {.format = TABLE_JSON}};
	char *text;

	synth__memory(&s, s.main, 15, 0x20, 2048);
	synth__memory(&s, s.main, 16, 0, 0);
	synth__span(&s, s.main, CAT_OPERATOR, "mm", 10, 30);
	synth__step(&s, 0, 0, 40);
	synth__open(&s, "{}");
	text = synth__report(&s, &opts);
	cr_expect_not_null(strstr(text, "\"free_cnt\": 0"), "%s", text);
	cr_expect_null(strstr(text, "is not known"), "%s", text);
	free(text);
	synth__free(&s);
}

/* The allocator of shared memory counts only its own memory. */
Test(report_others, peak_of_a_host_with_two_allocators)
{
	struct synth s = synth__new("{}");
	const struct event_memory args = {
		.total_allocated = 0, .total_reserved = 1000, .device_index = -1};
	const struct event shared = {.ts_ns = 7,
				     .id = 0x40,
				     .value = 1000,
				     .track = s.main,
				     .type = EVENT_MEMORY,
				     .args_len = sizeof(args),
				     .args = &args};

	synth__memory(&s, s.main, 5, 0x10, 64);
	synth__write(&s, &shared);
	synth__step(&s, 0, 0, 40);
	synth__open(&s, "{}");
	EXPECT_LINES(&s, "memory", &ns,
		     "CPU: Peak Allocated Memory: 1.04 KiB (1064 bytes) above what was allocated "
		     "when the "
		     "window opened");
	synth__free(&s);
}

Test(report_others, sched)
{
	struct synth s = synth__new("{}");
	uint32_t futex = recording_writer__name(s.w, CAT_NONE, "futex", NULL);
	const struct sched_row rows[] = {
		{s.main, 0, 0, 60, 3, SCHED_RUN},
		{s.main, 0, 1, 50, 2, SCHED_RUN},
		{s.main, 0, 0, 10, 1, SCHED_RUNNABLE},
		{s.main, futex, 0, 30, 2, SCHED_BLOCKED},
		{s.main, futex, 1, 50, 1, SCHED_BLOCKED},
		{s.main, 0, EVENT_NO_ID, 999, 1, SCHED_RUN},
		{s.other, 0, 0, 100, 1, SCHED_BLOCKED},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		cr_assert_eq(recording_writer__sched(s.w, &rows[i]), 0);
	synth__step(&s, 0, 0, 100);
	synth__step(&s, 1, 100, 200);
	synth__open(&s, "{}");
	EXPECT_LINES(&s, NULL, &ns,
		     "main (100)                      9          200         100         100.00",
		     "  run                           5          110         55          55.00",
		     "  runnable                      1          10          5           5.00",
		     "  blocked                       3          80          40          40.00",
		     "    futex                       3          80          40          40.00",
		     "other (101)                     1          100         50          100.00");
	EXPECT_LINES(&s, "sched_steps", &ns,
		     "0       main (100)            60          10          30          futex      "
		     "      "
		     "   30",
		     "0       other (101)           0           0           100         -          "
		     "      "
		     "   -",
		     "1       main (100)            50          0           50          futex      "
		     "      "
		     "   50");
	synth__free(&s);
}

Test(report_others, an_empty_recording_says_so)
{
	struct synth s = synth__new("{}");

	synth__open(&s, "{}");
	EXPECT_LINES(&s, NULL, &ns, "window: - (nothing was recorded)", "steps: 0",
		     "events lost: 0", "step rule: - (no step was found)");
	EXPECT_LINES(&s, "model,perf", &ns, "No phase of a step was seen.",
		     "No step was recorded.");
	EXPECT_LINES(&s, "steps", &ns, "No step was recorded.");
	EXPECT_LINES(&s, "overview,userdefined", &ns, "Nothing was seen in the window.",
		     "No range of the user's own was seen in the window.");
	synth__free(&s);
}

Test(report_others, a_truncated_recording_is_read_and_named)
{
	struct synth s = synth__new("{}");

	synth__span(&s, s.main, CAT_OPERATOR, "mm", 20, 30);
	synth__step(&s, 0, 0, 100);
	synth__open(&s, NULL);
	EXPECT_LINES(
		&s, "operator", &ns, "events lost: - (the file was cut off)",
		"mm                                                    1       "
		"10  100.00  10  10  10",
		"The file was cut off: it is read up to its last whole chunk, and what is written "
		"at "
		"the end (CPU time, cost, loss) is missing.");
	synth__free(&s);
}

Test(report_others, one_operator_alone)
{
	struct synth s = synth__new("{}");
	struct report_opts opts = {.tables = "operator", .only = "m*", .style.unit = UNIT_NS};
	char *text = NULL;
	size_t len;
	FILE *out;

	synth__span(&s, s.main, CAT_OPERATOR, "mm", 20, 30);
	synth__span(&s, s.main, CAT_OPERATOR, "inner", 22, 28);
	synth__span(&s, s.main, CAT_OPERATOR, "add", 40, 50);
	synth__step(&s, 0, 0, 100);
	synth__open(&s, "{}");
	out = open_memstream(&text, &len);
	cr_assert_eq(report__print(s.r, &opts, out), 0);
	fclose(out);
	cr_assert(strstr(text, "\nmm ") && !strstr(text, "\nadd "));
	free(text);

	opts.only = "madd";
	out = open_memstream(&text, &len);
	cr_assert_eq(report__print(s.r, &opts, out), -ENOENT);
	fclose(out);
	free(text);
	cr_assert(
		strstr(err__take(0), "nothing in operator is called 'madd'; did you mean 'add'?"));

	opts.only = "inner";
	out = open_memstream(&text, &len);
	cr_assert_eq(report__print(s.r, &opts, out), -ENOENT);
	fclose(out);
	free(text);
	cr_assert(strstr(err__take(0), "nothing in operator is called 'inner', but inside other "
				       "operators something was: --table key_averages has that"));

	opts.tables = "steps,kernel,operator";
	opts.only = "nosuch";
	out = open_memstream(&text, &len);
	cr_assert_eq(report__print(s.r, &opts, out), -ENOENT);
	fclose(out);
	free(text);
	cr_assert(strstr(err__take(0), "nothing in operator,kernel is called 'nosuch'; a pattern "
				       "like '*conv*' finds parts of names, and --table "
				       "operator,kernel without --op shows them all"));
	synth__free(&s);
}

Test(report_others, one_operator_among_tables_that_have_none)
{
	struct synth s = synth__new("{}");
	const struct report_opts opts = {.only = "mm", .style.unit = UNIT_NS};

	synth__span(&s, s.main, CAT_OPERATOR, "mm", 20, 30);
	synth__span(&s, s.main, CAT_USER, "forward", 40, 50);
	synth__step(&s, 0, 0, 100);
	synth__open(&s, "{}");
	EXPECT_LINES(&s, "operator,userdefined,steps", &opts,
		     "mm                                                    1       "
		     "10  100.00  10  10  10",
		     "Nothing here is called 'mm'.",
		     "0       100         0           0           0           0             100    "
		     "     100.00");
	synth__free(&s);
}

Test(report_others, tables_asked_for_say_why_they_are_empty)
{
	struct synth s = synth__new("{}");
	char *text;

	synth__span(&s, s.main, CAT_OPERATOR, "mm", 20, 30);
	synth__step(&s, 0, 0, 100);
	synth__open(&s, "{}");
	EXPECT_LINES(&s, "kernel", &ns, "No device time was recorded.");
	EXPECT_LINES(&s, "collectives", &ns,
		     "No collective of the host was seen; those of a device are kernels.");
	EXPECT_LINES(&s, "manipulation", &ns,
		     "No copy or set of memory was seen; no device time was recorded.");
	EXPECT_LINES(&s, "calls", &ns, "No call of a device's interface was seen.");
	EXPECT_LINES(&s, "pipeline", &ns,
		     "No operation of a framework's own data pipeline was seen.");
	EXPECT_LINES(&s, "counters", &ns, "No counter and no mark of the user was seen.");
	text = synth__tables(&s, "operator", &ns);
	cr_expect_null(strstr(text, "was seen"), "%s", text);
	free(text);
	synth__free(&s);
}

Test(report_others, a_device_without_kernels_has_none)
{
	struct synth s = synth__new("{}");

	synth__kernel(&s, synth__stream(&s, 0, 7), CAT_MEMCPY, "copy", 1, 10, 20);
	synth__step(&s, 0, 0, 100);
	synth__open(&s, "{}");
	EXPECT_LINES(&s, "kernel", &ns, "No kernel was seen on a device.");
	synth__free(&s);
}

/* Nobody asked for them by name. */
Test(report_others, empty_tables_are_left_out_by_default)
{
	struct synth s = gpu();
	char *text = synth__report(&s, &ns);

	cr_expect_null(strstr(text, "Collectives Summary"), "%s", text);
	cr_expect_null(strstr(text, "No counter"), "%s", text);
	free(text);
	synth__free(&s);
}
