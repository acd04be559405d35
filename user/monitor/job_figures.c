// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/job_figures.h"
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include "common/json_memory.h"
#include "monitor/clean_name.h"

static void take_straggler(const json_t *row, struct job_figures *out)
{
	const json_int_t pid = json_integer_value(json_object_get(row, "pid"));
	const double percent = json_number_value(json_object_get(row, "of_step_percent"));
	const char *phase = json_string_value(json_object_get(row, "phase"));

	if (pid <= 0 || pid > INT32_MAX || !isfinite(percent) || percent <= 0 || percent > 100)
		return;
	out->is_judged = true;
	out->pid = (int)pid;
	out->wait_ratio = percent / 100;
	clean_name__copy(out->phase, sizeof(out->phase), phase ? phase : "");
}

int job_figures__parse(const char *text, size_t len, struct job_figures *out)
{
	const json_t *straggler;
	json_t *tables = NULL;
	int err = json_memory__parse(text, len, &tables);

	*out = (struct job_figures){0};
	if (!err && !json_is_object(tables))
		err = -EINVAL;
	if (!err) {
		straggler = json_object_get(tables, "straggler");
		out->is_judged = json_is_true(json_object_get(straggler, "judged"));
		take_straggler(json_array_get(json_object_get(straggler, "rows"), 0), out);
	}
	json_decref(tables);
	return err;
}
