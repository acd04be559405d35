// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/figures.h"
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/json_memory.h"
#include "common/median.h"
#include "common/util.h"
#include "monitor/clean_name.h"

#define NS_MAX 1e18 /* 30 years: a larger value means a damaged recording */

/* ---- values ---- */

static const json_t *rows_of(const json_t *tables, const char *table)
{
	return json_object_get(json_object_get(tables, table), "rows");
}

static const char *text_of(const json_t *row, const char *key)
{
	const char *text = json_string_value(json_object_get(row, key));

	return text ? text : "";
}

/* 0 for a missing or impossible number. */
static double number_of(const json_t *row, const char *key, double most)
{
	const double value = json_number_value(json_object_get(row, key));

	return isfinite(value) && value > 0 && value <= most ? value : 0;
}

static void take_text(char *to, size_t size, const json_t *row, const char *key)
{
	clean_name__copy(to, size, text_of(row, key));
}

/* ---- tables ---- */

/* "PyTorch 2.15.0+cpu" */
static void split_version(struct figures *f)
{
	char *blank = strrchr(f->framework, ' ');

	if (!blank)
		return;
	snprintf(f->version, sizeof(f->version), "%s", blank + 1);
	*blank = '\0';
}

/* "DataLoader: each step opens where ..." */
static void take_summary(struct figures *f, const json_t *tables)
{
	const json_t *row = json_array_get(rows_of(tables, "summary"), 0);

	take_text(f->framework, sizeof(f->framework), row, "framework");
	take_text(f->detail, sizeof(f->detail), row, "detail");
	take_text(f->step_rule, sizeof(f->step_rule), row, "step_rule");
	f->step_rule[strcspn(f->step_rule, ":")] = '\0';
	split_version(f);
}

static int take_steps(struct figures *f, const json_t *tables)
{
	const json_t *rows = rows_of(tables, "steps"), *row;
	auto_free uint64_t *sorted = NULL;
	size_t i;

	f->step_ns = calloc(FIGURES_STEPS, sizeof(*f->step_ns));
	sorted = calloc(FIGURES_STEPS, sizeof(*sorted));
	if (!f->step_ns || !sorted)
		return -ENOMEM;
	json_array_foreach(rows, i, row)
	{
		const double ns = number_of(row, "time_ns", NS_MAX);

		if (ns > 0 && f->step_cnt < FIGURES_STEPS)
			f->step_ns[f->step_cnt++] = (uint64_t)ns;
	}
	memcpy(sorted, f->step_ns, f->step_cnt * sizeof(*sorted));
	f->median_ns = median__of(sorted, f->step_cnt);
	return 0;
}

static void lower(char *name)
{
	for (; *name; name++)
		if (*name >= 'A' && *name <= 'Z')
			*name += 'a' - 'A';
}

static void take_phases(struct figures *f, const json_t *tables)
{
	const json_t *row;
	size_t i;

	json_array_foreach(rows_of(tables, "model"), i, row)
	{
		struct named_figure *phase = &f->phases[f->phase_cnt];

		if (json_integer_value(json_object_get(row, "depth")) != 1 ||
		    f->phase_cnt == FIGURES_PHASES)
			continue;
		take_text(phase->name, sizeof(phase->name), row, "name");
		lower(phase->name);
		phase->value = number_of(row, "cpu_total_ns", NS_MAX) / 1e9;
		f->phase_cnt += phase->name[0] && phase->value > 0;
	}
}

/* Does the row count threads of this process, and not time within another row? */
static bool is_own(const json_t *row)
{
	return !json_integer_value(json_object_get(row, "depth")) &&
	       !strncmp(text_of(row, "section"), "Thread", strlen("Thread"));
}

static int by_value(const void *a, const void *b)
{
	const struct named_figure *x = a, *y = b;

	return (x->value < y->value) - (x->value > y->value);
}

static int take_operators(struct figures *f, const json_t *tables)
{
	const json_t *row;
	size_t i;

	f->operators = calloc(FIGURES_OPERATORS, sizeof(*f->operators));
	if (!f->operators)
		return -ENOMEM;
	json_array_foreach(rows_of(tables, "operator"), i, row)
	{
		const double seconds = number_of(row, "cpu_total_ns", NS_MAX) / 1e9;
		struct named_figure *op = &f->operators[f->operator_cnt];

		if (!is_own(row))
			continue;
		if (f->operator_cnt == FIGURES_OPERATORS) {
			f->other_s += seconds;
			continue;
		}
		take_text(op->name, sizeof(op->name), row, "name");
		op->value = seconds;
		f->operator_cnt += op->name[0] && op->value > 0;
	}
	qsort(f->operators, f->operator_cnt, sizeof(*f->operators), by_value);
	return 0;
}

static void take_findings(struct figures *f, const json_t *tables)
{
	const json_t *row;
	size_t i;

	json_array_foreach(rows_of(tables, "findings"), i, row)
	{
		struct named_figure *finding = &f->findings[f->finding_cnt];

		if (f->finding_cnt == FIGURES_FINDINGS)
			continue;
		take_text(finding->name, sizeof(finding->name), row, "rule");
		finding->value = number_of(row, "share_percent", 100) / 100;
		f->finding_cnt += finding->name[0] != '\0';
	}
}

/* The table has rows of processors, too. A GPU without a figure (null) is left out. */
static void take_devices(struct figures *f, const json_t *tables)
{
	const json_t *row;
	size_t i;

	json_array_foreach(rows_of(tables, "device"), i, row)
	{
		struct named_figure *device = &f->devices[f->device_cnt];

		if (f->device_cnt == FIGURES_DEVICES ||
		    json_integer_value(json_object_get(row, "depth")) != 0 ||
		    strncmp(text_of(row, "device"), "GPU", strlen("GPU")) != 0 ||
		    !json_is_number(json_object_get(row, "utilization_percent")))
			continue;
		take_text(device->name, sizeof(device->name), row, "device");
		device->value = number_of(row, "utilization_percent", 100) / 100;
		f->device_cnt++;
	}
}

static void add_state(struct thread_figure *to, const json_t *row)
{
	const double ns = number_of(row, "total_ns", NS_MAX);

	if (!strcmp(text_of(row, "name"), "run"))
		to->run += ns;
	else if (!strcmp(text_of(row, "name"), "runnable"))
		to->runnable += ns;
}

/* A thread's row comes before the rows of its states. */
static double sum_threads(struct thread_figures *t, const json_t *tables)
{
	struct thread_figure *thread = &t->others;
	const json_t *row;
	double longest = 0;
	size_t i;

	json_array_foreach(rows_of(tables, "sched"), i, row)
	{
		const json_int_t depth = json_integer_value(json_object_get(row, "depth"));

		if (depth == 1)
			add_state(thread, row);
		if (depth)
			continue;
		longest = fmax(longest, number_of(row, "total_ns", NS_MAX));
		thread = t->cnt < FIGURES_THREADS ? &t->list[t->cnt++] : &t->others;
		t->other_cnt += thread == &t->others;
		if (thread != &t->others)
			take_text(thread->name, sizeof(thread->name), row, "name");
	}
	return longest;
}

/* The table has the threads that ran most first. A thread that lived through all steps was in its
 * states as long as the steps took. */
static void take_threads(struct figures *f, const json_t *tables)
{
	struct thread_figures *t = &f->threads;
	const double longest = sum_threads(t, tables);

	for (size_t i = 0; i <= t->cnt; i++) {
		struct thread_figure *thread = i < t->cnt ? &t->list[i] : &t->others;

		thread->run = longest > 0 ? thread->run / longest : 0;
		thread->runnable = longest > 0 ? thread->runnable / longest : 0;
	}
	t->is_cut = json_integer_value(
			    json_object_get(json_object_get(tables, "sched"), "left_out")) != 0;
}

double figures__mean_s(const struct figures *f)
{
	double sum_s = 0;

	for (size_t i = 0; i < f->step_cnt; i++)
		sum_s += (double)f->step_ns[i] / 1e9;
	return f->step_cnt ? sum_s / (double)f->step_cnt : 0;
}

static void take_cost(struct figures *f, const json_t *tables)
{
	const json_t *row = json_array_get(rows_of(tables, "cost"), 0);

	/* The table's percentage is of the thread's CPU time. Steps may sleep or wait for a device.
	 */
	if (f->step_cnt)
		f->overhead =
			number_of(row, "added_per_step_ns", NS_MAX) / 1e9 / figures__mean_s(f);
	f->lost = (uint64_t)number_of(row, "events_lost", NS_MAX);
}

static void look_for_cuts(struct figures *f, const json_t *tables)
{
	static const char *const summed[] = {"steps", "model", "operator"};

	for (size_t i = 0; i < ARRAY_SIZE(summed); i++)
		f->is_cut |= json_integer_value(json_object_get(json_object_get(tables, summed[i]),
								"left_out")) != 0;
}

int figures__parse(const char *text, size_t len, struct figures *out)
{
	json_t *tables = NULL;
	int err = json_memory__parse(text, len, &tables);

	*out = (struct figures){0};
	if (!err && !json_is_object(tables))
		err = -EINVAL;
	if (err) {
		json_decref(tables);
		return err;
	}
	take_summary(out, tables);
	err = take_steps(out, tables);
	if (!err)
		err = take_operators(out, tables);
	take_phases(out, tables);
	take_findings(out, tables);
	take_devices(out, tables);
	take_threads(out, tables);
	take_cost(out, tables);
	look_for_cuts(out, tables);
	json_decref(tables);
	return err ? err : out->step_cnt ? 0 : -ENODATA;
}

void figures__free(struct figures *f)
{
	free(f->step_ns);
	free(f->operators);
	*f = (struct figures){0};
}
