// SPDX-License-Identifier: BSD-2-Clause
/* A training of three steps with numbers small enough to check by hand, and the content of each
 * table. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "model_synth.h"

#define US 1000

/* One step of 100 us: loader 10, forward 30 (from 10 to 40), backward 20, optimizer 10. */
static void write_step(struct synth *s, uint64_t i, uint64_t begin, uint64_t extra)
{
	uint64_t t = begin * US, x = extra * US;

	synth__span(s, s->main, CAT_DATALOADER, "enumerate(DataLoader)#_Single.__next__", t,
		    t + 10 * US);
	synth__span(s, s->main, CAT_OPERATOR, "aten::mm", t + 15 * US, t + 20 * US);
	synth__span(s, s->main, CAT_OPERATOR, "aten::linear", t + 12 * US, t + 22 * US);
	synth__span(s, s->main, CAT_USER, "my range", t + 11 * US, t + 30 * US + x);
	synth__span(s, s->main, CAT_BACKWARD_NODE, "MmBackward0", t + 42 * US + x, t + 46 * US + x);
	synth__span(s, s->main, CAT_BACKWARD, "backward", t + 40 * US + x, t + 60 * US + x);
	synth__span(s, s->main, CAT_OPTIMIZER, "Optimizer.step#SGD.step", t + 70 * US + x,
		    t + 80 * US + x);
	synth__span(s, s->main, CAT_ZERO_GRAD, "Optimizer.zero_grad#SGD.zero_grad", t + 85 * US + x,
		    t + 90 * US + x);
	synth__step(s, i, t, t + 100 * US + x);
}

static struct synth train(void)
{
	struct synth s =
		synth__new("{\"process\": {\"pid\": 100, \"comm\": \"python\", \"argv\": "
			   "[\"python\", \"t.py\"]},"
			   " \"runtime\": {\"framework\": \"pytorch\", \"title\": \"PyTorch\","
			   " \"version\": \"2.15.0\"}, \"detail\": \"operator\"}");

	write_step(&s, 2, 0, 0);
	write_step(&s, 3, 100, 0);
	write_step(&s, 4, 200, 100);
	return s;
}

static const char summary[] =
	"{\"cpu\": {\"wall_ns\": 400000, \"process_ns\": 600000, \"busy_ns\": 700000,"
	" \"idle_ns\": 100000}, \"loss\": {\"ring\": 3, \"depth\": 0},"
	" \"windows\": [{\"begin_ns\": 0, \"end_ns\": 400000}],"
	" \"steps\": {\"source\": \"optimizer\", \"explain\": \"Optimizer.step ends a step\"},"
	" \"cost\": {\"hits\": 90, \"probe_ns\": 30000, \"loader_cpu_ns\": 5000000},"
	" \"dropped_probes\": [{\"name\": \"aten::size\", \"calls_per_step\": 40.0, \"avg_ns\": "
	"90.0, \"steps\": 2}],"
	" \"missing\": [\"no symbol for X\"], \"notes\": []}";

static char *table_of(const char *name, struct report_opts opts)
{
	struct synth s = train();
	char *text;

	synth__open(&s, summary);
	opts.tables = name;
	opts.style.unit = UNIT_US;
	text = synth__report(&s, &opts);
	synth__free(&s);
	return text;
}

#define EXPECT(name, opts, ...)                                                                    \
	do {                                                                                       \
		static const char *const lines[] = {__VA_ARGS__};                                  \
		char *text = table_of(name, (struct report_opts)opts);                             \
		for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)                        \
			synth__expect_line(text, lines[i]);                                        \
		free(text);                                                                        \
	} while (0)
#define NONE                                                                                       \
	{                                                                                          \
	}

Test(report_train, device)
{
	EXPECT("device", NONE, "CPU(Process)                    150.00",
	       "CPU(System)                     87.50");
}

Test(report_train, overview)
{
	EXPECT("overview", NONE,
	       "Event Type                 Calls       Elapsed (us)     Ratio (%)",
	       "ProfileStep                3           400.00           100.00",
	       "  Forward                  3           190.00           47.50",
	       "  UserDefined              6           172.00           43.00",
	       "  Backward                 3           60.00            15.00",
	       "  Operator                 6           42.00            10.50",
	       "  Dataloader               3           30.00            7.50",
	       "  OperatorInner            3           15.00            3.75");
}

Test(report_train, model)
{
	EXPECT("model", NONE, "ProfileStep      3       400.00  100.00  133.33  200.00  100.00",
	       "  Dataloader     3       30.00  7.50  10.00  10.00  10.00",
	       "  Forward        3       190.00  47.50  63.33  130.00  30.00",
	       "  Backward       3       60.00  15.00  20.00  20.00  20.00",
	       "  Optimization   3       30.00  7.50  10.00  10.00  10.00",
	       "  Others         -       90.00  22.50  -  -  -");
}

Test(report_train, operator)
{
	EXPECT("operator", NONE,
	       "aten::linear                                          3       "
	       "30.00  56.82  10.000  10.00  10.00",
	       "~aten::size                                           120     "
	       "10.80  20.45  0.090  -  -",
	       "MmBackward0                                           3       "
	       "12.00  22.73  4.000  4.00  4.00");
	EXPECT("operator", {.op_detail = true},
	       "  aten::mm                                            3       "
	       "15.00  50.00  5.000  5.00  5.00");
}

Test(report_train, userdefined)
{
	EXPECT("userdefined", NONE,
	       "my range                           3       "
	       "157.00  39.25  52.33  119.00  19.00",
	       "Optimizer.zero_grad#SGD.zero_grad  3       15.00  3.75  5.00  5.00  5.00");
}

Test(report_train, perf)
{
	EXPECT("perf", NONE,
	       "reader_cost      s          0.00001          0.00001          0.00001",
	       "batch_cost       s          0.00013          0.00020          0.00010",
	       "ips              steps/s    7500.00000       10000.00000      5000.00000",
	       "Reader Ratio: 7.500%",
	       "reader_cost: 0.00001 s batch_cost: 0.00013 s ips: 7500.000 steps/s");
	EXPECT("perf", {.batch_size = 32},
	       "ips              samples/s  240000.00000     320000.00000     160000.00000");
}

Test(report_train, steps)
{
	EXPECT("steps", NONE,
	       "2       100.00      10.00       30.00       20.00       10.00         30.00       "
	       "100.00",
	       "4       200.00      10.00       130.00      20.00       10.00         30.00       "
	       "200.00       slow",
	       "1 of 3 steps took more than 1.5 times the median.");
}

Test(report_train, head_and_foot)
{
	EXPECT("device", NONE, "process: 100 (python)", "command: python t.py",
	       "framework: PyTorch 2.15.0", "window: steps [2,5), 400.0 us", "steps: 3",
	       "step rule: optimizer: Optimizer.step ends a step", "events lost: 3",
	       "lost where: ring 3", "probe hits: 90", "probe hits per step: 30",
	       "estimated added time per step: 10.00 us", "estimated added time: 7.50 %",
	       "CPU time of proftrace: 5.000 ms",
	       "1 function had no probe in the window, on average too short to be worth one, or "
	       "backward "
	       "nodes "
	       "beside such: their time is in what is around or before them. The operator table "
	       "estimates "
	       "them, --no-prune records them.",
	       "missing: no symbol for X");
}

Test(report_train, an_unknown_table_names_the_known_ones)
{
	struct synth s = train();
	const struct report_opts opts = {.tables = "device,kernels"};

	synth__open(&s, summary);
	cr_expect_eq(report__print(s.r, &opts, stdout), -EINVAL);
	synth__free(&s);
}

/* ---- without --table ---- */

static char *report_with(struct report_opts opts)
{
	struct synth s = train();
	char *text;

	synth__open(&s, summary);
	text = synth__report(&s, &opts);
	synth__free(&s);
	return text;
}

static size_t at(const char *text, const char *line)
{
	const char *found = strstr(text, line);

	cr_expect_not_null(found, "no '%s' in:\n%s", line, text);
	return found ? (size_t)(found - text) : 0;
}

Test(report_short, each_thing_has_one_place)
{
	static const char *const order[] = {
		"process: 100 (python)\n",
		"command: python t.py\n",
		"framework: PyTorch 2.15.0, detail operator\n",
		"window: steps [2,5), 400.0 us\n",
		"step rule: optimizer",
		"What to Look at First",
		"Model Summary",
		"Operator Summary",
		"device, busy: CPU(Process) 150.00 %, CPU(System) 87.50 %\n",
		"perf: batch_cost 133.3 us (100.0 us to 200.0 us), reader_cost 10.00 us (7.50 %)",
		"ips 7500.000 steps/s\n",
		"events lost: 3 (ring 3)\n",
		"added time: 7.50 % of the run time, 10.00 us per step; 30 probe hits per step\n",
		"CPU time of proftrace: 5.000 ms\n",
		"missing: no symbol for X\n",
		"more tables: --table overview,userdefined, or --table all\n",
	};
	char *text = report_with((struct report_opts){.is_short = true});

	for (size_t i = 1; i < sizeof(order) / sizeof(*order); i++)
		cr_expect_lt(at(text, order[i - 1]), at(text, order[i]), "%s", order[i]);
	cr_expect_null(strstr(text, "Overview Summary"), "%s", text);
	cr_expect_null(strstr(text, "Ratios: "), "a legend: %s", text);
	cr_expect_null(strstr(text, "Thread: All threads"), "%s", text);
	free(text);
}

Test(report_short, rows_are_twenty_unless_chosen)
{
	const struct report_opts one = {
		.is_short = true, .rows_chosen = true, .style = {.row_limit = 1}};
	char *all = report_with((struct report_opts){.is_short = true, .style = {.row_limit = 1}});
	char *chosen = report_with(one);

	at(all, "MmBackward0");
	at(all, "aten::linear");
	at(chosen, "more rows left out");
	free(all);
	free(chosen);
}

Test(report_short, all_tables_are_every_one_with_content)
{
	char *text = report_with((struct report_opts){.is_short = true, .tables = "all"});

	at(text, "Overview Summary");
	at(text, "UserDefined Summary");
	at(text, "probe hits per step: 30\n");
	at(text, "detail: operator\n");
	at(text, "Ratios: of the steps' time.\n");
	cr_expect_null(strstr(text, "Kernel Summary"), "it is empty: %s", text);
	cr_expect_null(strstr(text, "more tables"), "%s", text);
	free(text);
}

Test(report_short, what_frames_a_named_table_is_short)
{
	char *text = report_with((struct report_opts){.is_short = true, .tables = "model"});

	at(text, "Ratios: of the steps' time.\n");
	at(text, "events lost: 3 (ring 3)\n");
	cr_expect_null(strstr(text, "probe hits per step: 30"), "%s", text);
	free(text);
}

Test(report_short, json_and_csv_have_no_short_form)
{
	for (int format = TABLE_JSON; format <= TABLE_GRID; format++) {
		char *whole = report_with((struct report_opts){.style = {.format = format}});
		char *same = report_with(
			(struct report_opts){.is_short = true, .style = {.format = format}});

		cr_expect_str_eq(whole, same);
		free(whole);
		free(same);
	}
}
