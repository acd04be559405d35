// SPDX-License-Identifier: BSD-2-Clause
/* Whole reports of two committed recordings side by side: ranks of a job, and a job before and
 * after a change. */
#include <criterion/criterion.h>
#include "analysis/diff.h"
#include "analysis/job/job.h"
#include "common/util.h"
#include "golden.h"

#define PAIR(a, b) {GOLDEN_DIR "/" a ".ptrec", GOLDEN_DIR "/" b ".ptrec"}

TestSuite(compared_golden);

Test(compared_golden, ranks_are_as_committed)
{
	static const struct {
		const char *paths[2], *file;
		struct report_opts opts;
	} goldens[] = {
		{PAIR("ddp1", "ddp0"), "ddp.txt", {.style = {.unit = UNIT_MS, .width = 100}}},
		{PAIR("ddp0", "ddp1"),
		 "ddp.json",
		 {.tables = "collectives", .style = {.format = TABLE_JSON}}},
		{PAIR("ddp0", "ddp1"),
		 "ddp.csv",
		 {.tables = "model,collectives", .style = {.format = TABLE_CSV}}},
		{PAIR("collectives0", "collectives1"),
		 "collectives.txt",
		 {.tables = "collectives", .style = {.unit = UNIT_US, .width = 80}}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(goldens); i++) {
		auto_free char *text = NULL;
		size_t len;
		FILE *out = open_memstream(&text, &len);

		cr_assert_eq(job__print(goldens[i].paths, 2, &goldens[i].opts, out), 0);
		fclose(out);
		golden__expect(text, goldens[i].file);
	}
}

Test(compared_golden, diffs_are_as_committed)
{
	static const struct {
		const char *paths[2], *file;
		struct diff_opts opts;
	} goldens[] = {
		{PAIR("batch16", "batch256"),
		 "batch.txt",
		 {.style = {.unit = UNIT_US, .width = 100}}},
		{PAIR("batch16", "batch256"), "batch.json", {.style = {.format = TABLE_JSON}}},
		{PAIR("batch256", "batch16"),
		 "batch_raw.csv",
		 {.raw_times = true, .style = {.format = TABLE_CSV, .row_limit = 8}}},
		{PAIR("timer", "batch16"),
		 "timer_diff.txt",
		 {.style = {.unit = UNIT_MS, .width = 80}}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(goldens); i++) {
		auto_free char *text = NULL;
		size_t len, exceeded;
		FILE *out = open_memstream(&text, &len);

		cr_assert_eq(diff__print(goldens[i].paths[0], goldens[i].paths[1], &goldens[i].opts,
					 out, &exceeded),
			     0);
		fclose(out);
		golden__expect(text, goldens[i].file);
	}
}
