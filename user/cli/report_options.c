// SPDX-License-Identifier: BSD-2-Clause
#include "cli/report_options.h"
#include "cli/raw_csv.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "common/err.h"
#include "cli/message_table.h"
#include "common/util.h"

/* In the order of enum time_unit, enum table_format, enum group_by and enum device_state. */
static const char *const time_units[] = {"s", "ms", "us", "ns", NULL};
static const char *const formats[] = {"table", "json", "csv", NULL};
static const char *const groupings[] = {"name", "shape", "stack", NULL};
static const char *const states[] = {"All", "CPU", "GPU", NULL};

static const char *table_name(size_t index)
{
	size_t cnt;
	const struct table_def *defs = report__tables(&cnt);

	return index < cnt ? defs[index].key : NULL;
}

/* Table names are checked before a capture, not when the tables are printed. */
static int parse_tables(const char *value, void *dest)
{
	*(const char **)dest = value;
	return report__check_tables(value);
}

/* Whether the tables have this order is checked when all options are known. */
static int parse_order(const char *value, void *dest)
{
	*(const char **)dest = value;
	return 0;
}

#define UNIT_UNCHOSEN  (-1)
#define WIDTH_UNCHOSEN UINT64_MAX

#define ARG(field) offsetof(struct report_args, field)

const struct opt report_arg_opts[] = {
	{OPT_GROUP, "What to print"},
	{OPT_CUSTOM, "table", 't', "NAME,...",
	 "Tables to print (default: a short report of findings, phases and operators; all: every "
	 "table with content).",
	 ARG(tables), .parse = parse_tables, .word = table_name},
	{OPT_CUSTOM, "sorted-by", 0, "KEY",
	 "Order of rows. Most tables: cpu_total (default), cpu_avg, cpu_max, cpu_min, calls, "
	 "gpu_total, gpu_avg, gpu_max or gpu_min. The error for a wrong key lists the table's own "
	 "keys.",
	 ARG(sorted_by), .parse = parse_order, .word = report__order_word},
	{OPT_FLAG, "ascending", 0, NULL, "Smallest first.", ARG(ascending)},
	{OPT_CHOICE, "group-by", 0, "WHAT", "Rows of key_averages (default name).", ARG(group_by),
	 .choices = groupings},
	{OPT_UINT, "stack-depth", 0, "N",
	 "With --group-by stack: how many innermost Python frames make a row (default 5; needs a "
	 "recording with --with-stack).",
	 ARG(stack_depth), .min = 1, .max = 1000},
	{OPT_FLAG, "by-thread", 0, NULL, "One section per thread instead of all merged.",
	 ARG(by_thread)},
	{OPT_FLAG, "by-device", 0, NULL, "One section per device and stream, for device work.",
	 ARG(by_device)},
	{OPT_CHOICE, "state", 0, "STATE", "Table classic: whose time it shows (default All).",
	 ARG(state), .choices = states},
	{OPT_FLAG, "op-detail", 0, NULL, "List under each operator what it called and launched.",
	 ARG(op_detail)},
	{OPT_UINT, "row-limit", 0, "N",
	 "Rows per table or section; 0: all. Default: 20 or fewer in the short report; for named "
	 "tables 0 in report, 100 in the command that records.",
	 ARG(row_limit)},
	{OPT_UINT, "name-width", 0, "COLUMNS",
	 "Longest name in text (default 90, key_averages 55).", ARG(name_width), .min = 8},
	{OPT_UINT, "batch-size", 0, "N", "Samples per step, for ips (default: steps per second).",
	 ARG(batch_size), .min = 1},
	{OPT_FLAG, "raw-times", 0, NULL, "Leave the cost of the probes in the times.",
	 ARG(raw_times)},
	{OPT_GROUP, "How to print it"},
	{OPT_CHOICE, "format", 'f', "FORMAT",
	 "How to print (default table). Times in JSON and CSV are nanoseconds. CSV of one table "
	 "has only its rows; notes go to standard error.",
	 ARG(format), .choices = formats},
	RAW_CSV_OPT(ARG(raw_csv)),
	{OPT_CHOICE, "time-unit", 0, "UNIT",
	 "Unit of times in text (default: one that suits the column).", ARG(unit),
	 .choices = time_units},
	{OPT_UINT, "width", 0, "COLUMNS",
	 "Width of text, 40 or more (default: the terminal's; in a pipe that of COLUMNS; 0: "
	 "unlimited).",
	 ARG(width), .min = WIDTH_MIN, .max = WIDTH_MAX, .zero = "unlimited"},
	{OPT_END},
};

void report_args__init(struct report_args *args)
{
	*args = (struct report_args){
		.unit = UNIT_UNCHOSEN, .width = WIDTH_UNCHOSEN, .row_limit = ROWS_UNCHOSEN};
}

static size_t field_size(enum opt_type type)
{
	switch (type) {
	case OPT_FLAG:
		return sizeof(bool);
	case OPT_CHOICE:
		return sizeof(int);
	case OPT_UINT:
		return sizeof(uint64_t);
	case OPT_CUSTOM:
		return sizeof(const char *);
	default:
		return 0;
	}
}

const char *report_args__other(const struct report_args *args, const struct report_args *than)
{
	for (const struct opt *o = report_arg_opts; o->type != OPT_END; o++)
		if (memcmp((const char *)args + o->offset, (const char *)than + o->offset,
			   field_size(o->type)) != 0)
			return o->name;
	return NULL;
}

/* Programs read these formats, so their units do not depend on an option. */
static void warn_text_only(const struct report_args *args)
{
	const char *format = formats[args->format];

	if (args->format == TABLE_TEXT)
		return;
	if (args->unit != UNIT_UNCHOSEN)
		log__warn(MESSAGE_TIME_UNIT_WITHOUT_EFFECT, format);
	if (args->width != WIDTH_UNCHOSEN)
		log__warn(MESSAGE_WIDTH_WITHOUT_EFFECT, format);
	if (args->name_width)
		log__warn(MESSAGE_NAME_WIDTH_WITHOUT_EFFECT, format);
}

static int check(const struct report_args *args, const char *tables)
{
	const struct report_opts opts = report_args__opts(args, STDOUT_FILENO);
	int err = report__check_order(tables, args->sorted_by);

	return err ? err : report__check_uses(tables, &opts);
}

int report_args__check(const struct report_args *args, const char *tables)
{
	warn_text_only(args);
	return check(args, tables);
}

int report_args__check_job(const struct report_args *args)
{
	const struct report_opts opts = report_args__opts(args, STDOUT_FILENO);

	warn_text_only(args);
	if (args->tables)
		return check(args, args->tables);
	if (args->sorted_by)
		return err__set(-EINVAL, MESSAGE_SORT_ORDER_OF_JOB);
	return report__check_uses("summary", &opts);
}

struct report_opts report_args__opts(const struct report_args *args, int fd)
{
	return (struct report_opts){
		.tables = args->tables,
		.sort_word = args->sorted_by,
		.ascending = args->ascending,
		.group_by = (enum group_by)args->group_by,
		.stack_depth = (unsigned int)args->stack_depth,
		.state = (enum device_state)args->state,
		.by_thread = args->by_thread,
		.by_device = args->by_device,
		.op_detail = args->op_detail,
		.raw_times = args->raw_times,
		.batch_size = args->batch_size,
		.is_short = args->format == TABLE_TEXT,
		.rows_chosen = args->row_limit != ROWS_UNCHOSEN,
		.style = {.format = args->format,
			  .unit = args->unit == UNIT_UNCHOSEN ? UNIT_MS : args->unit,
			  .unit_chosen = args->unit != UNIT_UNCHOSEN,
			  .suits_unit = args->unit == UNIT_UNCHOSEN,
			  .width =
				  args->width == WIDTH_UNCHOSEN ? cli__width(fd) : (int)args->width,
			  .colours = args->format == TABLE_TEXT && cli__colours(fd),
			  .row_limit = args->row_limit == ROWS_UNCHOSEN ? args->usual_rows
									: args->row_limit,
			  .raw_csv = args->raw_csv,
			  .name_width = (int)args->name_width},
	};
}
