// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/job/job.h"
#include "analysis/findings/findings.h"
#include "analysis/job/host_clocks.h"
#include "analysis/job/job_ranks.h"
#include "analysis/job/job_waits.h"
#include "analysis/job/straggler.h"
#include "analysis/render/tables_print.h"
#include "common/err.h"
#include "analysis/message_table.h"
#include "common/json_memory.h"
#include "common/json_out.h"
#include "common/util.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { FINDINGS, RANKS, STRAGGLER, TABLES };

static int make_tables(const struct job *j, struct table **tables)
{
	struct straggler s;
	int err;

	tables[FINDINGS] = table__new(table_findings.def.key, table_findings.title);
	tables[RANKS] = table__new("ranks", "Ranks");
	tables[STRAGGLER] = table__new("straggler", "Straggler");
	if (!tables[FINDINGS] || !tables[RANKS] || !tables[STRAGGLER])
		return -ENOMEM;
	err = straggler__find(j, &s);
	if (!err)
		err = finding_straggler__fill(j, &s, tables[FINDINGS]);
	if (!err)
		err = job_ranks__fill(j, tables[RANKS]);
	if (!err)
		err = host_clocks__describe(j, tables[RANKS]);
	return err ? err : straggler__fill(&s, tables[STRAGGLER]);
}

static int print_job(const struct job *j, FILE *out)
{
	struct table *tables[TABLES] = {};
	int err = make_tables(j, tables);

	if (!err)
		err = tables__print(tables, ARRAY_SIZE(tables), &j->opts->style, out);
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		table__free(tables[i]);
	return err;
}

static int print_head(const struct job *j, const struct member *m, FILE *out)
{
	auto_free char *head = NULL;
	int len = m->times.rank >= 0 ? asprintf(&head, "rank %d: %s", m->times.rank, m->path)
				     : asprintf(&head, "process %u: %s", m->times.pid, m->path);

	if (len < 0) {
		head = NULL;
		return -ENOMEM;
	}
	if (j->opts->style.format != TABLE_CSV || text__is_shown(out)) {
		fputs("\n# ", out);
		text__put_line(out, head);
		fputs(j->opts->style.format == TABLE_CSV ? "\n\n" : "\n", out);
		return 0;
	}
	fputs("\r\n", out);
	csv__put_comment(head, &j->opts->style, out);
	fputs("\r\n", out);
	return 0;
}

static int print_text(const struct job *j, FILE *out)
{
	int err = print_job(j, out);

	for (size_t i = 0; i < j->cnt && !err && j->opts->tables; i++) {
		err = print_head(j, &j->members[i], out);
		if (!err)
			err = report__print(j->members[i].recording, j->opts, out);
	}
	return err;
}

/* Returns what print() writes, parsed as JSON. */
static int to_json(int (*print)(const void *ctx, FILE *out), const void *ctx, json_t **json)
{
	auto_free char *text = NULL;
	size_t len;
	FILE *memory = open_memstream(&text, &len);
	int err = memory ? print(ctx, memory) : -ENOMEM;

	if (memory)
		fclose(memory);
	*json = NULL;
	if (err || !text)
		return err ? err : -ENOMEM;
	return json_memory__parse(text, len, json);
}

static int print_job_json(const void *ctx, FILE *out)
{
	return print_job(ctx, out);
}

struct one_report {
	const struct recording *recording;
	const struct report_opts *opts;
};

static int print_one_json(const void *ctx, FILE *out)
{
	const struct one_report *one = ctx;

	return report__print(one->recording, one->opts, out);
}

static int add_recordings(const struct job *j, json_t *all)
{
	json_t *list = json_array();
	int err = 0;

	for (size_t i = 0; i < j->cnt && !err; i++) {
		const struct member *m = &j->members[i];
		const struct one_report one = {m->recording, j->opts};
		json_t *tables;

		err = to_json(print_one_json, &one, &tables);
		if (!err)
			err = json_array_append_new(list, json_pack("{s:i, s:s, s:o}", "rank",
								    m->times.rank, "path", m->path,
								    "tables", tables))
				      ? -ENOMEM
				      : 0;
	}
	return json_object_set_new(all, "recordings", list) ? -ENOMEM : err;
}

static int print_json(const struct job *j, FILE *out)
{
	json_t *all;
	int err = to_json(print_job_json, j, &all);

	if (!err && j->opts->tables)
		err = add_recordings(j, all);
	if (!err &&
	    (json_dumpf(all, out, JSON_INDENT(1) | JSON_REAL_PRECISION(9) | json_out__flags(out)) ||
	     fputc('\n', out) == EOF || fflush(out)))
		err = err__unwritten("the report");
	json_decref(all);
	return err;
}

static int by_rank(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	return (x->times.rank > y->times.rank) - (x->times.rank < y->times.rank);
}

/* A file that is named twice is a slip on the command line. */
static int check_distinct(const char *const *paths, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		for (size_t k = 0; k < i; k++)
			if (file__is_same(paths[i], paths[k]))
				return err__set(-EINVAL, MESSAGE_RANK_GIVEN_TWICE, paths[k],
						paths[i]);
	return 0;
}

static int open_member(struct member *m, const char *path, const struct report_opts *opts)
{
	int err = recording__open(path, &m->recording);

	m->path = path;
	if (err)
		return err;
	m->recorded_offset_ns = m->wall_offset_ns = host_clocks__recorded_ns(m->recording);
	return rank_times__read(m->recording, opts->raw_times, &m->times);
}

int job__print(const char *const *paths, size_t cnt, const struct report_opts *opts, FILE *out)
{
	auto_free struct member *members = calloc(cnt, sizeof(*members));
	struct job j = {.opts = opts, .cnt = cnt, .members = members};
	int err = members ? check_distinct(paths, cnt) : -ENOMEM;

	for (size_t i = 0; i < cnt && !err; i++)
		err = open_member(&members[i], paths[i], opts);
	if (!err) {
		qsort(members, cnt, sizeof(*members), by_rank);
		err = host_clocks__correct(&j);
	}
	if (!err) {
		job_waits__measure(&j);
		err = opts->style.format == TABLE_JSON ? print_json(&j, out) : print_text(&j, out);
	}
	for (size_t i = 0; i < cnt && members; i++) {
		rank_times__free(&members[i].times);
		recording__close(members[i].recording);
	}
	return err == -ENOMEM ? err__set(err, MESSAGE_REPORT_OUT_OF_MEMORY) : err;
}
