// SPDX-License-Identifier: BSD-2-Clause
/* The registry of tables and the one pass that fills them. */
#include <jansson.h>
#include <string.h>
#include "analysis/losses.h"
#include "analysis/order.h"
#include "common/err.h"
#include "common/suggest.h"
#include "common/util.h"

/* Order of printing. summary and cost frame every report. */
static const struct table_impl *const impls[] = {
	&table_summary,	     &table_findings,	  &table_device,    &table_overview,
	&table_model,	     &table_distributed,  &table_operator,  &table_kernel,
	&table_collectives,  &table_manipulation, &table_calls,	    &table_userdefined,
	&table_pipeline,     &table_counters,	  &table_perf,	    &table_memory,
	&table_sched,	     &table_sched_steps,  &table_syscalls,  &table_steps,
	&table_key_averages, &table_classic,	  &table_aggregate, &table_step_trace,
	&table_op_type,	     &table_op_detail,	  &table_activity,  &table_timeline,
	&table_cost,
};

const struct table_def *report__tables(size_t *cnt)
{
	static struct table_def defs[ARRAY_SIZE(impls)];

	for (size_t i = 0; i < ARRAY_SIZE(impls); i++)
		defs[i] = impls[i]->def;
	*cnt = ARRAY_SIZE(impls);
	return defs;
}

struct slot {
	bool on, named;
	bool asked; /* printed even if empty: it was named, or frames the report */
	void *state;
	struct table *table;
};

struct report {
	struct analysis a;
	bool wants_work;
	struct slot slots[ARRAY_SIZE(impls)];
};

static int unknown_table(const char *name, size_t len)
{
	char known[512] = "";

	for (size_t i = 0, at = 0; i < ARRAY_SIZE(impls) && at < sizeof(known); i++)
		at += (size_t)snprintf(known + at, sizeof(known) - at, "%s%s", i ? ", " : "",
				       impls[i]->def.key);
	return err__set(-EINVAL, "unknown table '%.*s'; known are %s", (int)len, name, known);
}

/* Sets named[i] for each table of the list. */
static int find_named(const char *names, bool *named)
{
	const char *const list = names;

	for (bool more = true; more;) {
		size_t len = strcspn(names, ","), i = 0;

		if (!len)
			return err__set(-EINVAL,
					"--table '%s': a name is empty; --list-tables "
					"of proftrace report shows them",
					list);

		while (i < ARRAY_SIZE(impls) && (strlen(impls[i]->def.key) != len ||
						 strncmp(impls[i]->def.key, names, len) != 0))
			i++;
		if (i == ARRAY_SIZE(impls))
			return unknown_table(names, len);
		named[i] = true;
		more = names[len] == ',';
		names += len + more;
	}
	return 0;
}

int report__check_tables(const char *names)
{
	bool named[ARRAY_SIZE(impls)] = {};

	return find_named(names, named);
}

/* ---- orders ---- */

static bool is_printed(size_t i, const char *names, const bool *named)
{
	return names ? named[i] : impls[i]->def.by_default;
}

static void append_words(const struct table_def *def, char *text, size_t size)
{
	size_t at = strlen(text);

	at += (size_t)snprintf(text + at, size - at, "%s%s by ", at ? "; " : "", def->key);
	for (const struct order_word *w = def->words; w->word && at < size; w++)
		at += (size_t)snprintf(text + at, size - at, "%s%s", w == def->words ? "" : ", ",
				       w->word);
}

/* Tables of the same words are not all named. */
static bool was_listed(size_t i, const char *names, const bool *named)
{
	for (size_t j = 0; j < i; j++)
		if (impls[j]->def.words == impls[i]->def.words && is_printed(j, names, named))
			return true;
	return false;
}

static int wrong_order(const char *names, const bool *named, const char *word)
{
	char known[1024] = "";

	for (size_t i = 0; i < ARRAY_SIZE(impls); i++)
		if (impls[i]->def.words && is_printed(i, names, named) &&
		    !was_listed(i, names, named) && strlen(known) + 1 < sizeof(known))
			append_words(&impls[i]->def, known, sizeof(known));
	if (!*known)
		return err__set(-EINVAL, "--sorted-by %s: %s has one order", word, names);
	return err__set(-EINVAL, "--sorted-by: no table to be printed is sorted by '%s'; %s", word,
			known);
}

int report__check_order(const char *names, const char *word)
{
	bool named[ARRAY_SIZE(impls)] = {};
	int err = names ? find_named(names, named) : 0;

	if (err || !word)
		return err;
	for (size_t i = 0; i < ARRAY_SIZE(impls); i++) {
		if (!is_printed(i, names, named) || !impls[i]->def.words)
			continue;
		if (order_words__have(impls[i]->def.words, word))
			return 0;
	}
	return wrong_order(names, named, word);
}

/* ---- options ---- */

char *report__all_tables(void)
{
	char *names = NULL;
	size_t len;
	FILE *f = open_memstream(&names, &len);

	for (size_t i = 0; f && i < ARRAY_SIZE(impls); i++)
		fprintf(f, "%s%s", i ? "," : "", impls[i]->def.key);
	if (f && fclose(f) == 0)
		return names;
	free(names);
	return NULL;
}

static bool uses(size_t i, unsigned int use)
{
	return use == USES_ASCENDING ? impls[i]->def.words != NULL : impls[i]->def.uses & use;
}

static int check_use(const char *option, unsigned int use, const char *names, const bool *named)
{
	char known[256] = "";

	for (size_t i = 0, at = 0; i < ARRAY_SIZE(impls); i++) {
		if (!uses(i, use))
			continue;
		if (is_printed(i, names, named))
			return 0;
		if (at < sizeof(known))
			at += (size_t)snprintf(known + at, sizeof(known) - at, "%s%s",
					       at ? ", " : "", impls[i]->def.key);
	}
	return err__set(-EINVAL,
			"--%s has no effect on the tables to be printed; it is for %s (--table)",
			option, known);
}

int report__check_uses(const char *names, const struct report_opts *opts)
{
	const struct {
		bool set;
		const char *option;
		enum report_use use;
	} options[] = {
		{opts->by_thread, "by-thread", USES_BY_THREAD},
		{opts->by_device, "by-device", USES_BY_DEVICE},
		{opts->op_detail, "op-detail", USES_OP_DETAIL},
		{opts->group_by != GROUP_BY_NAME, "group-by", USES_GROUP_BY},
		{opts->state != STATE_ALL, "state", USES_STATE},
		{opts->batch_size != 0, "batch-size", USES_BATCH_SIZE},
		{opts->ascending, "ascending", USES_ASCENDING},
		{opts->only, "op", USES_OP},
	};
	bool named[ARRAY_SIZE(impls)] = {};
	int err = names ? find_named(names, named) : 0;

	if (!err && opts->stack_depth && opts->group_by != GROUP_BY_STACK)
		err = err__set(-EINVAL, "--stack-depth has no effect without --group-by stack");
	for (size_t i = 0; i < ARRAY_SIZE(options) && !err; i++)
		if (options[i].set)
			err = check_use(options[i].option, options[i].use, names, named);
	return err;
}

int report__check_timer(const char *names)
{
	bool named[ARRAY_SIZE(impls)] = {};
	int err = names ? find_named(names, named) : 0;

	for (size_t i = 0; i < ARRAY_SIZE(impls) && !err; i++)
		if (named[i] && !impls[i]->timer)
			err = err__set(-EINVAL,
				       "--timer-only and --table %s exclude each other: it is not "
				       "recorded",
				       impls[i]->def.key);
	return err;
}

static bool is_earlier_word(size_t table, const char *word)
{
	for (size_t i = 0; i < table; i++)
		if (order_words__have(impls[i]->def.words, word))
			return true;
	return false;
}

const char *report__order_word(size_t index)
{
	for (size_t i = 0; i < ARRAY_SIZE(impls); i++)
		for (const struct order_word *w = impls[i]->def.words; w && w->word; w++)
			if (!is_earlier_word(i, w->word) && !index--)
				return w->word;
	return NULL;
}

static bool has_framework(const struct recording *r)
{
	return json_object_get(json_object_get(recording__meta(r), "runtime"), "framework");
}

static bool is_frame(size_t i)
{
	return impls[i] == &table_summary || impls[i] == &table_cost;
}

/* Of --timer-only: all that it has. */
static bool is_default(const struct analysis *a, size_t i)
{
	if (a->timer_only)
		return impls[i]->timer && (impls[i]->def.by_default || impls[i] == &table_steps);
	return impls[i]->def.by_default;
}

static bool is_recorded(const struct analysis *a, size_t i)
{
	return !a->timer_only || impls[i]->timer;
}

static int choose(struct report *rep, const char *names)
{
	bool named[ARRAY_SIZE(impls)] = {};
	const struct sched_row *rows;
	int err = names ? find_named(names, named) : 0;

	for (size_t i = 0; i < ARRAY_SIZE(impls); i++) {
		struct slot *s = &rep->slots[i];

		s->on = names ? named[i] : is_default(&rep->a, i);
		s->named = s->asked = named[i];
		if (impls[i] == &table_sched && !names)
			s->on = recording__sched(rep->a.r, &rows) && !has_framework(rep->a.r);
		if (impls[i] == &table_calls && !names)
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

	for (size_t i = 0; i < ARRAY_SIZE(impls) && !err; i++)
		if (rep->slots[i].on && impls[i]->visit_work && is_recorded(&rep->a, i))
			err = impls[i]->visit_work(&rep->a, rep->slots[i].state, w);
	return err;
}

/* The clock reads the recording once more: only for tables that ask for it. */
static bool wants_work(const struct report *rep)
{
	for (size_t i = 0; i < ARRAY_SIZE(impls); i++)
		if (rep->slots[i].on && impls[i]->visit_work)
			return true;
	return false;
}

static int visit(const struct batch *b, void *ctx)
{
	struct report *rep = ctx;
	int err = analysis__visit(&rep->a, b);

	if (!err && rep->wants_work)
		err = device_feed__step(&rep->a, b, visit_work, rep);
	for (size_t i = 0; i < ARRAY_SIZE(impls) && !err; i++)
		if (rep->slots[i].on && impls[i]->visit && is_recorded(&rep->a, i))
			err = impls[i]->visit(&rep->a, rep->slots[i].state, b);
	return err;
}

/* What every table says of itself. */
static int note(const struct analysis *a, const struct table_impl *impl, struct table *t)
{
	int err = 0;

	if (!table__row_cnt(t) && impl->why_empty)
		err = table__add_note(t, impl->why_empty(a));
	return !err && impl->rests_on_device ? coverage__note_table(a, t) : err;
}

static int fill(struct report *rep)
{
	for (size_t i = 0; i < ARRAY_SIZE(impls); i++) {
		struct slot *s = &rep->slots[i];
		int err;

		if (!s->on)
			continue;
		s->table = table__new(impls[i]->def.key, impls[i]->title);
		if (!s->table)
			return -ENOMEM;
		err = impls[i]->fill(&rep->a, s->state, s->table);
		if (!err && !is_recorded(&rep->a, i))
			err = table__set_empty(s->table, "Not recorded: " TIMER_ONLY_HAS);
		else if (!err)
			err = note(&rep->a, impls[i], s->table);
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

/* An operator that was called, but (as tables of the outermost ones have it) inside others alone.
 */
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

	for (size_t i = 0, at = 0; i < ARRAY_SIZE(impls) && at < sizeof(searched); i++)
		if (rep->slots[i].table && uses(i, USES_OP))
			at += (size_t)snprintf(searched + at, sizeof(searched) - at, "%s%s",
					       at ? "," : "", impls[i]->def.key);
	if (is_operator(rep->a.r, pattern))
		return err__set(-ENOENT,
				"nothing in %s is called '%s', but inside other operators "
				"something was: --table key_averages has that, too",
				searched, pattern);
	if (near)
		return err__set(-ENOENT, "nothing in %s is called '%s'; did you mean '%s'?",
				searched, pattern, near);
	return err__set(-ENOENT,
			"nothing in %s is called '%s'; a pattern like '*conv*' finds parts of "
			"names, and --table %s without --op shows them all",
			searched, pattern, searched);
}

/* At least one table of names has to have this one. */
static int keep_only(struct report *rep)
{
	const char *pattern = rep->a.opts->only;
	struct suggestion near = {.word = pattern, .len = strlen(pattern)};
	size_t cnt = 0;
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(impls); i++)
		if (rep->slots[i].table && uses(i, USES_OP))
			cnt += table__match(rep->slots[i].table, pattern, &near);
	for (size_t i = 0; cnt && i < ARRAY_SIZE(impls) && !err; i++)
		if (rep->slots[i].table && uses(i, USES_OP))
			err = keep_in(rep->slots[i].table, pattern);
	return cnt ? err : nothing_called(rep, near.best);
}

static int make_states(struct report *rep)
{
	for (size_t i = 0; i < ARRAY_SIZE(impls); i++) {
		if (!rep->slots[i].on || !impls[i]->state_size)
			continue;
		rep->slots[i].state = calloc(1, impls[i]->state_size);
		if (!rep->slots[i].state)
			return -ENOMEM;
	}
	return 0;
}

static bool is_csv(const struct report *rep)
{
	return rep->a.opts->style.format == TABLE_CSV;
}

/* The table that was named, if it is the only one, and its rows are to be all that is printed. */
static struct table *find_alone(const struct report *rep)
{
	struct table *alone = NULL;
	size_t cnt = 0;

	if (!rep->a.opts->style.alone || !is_csv(rep))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(impls); i++)
		if (rep->slots[i].named) {
			alone = rep->slots[i].table;
			cnt++;
		}
	return cnt == 1 ? alone : NULL;
}

/* What the frame would have said, of a recording that is not whole. */
static int print_alone(const struct report *rep, struct table *table, FILE *out)
{
	char buf[384];
	const char *missing = losses__sentence(&rep->a, buf, sizeof(buf));

	if (missing)
		log__warn("the recording is incomplete: %s", missing);
	return tables__print(&table, 1, &rep->a.opts->style, out);
}

/* In CSV the frame comes last, so that a reader of one table finds it at the top. */
static int print(const struct report *rep, FILE *out)
{
	struct table *tables[ARRAY_SIZE(impls)], *alone = find_alone(rep);
	struct table_style style = rep->a.opts->style;
	bool csv = is_csv(rep);
	size_t cnt = 0;

	if (alone)
		return print_alone(rep, alone, out);
	style.alone = false;
	for (int frame = 0; frame <= csv; frame++)
		for (size_t i = 0; i < ARRAY_SIZE(impls); i++) {
			const struct slot *s = &rep->slots[i];

			if (!s->table || (csv && is_frame(i) != frame))
				continue;
			if (s->asked || impls[i]->always || table__row_cnt(s->table))
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
		err = print(&rep, out);
	for (size_t i = 0; i < ARRAY_SIZE(impls); i++) {
		if (rep.slots[i].state && impls[i]->clean)
			impls[i]->clean(rep.slots[i].state);
		free(rep.slots[i].state);
		table__free(rep.slots[i].table);
	}
	analysis__end(&rep.a);
	return err == -ENOMEM ? err__set(err, "the report: out of memory") : err;
}
