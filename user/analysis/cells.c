// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/cells.h"
#include <stdarg.h>
#include <string.h>
#include "analysis/analysis.h"
#include "common/counted.h"
#include "common/util.h"

struct cell cell__text(const char *text)
{
	return (struct cell){.type = CELL_TEXT, .text = text};
}

struct cell cell__count(uint64_t n)
{
	return (struct cell){.type = CELL_COUNT, .count = (int64_t)n};
}

struct cell cell__time(uint64_t ns)
{
	return (struct cell){.type = CELL_TIME, .time_ns = ns};
}

struct cell cell__bytes(int64_t bytes)
{
	return (struct cell){.type = CELL_BYTES, .count = bytes};
}

struct cell cell__large(uint64_t n)
{
	return (struct cell){.type = CELL_LARGE, .count = (int64_t)(n & INT64_MAX)};
}

struct cell cell__percent(double percent)
{
	return (struct cell){.type = CELL_PERCENT, .number = percent};
}

struct cell cell__float(double number)
{
	return (struct cell){.type = CELL_FLOAT, .number = number};
}

struct cell cell__decimal(double number)
{
	return (struct cell){.type = CELL_DECIMAL, .number = number};
}

struct cell cell__none(const char *why)
{
	return (struct cell){.type = CELL_NONE, .text = why};
}

struct cell cell__share(uint64_t part, uint64_t whole)
{
	if (!whole)
		return cell__none("the whole is zero");
	return cell__percent(100.0 * (double)part / (double)whole);
}

struct time_text time_text(const struct analysis *a, uint64_t ns)
{
	return time_text__of(&a->opts->style, ns);
}

int table__add_time_columns(struct table *t, const char *group, const char *prefix)
{
	static const struct {
		const char *key, *title, *host, *device;
		enum cell_type type;
		int rank;
		bool same_unit;
	} columns[] = {{"total", "Total", "Elapsed", "GPU", CELL_TIME, 0},
		       {"avg", "Avg", "Avg", "GPU Avg", CELL_TIME, 3},
		       {"max", "Max", "Max", "GPU Max", CELL_TIME, 9, true},
		       {"min", "Min", "Min", "GPU Min", CELL_TIME, 10, true},
		       {"ratio", "Ratio(%)", "%", "GPU %", CELL_PERCENT, 0}};
	const bool is_host = strcmp(prefix, "cpu") == 0;
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(columns) && !err; i++) {
		char key[64];
		struct column c = {.key = key,
				   .title = columns[i].title,
				   .group = group,
				   .type = columns[i].type,
				   .rank = columns[i].rank,
				   .same_unit = columns[i].same_unit,
				   .text = is_host ? columns[i].host : columns[i].device};

		snprintf(key, sizeof(key), "%s_%s", prefix, columns[i].key);
		err = table__add_column(t, &c);
	}
	return err;
}

void cells__time(struct cell *cells, const struct range *r, uint64_t calls, uint64_t whole)
{
	cells[0] = cell__time(r->total);
	cells[1] = calls ? cell__time(range__avg(r, calls)) : cell__none("no calls");
	cells[2] = calls ? cell__time(r->max) : cell__none("no calls");
	cells[3] = calls ? cell__time(r->min) : cell__none("no calls");
	cells[4] = cell__share(r->total, whole);
}

int table__add_call_columns(struct table *t, int name_width)
{
	const struct column columns[] = {
		{.key = "name",
		 .title = "Name",
		 .min_width = name_width,
		 .max_width = 90,
		 .type = CELL_TEXT},
		{.key = "calls", .title = "Calls", .min_width = 6, .type = CELL_COUNT},
	};

	return table__add_columns(t, columns, ARRAY_SIZE(columns));
}

int table__add_name_columns(const struct analysis *a, struct table *t, int name_width)
{
	int err = table__add_call_columns(t, name_width);

	if (!err)
		err = table__add_time_columns(t, "Elapsed", "cpu");
	if (!err && a->has_device)
		err = table__add_time_columns(t, "GPU", "gpu");
	return err;
}

#define ENGINE "engine: " /* prefix of what the engine's threads run, with --detail inner */

void cells__name(const struct analysis *a, struct cell *cells, const char *name,
		 const struct stat *s, uint64_t cpu_whole, uint64_t gpu_whole)
{
	cells[0] = cell__text(name);
	cells[1] = cell__count(s->calls);
	cells__time(cells + 2, &s->cpu, s->calls, cpu_whole);
	if (!a->has_device)
		return;
	cells__time(cells + 7, &s->gpu, stat__gpu_cnt(s), gpu_whole);
	/* Device times are known for none of its calls. */
	if (s->gpu.cut == stat__gpu_cnt(s) && s->cpu.cut < s->calls && !s->gpu.total)
		for (int i = 7; i < NAME_CELLS; i++)
			cells[i] = cell__none("no device work of that time is known");
	if (a->engine_launches && !s->gpu.total && !s->executions &&
	    strncmp(name, ENGINE, sizeof(ENGINE) - 1) != 0)
		for (int i = 7; i < NAME_CELLS; i++)
			cells[i] = cell__none("threads of the engine launch its kernels");
}

int table__note_cut(struct table *t, const struct stat_map *m)
{
	uint64_t cut = 0;

	for (size_t i = 0; i < m->cnt; i++)
		cut += m->rows[i].stat.cpu.cut;
	if (!cut)
		return 0;
	return table__as_legend(
		t,
		table__add_notef(t,
				 "%s cut at the window's edge: counted with the part inside; Avg "
				 "and Min are of whole calls.",
				 counted(cut, "call was", "calls were").s));
}

int table__note_ratios(const struct analysis *a, struct table *t, const char *cpu, const char *gpu)
{
	if (!a->has_device)
		return table__as_legend(t, table__add_notef(t, "Ratios: of %s.", cpu));
	return table__as_legend(
		t,
		table__add_notef(t, "Ratios: elapsed of %s; GPU of %s. " GPU_OWNER_TIME, cpu, gpu));
}

int table__add_notef(struct table *t, const char *fmt, ...)
{
	auto_free char *text = NULL;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (len < 0) {
		text = NULL;
		return -ENOMEM;
	}
	return table__add_note(t, text);
}
