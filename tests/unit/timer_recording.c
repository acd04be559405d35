// SPDX-License-Identifier: BSD-2-Clause
/* Recordings with --timer-only: reports must show steps and data loader, and invent nothing
 * else. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/diff.h"
#include "analysis/job/job.h"
#include "common/err.h"
#include "common/util.h"
#include "exporters/parts/stacks.h"
#include "model_synth.h"

#define US 1000
#define NOT_RECORDED                                                                               \
	"Not recorded: --timer-only records the times of steps and of their data loader alone; "   \
	"record without it for more."

TestSuite(timer_recording);

/* Ten steps of 100 us; the loader's share of each, and every probe that may stay for the steps. */
static struct synth job_with(const char *detail, uint64_t loader_us, const char *summary)
{
	auto_free char *meta = NULL;
	struct synth s;

	cr_assert(asprintf(&meta, "{\"process\": {\"pid\": 100}, \"detail\": \"%s\"}", detail) > 0);
	s = synth__new(meta);
	for (uint64_t i = 0; i < 10; i++) {
		uint64_t at = i * 100 * US;

		synth__span(&s, s.main, CAT_DATALOADER, "next", at, at + loader_us * US);
		synth__span(&s, s.main, CAT_BACKWARD, "backward", at + 60 * US, at + 70 * US);
		synth__span(&s, s.main, CAT_OPTIMIZER, "step", at + 90 * US, at + 95 * US);
		synth__step(&s, i, at, at + 100 * US);
	}
	synth__open(&s, summary);
	return s;
}

static struct synth job(const char *detail, uint64_t loader_us)
{
	return job_with(detail, loader_us, "{}");
}

static char *report(const char *tables, uint64_t loader_us)
{
	const struct report_opts opts = {.style.unit = UNIT_US};
	struct synth s = job("timer", loader_us);
	char *text = synth__tables(&s, tables, &opts);

	synth__free(&s);
	return text;
}

Test(timer_recording, the_report_is_perf_and_steps)
{
	auto_free char *text = report(NULL, 1);

	cr_expect_not_null(strstr(text, "Perf Summary"), "%s", text);
	cr_expect_not_null(strstr(text, "-Steps-"), "%s", text);
	cr_expect_null(strstr(text, "Model Summary"), "%s", text);
	cr_expect_null(strstr(text, "Overview Summary"), "%s", text);
	cr_expect_null(strstr(text, "Device Summary"), "%s", text);
	synth__expect_line(text, "0       100.00      1.00        -           -           -        "
				 "     -           100.00");
}

Test(timer_recording, a_table_asked_for_by_name_says_why_it_is_empty)
{
	static const char *const names[] = {"overview", "model",      "operator", "userdefined",
					    "device",	"step_trace", "classic",  "sched",
					    "calls",	"timeline",   "memory"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		auto_free char *text = report(names[i], 1);

		synth__expect_line(text, NOT_RECORDED);
		cr_expect_null(strstr(text, "Others"), "%s", text);
	}
}

Test(timer_recording, findings_name_the_rules_that_cannot_judge)
{
	auto_free char *none = report("findings", 1), *loader = report("findings", 20);

	synth__expect_line(none, "No rule that could judge found anything.");
	cr_expect_not_null(strstr(none, "Not judged: device_idle, "), "%s", none);
	cr_expect_null(strstr(none, "slow_steps,"), "%s", none);
	cr_expect_null(strstr(none, "page_faults,"), "%s", none);
	cr_expect_not_null(strstr(loader, "The step waits 20 % of its time for the data loader."),
			   "%s", loader);
	cr_expect_not_null(strstr(loader, "its worker processes were not recorded (--timer-only)"),
			   "%s", loader);
	cr_expect_not_null(strstr(loader, "Not judged: device_idle, "), "%s", loader);
}

/* The kernel's count of the training thread's is in the summary of each recording. */
Test(timer_recording, page_faults_that_were_counted_are_judged)
{
	struct synth s = job_with("timer", 1,
				  "{\"faults\": {\"minor\": 100, \"major\": 0, "
				  "\"over_ns\": 1000000, \"fault_ns\": 2000}}");
	auto_free char *text =
		synth__tables(&s, "findings", &(struct report_opts){.style.unit = UNIT_US});

	cr_expect_not_null(strstr(text, "take about 20 % of the step"), "%s", text);
	synth__free(&s);
}

Test(timer_recording, no_phase_is_inferred)
{
	struct synth s = job("timer", 1);
	struct stacks stacks;
	bool rest = false;

	cr_assert_eq(stacks__collect(s.r, true, false, &stacks), 0);
	for (uint32_t i = 1; i < stacks.cnt; i++) {
		const char *text = stacks__text(&stacks, stacks.nodes[i].frame);

		if (stacks__track(&stacks, stacks.nodes[i].frame))
			continue;
		cr_expect(strcmp(text, "Forward") && strcmp(text, "Other"), "%s", text);
		rest |= !strcmp(text, PHASE_UNRECORDED);
	}
	cr_expect(rest);
	stacks__free(&stacks);
	synth__free(&s);
}

static char *compare(const char *detail, const char *limit, int *err)
{
	const struct diff_opts opts = {.limits = &limit,
				       .limit_cnt = limit != NULL,
				       .style = {.unit = UNIT_US, .width = 160}};
	struct synth a = job("timer", 1), b = job(detail, 2);
	char *text = NULL;
	size_t len, exceeded;
	FILE *out = open_memstream(&text, &len);

	*err = diff__print(a.path, b.path, &opts, out, &exceeded);
	fclose(out);
	synth__free(&a);
	synth__free(&b);
	return text;
}

Test(timer_recording, is_compared_by_steps_and_data_loader)
{
	int err;
	auto_free char *one = compare("phase", NULL, &err), *both = compare("timer", NULL, &err);

	cr_assert_eq(err, 0);
	synth__expect_line(one, "others        -           25.00       -          -");
	synth__expect_line(one, "The first recording is of --timer-only, which records no phases, "
				"operators and kernels: only steps and data loader are compared.");
	cr_expect_null(strstr(one, "new"), "%s", one);
	synth__expect_line(both, "Both recordings are of --timer-only, which records no phases, "
				 "operators and kernels: only steps and data loader are compared.");
	cr_expect_null(strstr(both, "backward"), "%s", both);
	cr_expect_not_null(strstr(both, "dataloader"), "%s", both);
}

Test(timer_recording, no_limit_is_judged_by_what_it_has_not)
{
	static const char *const limits[] = {"backward>5%", "operator:aten::mm>5%"};

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		int err;
		auto_free char *text = compare("timer", limits[i], &err);
		const char *why;

		cr_expect_eq(err, -EINVAL);
		why = err__take(err);
		cr_expect_not_null(
			strstr(why, "a recording of --timer-only has steps and data loader alone"),
			"%s", why);
	}
}

Test(timer_recording, the_table_of_ranks_has_no_phases_of_it)
{
	const struct report_opts opts = {.style.unit = UNIT_US, .style.width = 160};
	struct synth a = job("timer", 1), b = job("timer", 2);
	const char *const paths[] = {a.path, b.path};
	auto_free char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	cr_assert_eq(job__print(paths, 2, &opts, out), 0);
	fclose(out);
	synth__expect_line(text, "-     100      10     100.00  1.00    -        -         -       "
				 "-       -         -    -");
	cr_expect_not_null(strstr(text, "--timer-only does not record collectives"), "%s", text);
	synth__free(&a);
	synth__free(&b);
}
