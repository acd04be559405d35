// SPDX-License-Identifier: BSD-2-Clause
/* No share is above 100 %, and nothing saves more than the step: every table of every recording. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "common/util.h"
#include "golden.h"
#include "model_synth.h"
#include "random_job.h"

TestSuite(shares);

/* Columns in percent that are not shares of a whole. */
static bool may_be_more(const char *table, const json_t *row, const char *key)
{
	const char *device = json_string_value(json_object_get(row, "device"));

	if (!strcmp(table, "device"))
		return text__is(device, "CPU(Process)"); /* 100 % is one core */
	return !strcmp(table, "steps") && !strcmp(key, "of_median_percent");
}

static const char *name_of(const json_t *row)
{
	static const char *const keys[] = {"name", "device", "event_type", "finding", "operator"};
	const char *name = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(keys) && !name; i++)
		name = json_string_value(json_object_get(row, keys[i]));
	return name ? name : "?";
}

/* "... for 76 % of the step" */
static void check_text(const char *what, const char *text)
{
	static const char unit[] = " % of the step";

	for (const char *at = text; at && (at = strstr(at, unit)); at++) {
		const char *number = at;

		while (number > text && strchr("0123456789.", number[-1]))
			number--;
		cr_expect(strtod(number, NULL) <= 100, "%s: %s", what, text);
	}
}

static size_t check_row(const char *what, const char *table, json_t *row)
{
	const size_t len = strlen("_percent");
	const char *key;
	json_t *value;
	size_t cnt = 0;

	check_text(what, json_string_value(json_object_get(row, "finding")));
	check_text(what, json_string_value(json_object_get(row, "evidence")));
	json_object_foreach(row, key, value)
	{
		if (strlen(key) < len || strcmp(key + strlen(key) - len, "_percent") != 0 ||
		    !json_is_number(value) || may_be_more(table, row, key))
			continue;
		cnt++;
		cr_expect(json_number_value(value) <= 100.000001 && json_number_value(value) >= 0,
			  "%s: table %s, row %s: %s is %f", what, table, name_of(row), key,
			  json_number_value(value));
	}
	return cnt;
}

static size_t check_report(const char *what, const struct recording *r,
			   const struct report_opts *opts)
{
	auto_free char *text = NULL;
	size_t len, cnt = 0;
	FILE *out = open_memstream(&text, &len);
	const char *table;
	json_t *report, *t;

	cr_assert_eq(report__print(r, opts, out), 0, "%s", what);
	fclose(out);
	report = json_loads(text, 0, NULL);
	cr_assert_not_null(report, "%s", what);
	json_object_foreach(report, table, t)
	{
		json_t *rows = json_object_get(t, "rows");

		for (size_t i = 0; i < json_array_size(rows); i++)
			cnt += check_row(what, table, json_array_get(rows, i));
	}
	json_decref(report);
	return cnt;
}

static size_t check(const char *what, const struct recording *r)
{
	auto_free char *tables = report__all_tables();
	const struct report_opts options[] = {
		{.tables = tables, .style.format = TABLE_JSON},
		{.tables = tables, .by_device = true, .style.format = TABLE_JSON},
		{.tables = tables,
		 .by_thread = true,
		 .op_detail = true,
		 .raw_times = true,
		 .style.format = TABLE_JSON},
		{.tables = tables, .group_by = GROUP_BY_SHAPE, .style.format = TABLE_JSON},
	};
	size_t cnt = 0;

	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		cnt += check_report(what, r, &options[i]);
	return cnt;
}

Test(shares, of_every_golden_recording)
{
	DIR *dir = opendir(GOLDEN_DIR);
	size_t cnt = 0, files = 0;

	cr_assert_not_null(dir);
	for (struct dirent *d; (d = readdir(dir));) {
		const char *end = strstr(d->d_name, ".ptrec");
		char name[64];
		struct recording *r;

		if (!end)
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)(end - d->d_name), d->d_name);
		r = golden__open(name);
		cnt += check(name, r);
		recording__close(r);
		files++;
	}
	closedir(dir);
	cr_assert_geq(files, 15);
	cr_assert_geq(cnt, 1000);
}

Test(shares, of_random_jobs)
{
	size_t cnt = 0;

	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct synth s = random_job(seed);
		char what[32];

		snprintf(what, sizeof(what), "random job %llu", (unsigned long long)seed);
		cnt += check(what, s.r);
		synth__free(&s);
	}
	cr_assert_geq(cnt, 1000);
}
