// SPDX-License-Identifier: BSD-2-Clause
/*
 * Perf Summary: reader_cost, batch_cost and ips over all recorded steps. An average is the sum over
 * all steps divided by their number, so min <= avg <= max holds.
 */
#include <stdio.h>
#include <stdlib.h>
#include "analysis/tables/facts.h"
#include "common/util.h"

struct perf {
	struct stat steps; /* cpu: batch_cost, gpu: reader_cost; ns */
};

static int visit(const struct analysis *a, void *state, const struct batch *b)
{
	struct perf *p = state;

	if (b->step)
		stat__add(&p->steps, b->step->cpu_ns, b->step->phase_ns[KIND_DATALOADER]);
	return 0;
}

/* The three rows belong together: --row-limit does not count them. */
static int add_row(struct table *t, const struct cell *cells)
{
	int err = table__add_row(t, 0, cells);

	if (!err)
		table__keep_last(t);
	return err;
}

static int add_cost(struct table *t, const char *name, const struct range *r, uint64_t steps)
{
	struct cell cells[] = {
		cell__text(name),
		cell__text("s"),
		cell__float((double)r->total / (double)steps / 1e9),
		cell__float((double)r->max / 1e9),
		cell__float((double)r->min / 1e9),
	};

	return add_row(t, cells);
}

static struct cell per_second(double samples, uint64_t ns)
{
	return ns ? cell__float(samples * 1e9 / (double)ns) : cell__none("the time is zero");
}

static int add_ips(const struct analysis *a, struct table *t, const struct stat *s)
{
	double samples = a->opts->batch_size ? (double)a->opts->batch_size : 1;
	struct cell cells[] = {
		cell__text("ips"),
		cell__text(a->opts->batch_size ? "samples/s" : "steps/s"),
		per_second(samples * (double)s->calls, s->cpu.total),
		per_second(samples, s->cpu.min),
		per_second(samples, s->cpu.max),
	};

	return add_row(t, cells);
}

/* The line that a training script prints. A part that is zero is left out. */
static int add_step_info(const struct analysis *a, struct table *t, const struct stat *s)
{
	double batch = (double)s->cpu.total / (double)s->calls / 1e9;
	double reader = (double)s->gpu.total / (double)s->calls / 1e9;
	const char *unit = a->opts->batch_size ? "samples" : "steps";
	double samples = a->opts->batch_size ? (double)a->opts->batch_size : 1;

	if (batch <= 0)
		return 0;
	if (reader <= 0)
		return table__add_notef(t, "batch_cost: %.5f s ips: %.3f %s/s", batch,
					samples / batch, unit);
	return table__add_notef(t, "reader_cost: %.5f s batch_cost: %.5f s ips: %.3f %s/s", reader,
				batch, samples / batch, unit);
}

/* With --step-probe, --timer-only records that function alone. */
static const char *why_no_reader(const struct analysis *a)
{
	const json_t *steps = json_object_get(recording__meta(a->r), "steps");
	const char *source = json_string_value(json_object_get(steps, "source"));

	return a->timer_only && text__is(source, "--step-probe")
		       ? "--timer-only with --step-probe has that one probe: there is no "
			 "reader_cost."
		       : "No data loader was seen: there is no reader_cost.";
}

static int fill(const struct analysis *a, void *state, struct table *t)
{
	const struct stat *s = &((struct perf *)state)->steps;
	const struct column columns[] = {
		{"name", "Name", 15, NULL, CELL_TEXT}, {"unit", "Unit", 9, NULL, CELL_TEXT},
		{"avg", "Avg", 15, NULL, CELL_FLOAT},  {"max", "Max", 15, NULL, CELL_FLOAT},
		{"min", "Min", 15, NULL, CELL_FLOAT},
	};
	int err = table__add_columns(t, columns, sizeof(columns) / sizeof(*columns));

	if (err || !s->calls)
		return err ? err : table__add_note(t, "No step was recorded.");
	if (s->gpu.total)
		err = add_cost(t, "reader_cost", &s->gpu, s->calls);
	if (!err)
		err = add_cost(t, "batch_cost", &s->cpu, s->calls);
	if (!err)
		err = add_ips(a, t, s);
	if (!err && !s->gpu.total)
		err = table__add_note(t, why_no_reader(a));
	else if (!err && s->cpu.total)
		err = table__add_notef(t, "Reader Ratio: %.3f%%",
				       100.0 * (double)s->gpu.total / (double)s->cpu.total);
	return err ? err : add_step_info(a, t, s);
}

/* "batch_cost 46.05 ms (27.08 ms to 64.59 ms), reader_cost 0.760 ms (1.65 %), ips 21.7 steps/s" */
static char *costs(const struct analysis *a, const struct stat *s)
{
	const double samples = a->opts->batch_size ? (double)a->opts->batch_size : 1;
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	fprintf(f, "batch_cost %s (%s to %s)", time_text(a, s->cpu.total / s->calls).s,
		time_text(a, s->cpu.min).s, time_text(a, s->cpu.max).s);
	if (s->gpu.total && s->cpu.total)
		fprintf(f, ", reader_cost %s (%.2f %%)", time_text(a, s->gpu.total / s->calls).s,
			100.0 * (double)s->gpu.total / (double)s->cpu.total);
	if (s->cpu.total)
		fprintf(f, ", ips %.3f %s/s",
			samples * (double)s->calls * 1e9 / (double)s->cpu.total,
			a->opts->batch_size ? "samples" : "steps");
	return fclose(f) ? NULL : text;
}

static int fill_short(const struct analysis *a, void *state, struct table *t)
{
	const struct stat *s = &((struct perf *)state)->steps;
	auto_free char *text = s->calls ? costs(a, s) : NULL;
	const struct fact fact = {"perf", "perf", cell__text(text)};

	if (!s->calls)
		return 0;
	if (!text || facts__add(t, &fact, 1))
		return -ENOMEM;
	return s->gpu.total ? 0 : table__add_note(t, why_no_reader(a));
}

const struct table_impl table_perf = {
	.def = {"perf", "reader_cost, batch_cost, ips and reader ratio", true, NULL,
		USES_BATCH_SIZE},
	.title = "Perf Summary",
	.timer = true,
	.state_size = sizeof(struct perf),
	.visit = visit,
	.fill = fill,
	.fill_short = fill_short,
};
