// SPDX-License-Identifier: BSD-2-Clause
/* The one pass that fills the tables, and what is printed of them. */
#include <jansson.h>
#include <string.h>
#include "analysis/losses.h"
#include "analysis/order.h"
#include "analysis/report_list.h"
#include "analysis/render/tables_print.h"
#include "common/err.h"
#include "analysis/message_table.h"
#include "common/suggest.h"
#include "common/util.h"

/* The tables of a report without --table, in this order. Rows: a list's row limit; 0: all. */
static const struct short_table {
	const struct table_impl *impl;
	size_t rows;
} short_tables[] = {
	{&table_summary, 0},   {&table_findings, 0}, {&table_model, 0},	   {&table_distributed, 0},
	{&table_operator, 20}, {&table_kernel, 10},  {&table_calls, 10},   {&table_sched, 20},
	{&table_pipeline, 20}, {&table_memory, 10},  {&table_storage, 10}, {&table_syscalls, 10},
	{&table_counters, 20}, {&table_steps, 20},   {&table_device, 0},   {&table_perf, 0},
	{&table_cost, 0},
};

/* NULL: the short report does not have the table. */
static const struct short_table *short_table(const struct table_impl *impl)
{
	for (size_t i = 0; i < ARRAY_SIZE(short_tables); i++)
		if (short_tables[i].impl == impl)
			return &short_tables[i];
	return NULL;
}

static size_t short_rows(const struct table_impl *impl)
{
	const struct short_table *s = short_table(impl);

	return s ? s->rows : 0;
}

struct slot {
	bool on, named;
	bool asked; /* printed even if empty: it was named, or is the report's head or foot */
	bool is_short;
	void *state;
	struct table *table;
};

struct report {
	struct analysis a;
	bool wants_work;
	struct slot slots[REPORT_TABLES];
};

static bool has_framework(const struct recording *r)
{
	return json_object_get(json_object_get(recording__meta(r), "runtime"), "framework");
}

static bool is_frame(size_t i)
{
	return report_impls[i] == &table_summary || report_impls[i] == &table_cost;
}

/* A --timer-only report has all tables that such a recording fills. */
static bool is_default(const struct analysis *a, size_t i)
{
	if (a->timer_only)
		return report_impls[i]->timer &&
		       (report_impls[i]->def.by_default || report_impls[i] == &table_steps);
	return report_impls[i]->def.by_default;
}

static bool is_recorded(const struct analysis *a, size_t i)
{
	return !a->timer_only || report_impls[i]->timer;
}

static int choose(struct report *rep, const char *names)
{
	const bool is_short = rep->a.opts->is_short && rep->a.opts->style.format == TABLE_TEXT;
	bool named[REPORT_TABLES] = {};
	const struct sched_row *rows;
	int err = names ? report__find_named(names, named) : 0;
	const bool all = names && report__names_all(names);

	for (size_t i = 0; i < REPORT_TABLES; i++) {
		struct slot *s = &rep->slots[i];

		s->on = names ? named[i] : is_default(&rep->a, i);
		s->named = named[i];
		s->asked = named[i] && !all;
		s->is_short = is_short && !named[i];
		if (report_impls[i] == &table_sched && !names)
			s->on = recording__sched(rep->a.r, &rows) && !has_framework(rep->a.r);
		if (report_impls[i] == &table_calls && !names)
			s->on = !rep->a.has_device && is_recorded(&rep->a, i);
		if (is_frame(i))
			s->on = s->asked = true;
	}
	return err;
}

static int visit_work(const struct device_work *w, void *ctx)
{
	struct report *rep = ctx;
	int err = 0;

	for (size_t i = 0; i < REPORT_TABLES && !err; i++)
		if (rep->slots[i].on && report_impls[i]->visit_work && is_recorded(&rep->a, i))
			err = report_impls[i]->visit_work(&rep->a, rep->slots[i].state, w);
	return err;
}

/* The devices' work in clock time needs a second read of the recording. So it is done only for
 * tables that ask for it. */
static bool wants_work(const struct report *rep)
{
	for (size_t i = 0; i < REPORT_TABLES; i++)
		if (rep->slots[i].on && report_impls[i]->visit_work)
			return true;
	return false;
}

static int visit(const struct batch *b, void *ctx)
{
	struct report *rep = ctx;
	int err = analysis__visit(&rep->a, b);

	if (!err && rep->wants_work)
		err = device_feed__step(&rep->a, b, visit_work, rep);
	for (size_t i = 0; i < REPORT_TABLES && !err; i++)
		if (rep->slots[i].on && report_impls[i]->visit && is_recorded(&rep->a, i))
			err = report_impls[i]->visit(&rep->a, rep->slots[i].state, b);
	return err;
}

/* If the window ends by time, or the job ends in it, the last step is not whole. */
static int note_stepless(const struct analysis *a, struct table *t)
{
	if (!a->steps.calls || !a->stepless_work_cnt || !table__row_cnt(t))
		return 0;
	return table__add_notef(
		t,
		"%llu of %llu kernels, copies and sets belong to no whole step of the "
		"window. Tables of steps (Model, Overview) leave them out.",
		(unsigned long long)a->stepless_work_cnt, (unsigned long long)a->work_cnt);
}

/* Adds the notes that each table may need. */
static int note(const struct analysis *a, const struct table_impl *impl, struct table *t)
{
	int err = 0;

	if (!table__row_cnt(t) && impl->why_empty)
		err = table__add_note(t, impl->why_empty(a));
	if (!err && impl->counts_stepless)
		err = note_stepless(a, t);
	return !err && impl->rests_on_device ? coverage__note_table(a, t) : err;
}

static int fill_table(struct report *rep, size_t i)
{
	struct slot *s = &rep->slots[i];
	const struct report_opts *opts = rep->a.opts;
	const bool fills_short = s->is_short && report_impls[i]->fill_short;
	int err = fills_short ? report_impls[i]->fill_short(&rep->a, s->state, s->table)
			      : report_impls[i]->fill(&rep->a, s->state, s->table);

	if (s->is_short)
		table__set_short(s->table,
				 opts->rows_chosen ? opts->style.row_limit
						   : short_rows(report_impls[i]),
				 !opts->by_thread && !opts->by_device);
	return err;
}

static int fill(struct report *rep)
{
	for (size_t i = 0; i < REPORT_TABLES; i++) {
		struct slot *s = &rep->slots[i];
		int err;

		if (!s->on)
			continue;
		s->table = table__new(report_impls[i]->def.key, report_impls[i]->title);
		if (!s->table)
			return -ENOMEM;
		table__set_node_prefix(s->table, NODE_PREFIX);
		err = fill_table(rep, i);
		if (!err && !is_recorded(&rep->a, i))
			err = table__set_empty(s->table, "Not recorded: " TIMER_ONLY_HAS);
		else if (!err)
			err = note(&rep->a, report_impls[i], s->table);
		if (err)
			return err;
	}
	return 0;
}

static int keep_in(struct table *t, const char *pattern)
{
	const bool had_rows = table__row_cnt(t);

	table__keep(t, pattern);
	if (!had_rows || table__row_cnt(t))
		return 0;
	return table__add_notef(t, "Nothing here is called '%s'.", pattern);
}

/* Does the recording have such an operator, if only inside other operators? Tables of outermost
 * operators do not show those. */
static bool is_operator(const struct recording *r, const char *text)
{
	for (uint32_t id = 1; id <= recording__name_cnt(r); id++) {
		const struct name *n = recording__name(r, id);

		if (n && n->category == CAT_OPERATOR && !strcmp(n->text, text))
			return true;
	}
	return false;
}

static int nothing_called(const struct report *rep, const char *near)
{
	const char *pattern = rep->a.opts->only;
	char searched[256] = "";

	for (size_t i = 0, at = 0; i < REPORT_TABLES && at < sizeof(searched); i++)
		if (rep->slots[i].table && report__uses(i, USES_OP))
			at += (size_t)snprintf(searched + at, sizeof(searched) - at, "%s%s",
					       at ? "," : "", report_impls[i]->def.key);
	if (is_operator(rep->a.r, pattern))
		return err__set(-ENOENT, MESSAGE_OPERATOR_ONLY_INSIDE_OTHERS, searched, pattern);
	if (near)
		return err__set(-ENOENT, MESSAGE_OPERATOR_NOT_FOUND_SUGGESTED, searched, pattern,
				near);
	return err__set(-ENOENT, MESSAGE_OPERATOR_NOT_FOUND, searched, pattern, searched);
}

/* Keeps the rows that --op names. At least one table of names must have one. */
static int keep_only(struct report *rep)
{
	const char *pattern = rep->a.opts->only;
	struct suggestion near = {.word = pattern, .len = strlen(pattern)};
	size_t cnt = 0;
	int err = 0;

	for (size_t i = 0; i < REPORT_TABLES; i++)
		if (rep->slots[i].table && report__uses(i, USES_OP))
			cnt += table__match(rep->slots[i].table, pattern, &near);
	for (size_t i = 0; cnt && i < REPORT_TABLES && !err; i++)
		if (rep->slots[i].table && report__uses(i, USES_OP))
			err = keep_in(rep->slots[i].table, pattern);
	return cnt ? err : nothing_called(rep, near.best);
}

static int make_states(struct report *rep)
{
	for (size_t i = 0; i < REPORT_TABLES; i++) {
		if (!rep->slots[i].on || !report_impls[i]->state_size)
			continue;
		rep->slots[i].state = calloc(1, report_impls[i]->state_size);
		if (!rep->slots[i].state)
			return -ENOMEM;
	}
	return 0;
}

static bool is_csv(const struct report *rep)
{
	return rep->a.opts->style.format == TABLE_CSV;
}

/* The only named table, if just its rows are to be printed. NULL: none. */
static struct table *find_alone(const struct report *rep)
{
	struct table *alone = NULL;
	size_t cnt = 0;

	if (!rep->a.opts->style.alone || !is_csv(rep))
		return NULL;
	for (size_t i = 0; i < REPORT_TABLES; i++)
		if (rep->slots[i].named) {
			alone = rep->slots[i].table;
			cnt++;
		}
	return cnt == 1 ? alone : NULL;
}

/* Says on stderr what the head and foot would have said about an incomplete recording. */
static int print_alone(const struct report *rep, struct table *table, FILE *out)
{
	char buf[384];
	const char *missing = losses__sentence(&rep->a, buf, sizeof(buf));

	if (missing)
		log__warn(MESSAGE_RECORDING_INCOMPLETE, missing);
	return tables__print(&table, 1, &rep->a.opts->style, out);
}

static bool is_worth_printing(const struct slot *s, size_t i)
{
	return s->table && (s->asked || report_impls[i]->always || table__row_cnt(s->table));
}

/* "overview, userdefined": tables with content that the short report does not print. */
static int name_others(const struct report *rep, struct table *t)
{
	char names[512] = "", line[640];
	struct cell cell;
	const struct column c = {.key = "more", .title = "more tables", .type = CELL_TEXT};

	for (size_t i = 0, at = 0; i < REPORT_TABLES && at < sizeof(names); i++)
		if (is_worth_printing(&rep->slots[i], i) && !short_table(report_impls[i]))
			at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%s",
					       at ? "," : "", report_impls[i]->def.key);
	if (!*names)
		return 0;
	snprintf(line, sizeof(line), "--table %s, or --table all", names);
	cell = cell__text(line);
	table__set_list(t);
	table__set_short(t, 0, false);
	return table__add_column(t, &c) || table__add_row(t, 0, &cell) ? -ENOMEM : 0;
}

static int mark_nodes(struct report *rep)
{
	int err = 0;

	for (size_t i = 0; i < REPORT_TABLES && !err; i++)
		if (rep->slots[i].table && rep->a.opts->style.format == TABLE_TEXT)
			err = table__mark_nodes(rep->slots[i].table);
	return err;
}

static int print_short(const struct report *rep, FILE *out)
{
	struct table *tables[ARRAY_SIZE(short_tables) + 1];
	struct table *others = table__new("more", "More");
	size_t cnt = 0;
	int err = others ? name_others(rep, others) : -ENOMEM;

	for (size_t k = 0; k < ARRAY_SIZE(short_tables); k++)
		for (size_t i = 0; i < REPORT_TABLES; i++)
			if (report_impls[i] == short_tables[k].impl &&
			    is_worth_printing(&rep->slots[i], i))
				tables[cnt++] = rep->slots[i].table;
	if (others && table__row_cnt(others))
		tables[cnt++] = others;
	if (!err)
		err = tables__print(tables, cnt, &rep->a.opts->style, out);
	table__free(others);
	return err;
}

/* In CSV the head comes last, so that a reader of one table finds that table first. */
static int print(const struct report *rep, FILE *out)
{
	struct table *tables[REPORT_TABLES], *alone = find_alone(rep);
	struct table_style style = rep->a.opts->style;
	bool csv = is_csv(rep);
	size_t cnt = 0;

	if (alone)
		return print_alone(rep, alone, out);
	if (!rep->a.opts->tables && rep->slots[0].is_short)
		return print_short(rep, out);
	style.alone = false;
	for (int frame = 0; frame <= csv; frame++)
		for (size_t i = 0; i < REPORT_TABLES; i++) {
			const struct slot *s = &rep->slots[i];

			if (!s->table || (csv && is_frame(i) != frame))
				continue;
			if (is_worth_printing(s, i))
				tables[cnt++] = s->table;
		}
	return tables__print(tables, cnt, &style, out);
}

int report__print(const struct recording *r, const struct report_opts *opts, FILE *out)
{
	struct report rep = {};
	struct model_opts model = {.raw_times = opts->raw_times, .stats = &rep.a.model};
	int err = analysis__begin(&rep.a, r, opts);

	if (!err)
		err = choose(&rep, opts->tables);
	if (!err)
		err = make_states(&rep);
	rep.wants_work = !err && wants_work(&rep);
	if (!err)
		err = model__run(r, &model, visit, &rep);
	if (!err && rep.wants_work)
		err = device_feed__window(&rep.a, visit_work, &rep);
	if (!err)
		err = fill(&rep);
	if (!err && opts->only)
		err = keep_only(&rep);
	if (!err)
		err = mark_nodes(&rep);
	if (!err)
		err = print(&rep, out);
	for (size_t i = 0; i < REPORT_TABLES; i++) {
		if (rep.slots[i].state && report_impls[i]->clean)
			report_impls[i]->clean(rep.slots[i].state);
		free(rep.slots[i].state);
		table__free(rep.slots[i].table);
	}
	analysis__end(&rep.a);
	return err == -ENOMEM ? err__set(err, MESSAGE_REPORT_OUT_OF_MEMORY) : err;
}
