// SPDX-License-Identifier: BSD-2-Clause
/* Whole reports of committed recordings. */
#include <criterion/criterion.h>
#include "analysis/report.h"
#include "common/util.h"
#include "golden.h"

TestSuite(report_golden);

static const struct golden {
	const char *recording, *report;
	struct report_opts opts;
} goldens[] = {
	{"cpu", "cpu.txt", {.style = {.unit = UNIT_MS, .width = 100}}},
	{"cpu", "cpu.json", {.op_detail = true, .style = {.format = TABLE_JSON}}},
	{"cpu", "cpu.csv", {.style = {.format = TABLE_CSV}}},
	{"cpu",
	 "cpu_steps.txt",
	 {.tables = "steps,sched,sched_steps", .style = {.unit = UNIT_US, .width = 100}}},
	{"cpu",
	 "cpu_raw.txt",
	 {.tables = "model,operator",
	  .raw_times = true,
	  .by_thread = true,
	  .sort_word = "cpu_avg",
	  .style = {.unit = UNIT_US, .row_limit = 2}}},
	{"gpu", "gpu.txt", {.op_detail = true, .style = {.unit = UNIT_US}}},
	{"gpu", "gpu.json", {.style = {.format = TABLE_JSON}}},
	{"simgpu", "simgpu.txt", {.op_detail = true, .style = {.unit = UNIT_US, .width = 120}}},
	{"simgpu",
	 "simgpu_80.txt",
	 {.tables = "device,overview,model,distributed,operator,kernel,manipulation,userdefined,"
		    "memory",
	  .style = {.unit = UNIT_MS, .width = 80, .row_limit = 8}}},
	{"simgpu",
	 "simgpu.json",
	 {.tables = "device,kernel,manipulation,distributed,memory",
	  .by_device = true,
	  .style = {.format = TABLE_JSON, .row_limit = 3}}},
	{"simgpu",
	 "simgpu.csv",
	 {.tables = "kernel,manipulation,distributed,memory", .style = {.format = TABLE_CSV}}},
	{"simgpu",
	 "simgpu_kernel.csv",
	 {.tables = "kernel", .style = {.format = TABLE_CSV, .alone = true}}},
	{"simgpu",
	 "simgpu_key_averages.txt",
	 {.tables = "key_averages",
	  .sort_word = "self_cuda_time_total",
	  .style = {.unit = UNIT_US, .width = 120, .row_limit = 12}}},
	{"simgpu",
	 "simgpu_classic.txt",
	 {.tables = "classic",
	  .sort_word = "ave",
	  .style = {.unit = UNIT_US, .width = 120, .row_limit = 12}}},
	{"cpu",
	 "cpu_aggregate.json",
	 {.tables = "aggregate", .style = {.format = TABLE_JSON, .row_limit = 2}}},
	{"simgpu",
	 "simgpu_aggregate.txt",
	 {.tables = "aggregate",
	  .sort_word = "max",
	  .style = {.unit = UNIT_US, .width = 80, .row_limit = 4}}},
	{"simgpu",
	 "simgpu_mindspore.txt",
	 {.tables = "step_trace,op_type,op_detail,activity,timeline",
	  .sort_word = "avg",
	  .style = {.unit = UNIT_US, .width = 80, .row_limit = 4}}},
	{"simgpu",
	 "simgpu_activity.txt",
	 {.tables = "activity", .style = {.unit = UNIT_MS, .width = 80, .row_limit = 12}}},
	{"simgpu",
	 "simgpu_activity.json",
	 {.tables = "activity,timeline", .style = {.format = TABLE_JSON, .row_limit = 3}}},
	{"simgpu",
	 "simgpu_activity.csv",
	 {.tables = "activity,timeline", .sort_word = "count", .style = {.format = TABLE_CSV}}},
	{"cpu",
	 "cpu_steps.json",
	 {.tables = "perf,steps,sched,sched_steps,syscalls",
	  .style = {.format = TABLE_JSON, .row_limit = 2}}},
	{"cpu",
	 "cpu_steps.csv",
	 {.tables = "perf,steps,sched,sched_steps,syscalls", .style = {.format = TABLE_CSV}}},
	{"simgpu",
	 "simgpu_calls.txt",
	 {.tables = "calls", .op_detail = true, .style = {.unit = UNIT_US, .width = 80}}},
	{"simgpu",
	 "simgpu_peers.json",
	 {.tables = "calls,key_averages,classic,op_type,op_detail,step_trace",
	  .style = {.format = TABLE_JSON, .row_limit = 1}}},
	{"simgpu",
	 "simgpu_peers.csv",
	 {.tables = "calls,key_averages,classic,aggregate,op_type,op_detail,step_trace",
	  .style = {.format = TABLE_CSV, .row_limit = 3}}},
	{"more",
	 "more.txt",
	 {.tables = "collectives,pipeline,counters", .style = {.unit = UNIT_US, .width = 120}}},
	{"more",
	 "more_80.txt",
	 {.tables = "collectives,pipeline,counters", .style = {.unit = UNIT_MS, .width = 80}}},
	{"more",
	 "more.json",
	 {.tables = "collectives,pipeline,counters", .style = {.format = TABLE_JSON}}},
	{"more",
	 "more.csv",
	 {.tables = "collectives,pipeline,counters", .style = {.format = TABLE_CSV}}},
	{"pytorch", "pytorch.txt", {.op_detail = true, .style = {.unit = UNIT_US, .width = 100}}},
	{"pytorch", "pytorch.json", {.style = {.format = TABLE_JSON, .row_limit = 12}}},
	{"pytorch", "pytorch.csv", {.style = {.format = TABLE_CSV}}},
	{"paddle", "paddle.txt", {.op_detail = true, .style = {.unit = UNIT_US, .width = 100}}},
	{"paddle", "paddle.json", {.style = {.format = TABLE_JSON, .row_limit = 12}}},
	{"paddle", "paddle.csv", {.style = {.format = TABLE_CSV}}},
	{"mxnet", "mxnet.txt", {.op_detail = true, .style = {.unit = UNIT_US, .width = 100}}},
	{"mxnet", "mxnet.json", {.style = {.format = TABLE_JSON, .row_limit = 12}}},
	{"mxnet", "mxnet.csv", {.style = {.format = TABLE_CSV}}},
	{"mindspore",
	 "mindspore.txt",
	 {.op_detail = true, .style = {.unit = UNIT_US, .width = 100}}},
	{"mindspore", "mindspore.json", {.style = {.format = TABLE_JSON, .row_limit = 12}}},
	{"mindspore", "mindspore.csv", {.style = {.format = TABLE_CSV}}},
	{"pytorch",
	 "pytorch_shapes.txt",
	 {.tables = "key_averages",
	  .group_by = GROUP_BY_SHAPE,
	  .style = {.unit = UNIT_US, .width = 120, .row_limit = 12}}},
	{"pytorch",
	 "pytorch_sched.csv",
	 {.tables = "steps,sched,sched_steps,classic", .style = {.format = TABLE_CSV}}},
	{"paddle",
	 "paddle_classic.txt",
	 {.tables = "classic", .style = {.unit = UNIT_US, .width = 100, .row_limit = 12}}},
	{"mxnet",
	 "mxnet_aggregate.txt",
	 {.tables = "aggregate", .style = {.unit = UNIT_US, .width = 100}}},
	{"mxnet",
	 "mxnet_aggregate.json",
	 {.tables = "aggregate", .style = {.format = TABLE_JSON, .row_limit = 4}}},
	{"mindspore",
	 "mindspore_own.txt",
	 {.tables = "step_trace,op_type,op_detail,pipeline,timeline",
	  .style = {.unit = UNIT_US, .width = 120}}},
	{"mindspore",
	 "mindspore_own.csv",
	 {.tables = "step_trace,op_type,op_detail,pipeline,timeline",
	  .style = {.format = TABLE_CSV}}},
	{"cut", "cut.txt", {.style = {.unit = UNIT_US, .width = 80}}},
};

static char *report_of(const struct golden *g)
{
	struct recording *r = golden__open(g->recording);
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	cr_assert_eq(report__print(r, &g->opts, out), 0);
	recording__close(r);
	fclose(out);
	return text;
}

Test(report_golden, reports_are_as_committed)
{
	for (size_t i = 0; i < ARRAY_SIZE(goldens); i++) {
		auto_free char *text = report_of(&goldens[i]);

		golden__expect(text, goldens[i].report);
	}
}
