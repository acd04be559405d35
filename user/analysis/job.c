// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/job.h"
#include "analysis/analysis.h"
#include "analysis/rank_times.h"
#include "analysis/step_parts.h"
#include "common/err.h"
#include "common/median.h"
#include "common/util.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define WORTH_WAITING 0.05 /* share of a step that the others wait for a straggler, at least */
#define EXPLAINS      0.25 /* share of their wait that a phase must take longer to be the reason */

struct job {
	const struct report_opts *opts;
	size_t cnt;
	struct member {
		const char *path;
		struct recording *recording;
		struct rank_times times;
	} *members;
};

/* ---- the table of ranks ---- */

static uint64_t per_step(const struct rank_times *t, uint64_t ns)
{
	return t->steps ? ns / t->steps : 0;
}

static struct cell rank_cell(const struct member *m)
{
	return m->times.rank >= 0 ? cell__count((uint64_t)m->times.rank)
				  : cell__none("the process was started without a rank");
}

static struct cell cpu_cell(const struct recording *r)
{
	const json_t *cpu = json_object_get(recording__summary(r), "cpu");
	json_int_t process = json_integer_value(json_object_get(cpu, "process_ns"));
	json_int_t wall = json_integer_value(json_object_get(cpu, "wall_ns"));

	return wall > 0 && process >= 0 ? cell__share((uint64_t)process, (uint64_t)wall)
					: cell__none("CPU time was not recorded");
}

static const char timer_only[] = "--timer-only does not record it";

static bool is_known(const struct rank_times *t, size_t part)
{
	return !t->timer_only || step_part__is_timed(part);
}

static int add_rank(const struct member *m, struct table *t)
{
	const struct rank_times *times = &m->times;
	const char *none = times->steps ? NULL : "no step was recorded";
	struct cell cells[12] = {
		rank_cell(m),
		times->pid ? cell__count(times->pid) : cell__none("not recorded"),
		cell__count(times->steps),
		none ? cell__none(none) : cell__time(per_step(times, times->step_ns)),
	};
	size_t n = 4;

	for (size_t p = 0; p < STEP_PARTS; p++)
		cells[n++] =
			none ? cell__none(none)
			: is_known(times, p)
				? cell__time(per_step(times, times->phase_ns[step_parts[p].kind]))
				: cell__none(timer_only);
	if (!none && times->timer_only)
		none = timer_only;
	if (!none && times->coverage.has_gap)
		none = times->coverage.why;
	cells[n++] = none ? cell__none(none) : cell__time(per_step(times, times->collective_ns));
	cells[n++] = none		 ? cell__none(none)
		     : times->has_device ? cell__time(per_step(times, times->compute_ns))
					 : cell__none("no kernels were recorded");
	cells[n++] = cpu_cell(m->recording);
	return table__add_row(t, 0, cells);
}

static bool same_rank_twice(const struct job *j)
{
	for (size_t i = 1; i < j->cnt; i++) /* sorted by rank */
		if (j->members[i].times.rank >= 0 &&
		    j->members[i].times.rank == j->members[i - 1].times.rank)
			return true;
	return false;
}

static bool some_without_rank(const struct job *j)
{
	return j->cnt > 1 && j->members[0].times.rank < 0;
}

static bool some_in_part(const struct job *j)
{
	for (size_t i = 0; i < j->cnt; i++)
		if (j->members[i].times.coverage.has_gap)
			return true;
	return false;
}

/* From the recording's clock, which each host has for itself, to the wall clock. */
static uint64_t wall_offset_ns(const struct recording *r)
{
	const json_t *clock = json_object_get(recording__meta(r), "clock");

	return (uint64_t)(json_integer_value(json_object_get(clock, "realtime_ns")) -
			  json_integer_value(json_object_get(clock, "monotonic_ns")));
}

/* Do the ranks show the same time, if only in part? Those without a step are not asked. */
static bool windows_meet(const struct job *j)
{
	uint64_t begin = 0, end = UINT64_MAX;

	for (size_t i = 0; i < j->cnt; i++) {
		const struct rank_times *t = &j->members[i].times;
		const uint64_t offset = wall_offset_ns(j->members[i].recording);

		if (!t->steps)
			continue;
		begin = t->begin_ns + offset > begin ? t->begin_ns + offset : begin;
		end = t->end_ns + offset < end ? t->end_ns + offset : end;
	}
	return begin < end;
}

static int fill_ranks(const struct job *j, struct table *t)
{
	const struct column columns[] = {
		{"rank", "Rank", 0, NULL, CELL_COUNT},
		{"pid", "Process", 0, NULL, CELL_COUNT},
		{"steps", "Steps", 0, NULL, CELL_COUNT},
		{"step", "Step", 0, NULL, CELL_TIME},
		{"dataloader", "Loader", 0, NULL, CELL_TIME},
		{"forward", "Forward", 0, NULL, CELL_TIME},
		{"backward", "Backward", 0, NULL, CELL_TIME},
		{"optimization", "Optim.", 0, NULL, CELL_TIME},
		{"others", "Others", 0, NULL, CELL_TIME},
		{"collectives", "Collect.", 0, NULL, CELL_TIME},
		{"compute", "GPU", 0, NULL, CELL_TIME},
		{"cpu", "CPU(%)", 0, NULL, CELL_PERCENT},
	};
	int err = table__add_columns(t, columns, ARRAY_SIZE(columns));

	for (size_t i = 0; i < j->cnt && !err; i++)
		err = add_rank(&j->members[i], t);
	if (!err)
		err = table__add_note(t,
				      "Mean times of a step. Collect.: collectives under way; the "
				      "phases are without them. GPU: kernels that belong to none.");
	if (!err && !windows_meet(j))
		err = table__add_note(t, "The windows of the ranks do not overlap: they show "
					 "different steps.");
	if (!err && some_in_part(j))
		err = table__add_note(t, "Of a rank device times end within the window: its "
					 "collectives are known in part, and its phases are "
					 "without these alone.");
	if (!err && same_rank_twice(j))
		err = table__add_note(t, "A rank appears twice: are these recordings of one job?");
	if (!err && some_without_rank(j))
		err = table__add_note(t, "A process was started without a rank: are these "
					 "recordings of one job?");
	return err;
}

/* ---- the straggler ---- */

struct straggler {
	const struct member *member; /* NULL: none */
	const char *why_none;
	uint64_t wait_ns, step_ns; /* means of the others, per step */
	enum span_kind phase;	   /* KIND_STEP: no phase explains it; KIND_KERNEL: the device */
	uint64_t own_ns, others_ns;
};

static uint64_t time_of(const struct rank_times *t, enum span_kind phase)
{
	return per_step(t, phase == KIND_KERNEL ? t->compute_ns : t->phase_ns[phase]);
}

/* Median of the ranks but one. */
static uint64_t median_of_others(const struct job *j, const struct member *one,
				 enum span_kind phase, uint64_t *values)
{
	size_t cnt = 0;

	for (size_t i = 0; i < j->cnt; i++)
		if (&j->members[i] != one)
			values[cnt++] = time_of(&j->members[i].times, phase);
	return median__of(values, cnt);
}

static int explain(const struct job *j, struct straggler *s)
{
	auto_free uint64_t *values = calloc(j->cnt, sizeof(*values));
	double most = EXPLAINS * (double)s->wait_ns;

	if (!values)
		return -ENOMEM;
	for (size_t i = 0; i <= STEP_PARTS; i++) {
		enum span_kind phase = i < STEP_PARTS ? step_parts[i].kind : KIND_KERNEL;
		uint64_t own = time_of(&s->member->times, phase);
		uint64_t others = median_of_others(j, s->member, phase, values);

		if ((double)own - (double)others <= most)
			continue;
		most = (double)own - (double)others;
		s->phase = phase;
		s->own_ns = own;
		s->others_ns = others;
	}
	return 0;
}

/* Who comes last to the collectives spends the least time in them. */
static int find_straggler(const struct job *j, struct straggler *s)
{
	const struct member *last = &j->members[0];
	uint64_t collectives = 0, steps = 0;

	*s = (struct straggler){.phase = KIND_STEP};
	for (size_t i = 0; i < j->cnt; i++) {
		const struct rank_times *t = &j->members[i].times;

		if (!t->steps)
			s->why_none = "a rank has no step";
		else if (t->timer_only)
			s->why_none = "--timer-only does not record collectives, in which ranks "
				      "wait for each other";
		else if (!t->collective_ns)
			s->why_none =
				"no collectives were seen, in which ranks wait for each other";
		if (per_step(t, t->collective_ns) <
		    per_step(&last->times, last->times.collective_ns))
			last = &j->members[i];
		collectives += per_step(t, t->collective_ns);
		steps += per_step(t, t->step_ns);
	}
	if (some_in_part(j))
		s->why_none = "device times of a rank end within the window, and with them its "
			      "collectives";
	if (!windows_meet(j))
		s->why_none = "the windows of the ranks do not overlap, so it cannot be told who "
			      "waited for whom";
	if (j->cnt < 2)
		s->why_none = "there is one rank only";
	if (s->why_none)
		return 0;
	s->wait_ns =
		(collectives - per_step(&last->times, last->times.collective_ns)) / (j->cnt - 1) -
		per_step(&last->times, last->times.collective_ns);
	s->step_ns = steps / j->cnt;
	if ((double)s->wait_ns < WORTH_WAITING * (double)s->step_ns) {
		s->why_none = "no rank makes the others wait for more than 5 % of a step";
		return 0;
	}
	s->member = last;
	return explain(j, s);
}

static const char *phase_label(enum span_kind phase)
{
	return phase == KIND_KERNEL  ? "GPU computation"
	       : phase == KIND_OTHER ? "Others"
				     : span_kind__label(phase);
}

static int fill_straggler(const struct job *j, struct table *t)
{
	const char *none = "no straggler is named", *unknown = "none of its phases is longer";
	const struct column columns[] = {
		{"straggler", "straggler", 0, NULL, CELL_COUNT},
		{"others_wait", "others wait per step", 0, NULL, CELL_TIME},
		{"of_step", "of a step", 0, NULL, CELL_PERCENT},
		{"phase", "because of", 0, NULL, CELL_TEXT},
		{"own", "its time per step", 0, NULL, CELL_TIME},
		{"median_of_others", "median of the others", 0, NULL, CELL_TIME},
	};
	struct straggler s;
	int err = find_straggler(j, &s);
	bool why = s.member && s.phase != KIND_STEP;
	const char *reason = s.member ? unknown : none;
	struct cell cells[] = {
		s.member ? rank_cell(s.member) : cell__none(s.why_none),
		s.member ? cell__time(s.wait_ns) : cell__none(none),
		s.member ? cell__share(s.wait_ns, s.step_ns) : cell__none(none),
		why ? cell__text(phase_label(s.phase)) : cell__none(reason),
		why ? cell__time(s.own_ns) : cell__none(reason),
		why ? cell__time(s.others_ns) : cell__none(reason),
	};

	if (!err)
		err = table__add_columns(t, columns, ARRAY_SIZE(columns));
	table__set_list(t);
	return err ? err : table__add_row(t, 0, cells);
}

/* ---- printing ---- */

static int make_tables(const struct job *j, struct table **tables)
{
	int err;

	tables[0] = table__new("ranks", "Ranks");
	tables[1] = table__new("straggler", "Straggler");
	if (!tables[0] || !tables[1])
		return -ENOMEM;
	err = fill_ranks(j, tables[0]);
	return err ? err : fill_straggler(j, tables[1]);
}

static int print_job(const struct job *j, FILE *out)
{
	struct table *tables[2] = {NULL, NULL};
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
	if (j->opts->style.format != TABLE_CSV) {
		fprintf(out, "\n# %s\n", head);
		return 0;
	}
	fputs("\r\n", out);
	csv__put_comment(head, out);
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

/* What print() writes as JSON. */
static int to_json(int (*print)(const void *ctx, FILE *out), const void *ctx, json_t **json)
{
	auto_free char *text = NULL;
	size_t len;
	FILE *memory = open_memstream(&text, &len);
	int err = memory ? print(ctx, memory) : -ENOMEM;

	if (memory)
		fclose(memory);
	*json = err ? NULL : json_loadb(text, len, 0, NULL);
	return err ? err : *json ? 0 : -ENOMEM;
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
	if (!err && (json_dumpf(all, out, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) ||
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

/* The same file twice is a slip of the shell's. */
static int check_distinct(const char *const *paths, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		for (size_t k = 0; k < i; k++)
			if (file__is_same(paths[i], paths[k]))
				return err__set(
					-EINVAL,
					"%s and %s are one file; name the recording of each "
					"rank once",
					paths[k], paths[i]);
	return 0;
}

int job__print(const char *const *paths, size_t cnt, const struct report_opts *opts, FILE *out)
{
	auto_free struct member *members = calloc(cnt, sizeof(*members));
	struct job j = {opts, cnt, members};
	int err = members ? check_distinct(paths, cnt) : -ENOMEM;

	for (size_t i = 0; i < cnt && !err; i++) {
		members[i].path = paths[i];
		err = recording__open(paths[i], &members[i].recording);
		if (!err)
			err = rank_times__read(members[i].recording, opts->raw_times,
					       &members[i].times);
	}
	if (!err) {
		qsort(members, cnt, sizeof(*members), by_rank);
		err = opts->style.format == TABLE_JSON ? print_json(&j, out) : print_text(&j, out);
	}
	for (size_t i = 0; i < cnt && members; i++)
		recording__close(members[i].recording);
	return err == -ENOMEM ? err__set(err, "the report: out of memory") : err;
}
