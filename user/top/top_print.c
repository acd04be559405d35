// SPDX-License-Identifier: BSD-2-Clause
#include "top/top_print.h"
#include <inttypes.h>
#include <jansson.h>
#include "common/csv_cell.h"
#include "common/err.h"
#include "common/json_out.h"
#include "common/util.h"
#include "top/job_view.h"

#define SCHEMA_VERSION 1

/* ---- table ---- */

/* Prints the rows in parts as high as a screen. */
static int print_table(const struct job_list *l, const struct top_print_opts *o, FILE *out)
{
	auto_free struct canvas *c = calloc(1, sizeof(*c));
	char text[CANVAS_COLS * 4 + 1];
	size_t done = 0;

	if (!c)
		return -ENOMEM;
	do {
		struct job_list part = *l;
		const struct job_view view = {.jobs = &part};
		int rows;

		part.jobs += done;
		part.cnt = l->cnt - done < CANVAS_ROWS - 1 ? l->cnt - done : CANVAS_ROWS - 1;
		canvas__clear(c, o->width > VIEW_COLS ? o->width : VIEW_COLS, CANVAS_ROWS,
			      o->ascii);
		rows = job_view__draw_table(&view, c);
		for (int row = done ? 1 : 0; row < rows; row++) {
			canvas__row(c, row, text, sizeof(text));
			fprintf(out, "%s\n", text);
		}
		done += part.cnt;
	} while (done < l->cnt);
	return 0;
}

/* ---- JSON ---- */

static json_t *known(double value, bool is_known)
{
	return is_known ? json_real(value) : json_null();
}

static json_t *figures(const struct job_figure *list, size_t cnt)
{
	json_t *all = json_object();

	for (size_t i = 0; i < cnt; i++)
		json_object_set_new(all, list[i].name, json_real(list[i].value));
	return all;
}

static json_t *phases(const struct job *j)
{
	json_t *all = json_object();

	for (size_t i = 0; i < PHASE_CNT && job__phase_sum(j) > 0; i++)
		json_object_set_new(all, job_phase_names[i],
				    json_real(j->phases[i] / job__phase_sum(j)));
	return all;
}

static json_t *ranks(const struct job *j)
{
	json_t *all = json_array();

	for (size_t i = 0; i < j->rank_cnt; i++) {
		const struct job_rank *r = &j->ranks[i];

		json_array_append_new(
			all,
			json_pack("{s:s,s:I,s:s,s:I,s:I,s:o,s:o,s:o,s:o,s:s,s:s,s:s,s:s}", "rank",
				  r->rank, "pid", (json_int_t)r->pid, "state", r->state, "steps",
				  (json_int_t)r->steps, "windows", (json_int_t)r->windows,
				  "step_seconds", known(r->step_s, r->step_s > 0), "cpus",
				  known(r->cpus, r->cpus >= 0), "gpus",
				  known(r->gpus, r->gpus >= 0), "devices",
				  figures(r->devices, r->device_cnt), "device_times",
				  r->device_times, "device_times_refused", r->device_refused,
				  "regression", r->regression, "latest_recording", r->file));
	}
	return all;
}

static json_t *job_json(const struct job *j)
{
	return json_pack("{s:s,s:I,s:s,s:s,s:s,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "job_name",
			 j->key.name, "uid", (json_int_t)j->key.uid, "container_id",
			 j->key.container, "pod_uid", j->key.pod, "framework",
			 j->ranks[0].framework, "framework_version", j->ranks[0].version,
			 "step_seconds", known(j->step_s, j->step_s > 0), "phase_shares", phases(j),
			 "cpus", known(j->cpus, j->cpus >= 0), "gpus", known(j->gpus, j->gpus >= 0),
			 "operator_seconds", figures(j->operators, j->operator_cnt), "findings",
			 figures(j->findings, j->finding_cnt), "ranks", ranks(j));
}

static int print_json(const struct job_list *l, FILE *out)
{
	json_t *jobs = json_array(), *all;
	int err;

	for (size_t i = 0; i < l->cnt; i++)
		json_array_append_new(jobs, job_json(&l->jobs[i]));
	all = json_pack("{s:i,s:o,s:I}", "schema_version", SCHEMA_VERSION, "jobs", jobs,
			"ranks_left_out", (json_int_t)l->left_out);
	err = all ? json_dumpf(all, out, JSON_INDENT(1) | json_out__flags(out)) : -1;
	fputc('\n', out);
	json_decref(all);
	return err && !ferror(out) ? -ENOMEM : 0;
}

/* ---- CSV ---- */

static void put(void *ctx, const char *text, size_t len)
{
	fwrite(text, 1, len, ctx);
}

static void put_text(FILE *out, const char *text, bool raw)
{
	csv_cell__write(text, raw, put, out);
}

static void put_known(FILE *out, double value, bool is_known)
{
	if (is_known)
		fprintf(out, ",%.9g", value);
	else
		fputc(',', out);
}

static void print_csv(const struct job_list *l, const struct top_print_opts *o, FILE *out)
{
	fputs("job_name,uid,ranks,framework,step_seconds", out);
	for (size_t i = 0; i < PHASE_CNT; i++)
		fprintf(out, ",%s_share", job_phase_names[i]);
	fputs(",cpus,gpus,findings\n", out);
	for (size_t i = 0; i < l->cnt; i++) {
		const struct job *j = &l->jobs[i];
		const double sum = job__phase_sum(j);

		put_text(out, j->key.name, o->raw_csv);
		fprintf(out, ",%" PRId64 ",%zu,", j->key.uid, j->rank_cnt);
		put_text(out, j->ranks[0].framework, o->raw_csv);
		put_known(out, j->step_s, j->step_s > 0);
		for (size_t k = 0; k < PHASE_CNT; k++)
			put_known(out, j->phases[k] / sum, sum > 0);
		put_known(out, j->cpus, j->cpus >= 0);
		put_known(out, j->gpus, j->gpus >= 0);
		put_known(out, (double)j->finding_cnt, j->windows);
		fputc('\n', out);
	}
}

int top_print__jobs(const struct job_list *l, const struct top_print_opts *o, FILE *out)
{
	int err = 0;

	if (o->format == TOP_JSON)
		err = print_json(l, out);
	else if (o->format == TOP_CSV)
		print_csv(l, o, out);
	else
		err = print_table(l, o, out);
	if (!err && (fflush(out) || ferror(out)))
		return err__unwritten("to standard output");
	return err;
}
