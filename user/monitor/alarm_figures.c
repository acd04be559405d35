// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/alarm_figures.h"
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "common/json_memory.h"
#include "monitor/clean_name.h"

#define NS_MAX 1e18 /* 30 years: a larger value means a damaged recording */

static double seconds(const json_t *row, const char *key)
{
	const double ns = json_number_value(json_object_get(row, key));

	return isfinite(ns) && ns > 0 && ns <= NS_MAX ? ns / 1e9 : 0;
}

static bool is_named(const json_t *row, const char *name)
{
	const char *text = json_string_value(json_object_get(row, "name"));

	return text && !strcmp(text, name);
}

/* The step has a row of its own. The run time is no part of it. */
static void take_row(const json_t *row, struct alarm_figures *out)
{
	const double before_s = seconds(row, "before_ns"), after_s = seconds(row, "after_ns");
	const char *name = json_string_value(json_object_get(row, "name")),
		   *verdict = json_string_value(json_object_get(row, "verdict"));

	if (is_named(row, "step")) {
		out->step_before_s = before_s;
		out->step_after_s = after_s;
		out->is_chance = verdict && !strcmp(verdict, "same");
		return;
	}
	if (!name || is_named(row, "run time") ||
	    json_integer_value(json_object_get(row, "depth")) != 0 ||
	    after_s - before_s <= out->cause_s)
		return;
	clean_name__copy(out->cause, sizeof(out->cause), name);
	out->cause_s = after_s - before_s;
}

int alarm_figures__parse(const char *text, size_t len, struct alarm_figures *out)
{
	json_t *tables = NULL;
	const json_t *rows, *row;
	size_t i;
	int err = json_memory__parse(text, len, &tables);

	*out = (struct alarm_figures){0};
	rows = json_object_get(json_object_get(tables, "steps"), "rows");
	json_array_foreach(rows, i, row)
	{
		take_row(row, out);
	}
	if (!err && !(out->step_before_s > 0 && out->step_after_s > 0))
		err = -ENODATA;
	json_decref(tables);
	return err;
}

void alarm_figures__describe(const struct alarm_figures *f, char *out, size_t size)
{
	if (*f->cause)
		snprintf(out, size, "%s takes %.3f ms more, a step %.3f ms instead of %.3f ms%s",
			 f->cause, 1e3 * f->cause_s, 1e3 * f->step_after_s, 1e3 * f->step_before_s,
			 f->is_chance ? "; chance may explain it" : "");
	else
		snprintf(out, size, "no phase takes longer in the recording made for it");
}
