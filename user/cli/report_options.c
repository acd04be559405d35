// SPDX-License-Identifier: BSD-2-Clause
#include "cli/report_options.h"

/* In the order of enum sort_key, enum time_unit, enum table_format. */
static const char *const sort_keys[] = {"cpu_total", "cpu_avg", "cpu_max", "cpu_min", "calls",
					"gpu_total", "gpu_avg", "gpu_max", "gpu_min", NULL};
static const char *const time_units[] = {"s", "ms", "us", "ns", NULL};
static const char *const formats[] = {"table", "json", "csv", NULL};

static const char *table_name(size_t index)
{
	size_t cnt;
	const struct table_def *defs = report__tables(&cnt);

	return index < cnt ? defs[index].key : NULL;
}

/* Before a capture, and not when its tables are to be printed. */
static int parse_tables(const char *value, void *dest)
{
	*(const char **)dest = value;
	return report__check_tables(value);
}

#define UNIT_UNCHOSEN (-1)

#define ARG(field) offsetof(struct report_args, field)

const struct opt report_arg_opts[] = {
	{OPT_GROUP, "What to print"},
	{OPT_CUSTOM, "table", 't', "NAME,...", "Tables to print (default: those with content).",
	 ARG(tables), .parse = parse_tables, .word = table_name},
	{OPT_CHOICE, "sorted-by", 0, "KEY", "Order of rows (default cpu_total).", ARG(sorted_by),
	 .choices = sort_keys},
	{OPT_FLAG, "by-thread", 0, NULL, "One section per thread instead of all merged.",
	 ARG(by_thread)},
	{OPT_FLAG, "by-device", 0, NULL, "One section per device and stream of what ran there.",
	 ARG(by_device)},
	{OPT_FLAG, "op-detail", 0, NULL, "Under each operator what it called and launched.",
	 ARG(op_detail)},
	{OPT_UINT, "row-limit", 0, "N",
	 "Rows per table or section; 0: all (default: 0 in report, 100 where it is recorded).",
	 ARG(row_limit)},
	{OPT_UINT, "batch-size", 0, "N", "Samples per step, for ips (default: steps per second).",
	 ARG(batch_size)},
	{OPT_FLAG, "raw-times", 0, NULL, "Leave the cost of the probes in the times.",
	 ARG(raw_times)},
	{OPT_GROUP, "How to print it"},
	{OPT_CHOICE, "format", 'f', "FORMAT",
	 "Times in JSON and CSV are nanoseconds (default table).", ARG(format), .choices = formats},
	{OPT_CHOICE, "time-unit", 0, "UNIT", "Unit of times in text (default ms in tables).",
	 ARG(unit), .choices = time_units},
	{OPT_UINT, "width", 0, "COLUMNS", "Width of text (default: the terminal's; 0: unlimited).",
	 ARG(width)},
	{OPT_END},
};

void report_args__init(struct report_args *args)
{
	*args = (struct report_args){.unit = UNIT_UNCHOSEN, .width = (uint64_t)cli__width()};
}

struct report_opts report_args__opts(const struct report_args *args)
{
	return (struct report_opts){
		.tables = args->tables,
		.sorted_by = args->sorted_by,
		.by_thread = args->by_thread,
		.by_device = args->by_device,
		.op_detail = args->op_detail,
		.raw_times = args->raw_times,
		.batch_size = args->batch_size,
		.style = {.format = args->format,
			  .unit = args->unit == UNIT_UNCHOSEN ? UNIT_MS : args->unit,
			  .unit_chosen = args->unit != UNIT_UNCHOSEN,
			  .width = (int)args->width,
			  .colours = args->format == TABLE_TEXT && cli__colours(),
			  .row_limit = args->row_limit},
	};
}
