// SPDX-License-Identifier: BSD-2-Clause
/* What became slower or faster between two sides: the tables. */
#include "analysis/diff.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/analysis.h"
#include "analysis/diff/change.h"
#include "analysis/diff/diff_internal.h"
#include "analysis/render/tables_print.h"
#include "common/counted.h"
#include "common/err.h"
#include "analysis/message_table.h"
#include "common/util.h"

/* A row that one side could not record has no difference and comes last. */
static uint64_t distance(const struct pair *p)
{
	if (p->unrecorded && !pair__is_estimated(p))
		return 0;
	return p->a.ns > p->b.ns ? p->a.ns - p->b.ns : p->b.ns - p->a.ns;
}

static int by_distance(const void *x, const void *y)
{
	const struct pair *p = x, *q = y;

	return (distance(p) < distance(q)) - (distance(p) > distance(q));
}

static void sort(struct pairs *pairs)
{
	if (pairs->cnt)
		qsort(pairs->items, pairs->cnt, sizeof(*pairs->items), by_distance);
}

/* ---- tables ---- */

static const char *verdict(const struct pair *p)
{
	if (p->unrecorded || pair__is_estimated(p))
		return "";
	if (!p->a.is_there)
		return "new";
	if (!p->b.is_there)
		return "gone";
	if (p->p < 0)
		return "";
	if (p->only_ready && !strcmp(p->name, "step"))
		return "waits for a processor";
	if (!pair__is_significant(p) || p->a.ns == p->b.ns)
		return "same";
	if (p->only_ready)
		return "busy machine";
	return p->b.ns > p->a.ns ? "slower" : "faster";
}

static const char only_one[] = "it is in one recording only";
static const char few_steps[] = "a recording has fewer than 4 steps";
static const char estimated[] = "it is estimated";
_Static_assert(CHANGE_FEWEST == 4, "the text above");

static struct cell median_cell(const struct pair *p, const struct pair_side *side, const char *why)
{
	return side->is_there  ? cell__time(side->ns)
	       : p->unrecorded ? cell__none(p->unrecorded)
			       : cell__none(why);
}

static int add_row(struct table *t, const struct pair *p)
{
	const bool both = p->a.is_there && p->b.is_there;
	const char *one = p->unrecorded ? p->unrecorded : only_one;
	const char *unknown = pair__is_estimated(p) ? estimated : both ? few_steps : one;
	const struct cell cells[] = {
		cell__text(p->name),
		median_cell(p, &p->a, "it is not in the first recording"),
		median_cell(p, &p->b, "it is not in the second recording"),
		both && p->a.ns ? cell__percent(pair__percent(p))
				: cell__none(both ? "it took no time before" : one),
		p->p >= 0 ? cell__float(p->p) : cell__none(unknown),
		cell__text(verdict(p)),
	};

	return pair__is_estimated(p) ? table__add_estimate(t, 0, cells)
				     : table__add_row(t, 0, cells);
}

/* Why p is `-` in some rows. */
static int note_unknown(struct table *t, const struct pairs *pairs)
{
	bool few = false, one = false, no_probe = false, guess = false;
	int err = 0;

	for (size_t i = 0; i < pairs->cnt; i++) {
		const struct pair *p = &pairs->items[i];
		const bool both = p->a.is_there && p->b.is_there;

		few |= p->p < 0 && both && !pair__is_estimated(p);
		one |= !both && !p->unrecorded;
		no_probe |= p->unrecorded == series_no_probe && !pair__is_estimated(p);
		guess |= pair__is_estimated(p);
	}
	if (few)
		err = table__add_notef(t, "p is - where %s, which tells nothing of chance.",
				       few_steps);
	if (one && !err)
		err = table__add_notef(t, "p is - where a name is new or gone: %s.", only_one);
	if (guess && !err)
		err = table__add_note(t, "~: it had no probe in one of the recordings, and is "
					 "estimated there from steps before the window: no verdict "
					 "(--no-prune leaves out none).");
	if (no_probe && !err)
		err = table__add_note(t, "No verdict: it was too short to be worth a probe in one "
					 "of the recordings. Whether it ran there is not known; "
					 "--no-prune keeps all probes.");
	return err;
}

/* note: printed under the table, or NULL. */
static struct table *make_table(const char *key, const char *title, const struct pairs *pairs,
				const char *note)
{
	const struct column columns[] = {
		{.key = "name",
		 .title = "Name",
		 .min_width = 12,
		 .max_width = 90,
		 .type = CELL_TEXT},
		{.key = "before", .title = "Before", .min_width = 10, .type = CELL_TIME},
		{.key = "after", .title = "After", .min_width = 10, .type = CELL_TIME},
		{.key = "change", .title = "Change(%)", .type = CELL_PERCENT},
		{.key = "p", .title = "p", .rank = 2, .type = CELL_FLOAT},
		{.key = "verdict", .title = "Verdict", .min_width = 7, .type = CELL_TEXT},
	};
	struct table *t = table__new(key, title);
	int err = t ? table__add_columns(t, columns, ARRAY_SIZE(columns)) : -ENOMEM;

	if (t)
		table__set_estimates(t);
	for (size_t i = 0; i < pairs->cnt && !err; i++)
		err = add_row(t, &pairs->items[i]);
	if (!err && note)
		err = table__add_note(t, note);
	if (!err)
		err = note_unknown(t, pairs);
	if (err) {
		table__free(t);
		return NULL;
	}
	return t;
}

/* "a.ptrec, b.ptrec"; free it. NULL: no memory. */
static char *paths_of(const struct diff_side *s)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	for (size_t i = 0; i < s->cnt; i++)
		fprintf(out, "%s%s", i ? ", " : "", s->windows[i].path);
	return fclose(out) ? NULL : text;
}

static struct table *make_head(const struct diff *d)
{
	const struct column columns[] = {
		{.key = "before", .title = "before", .type = CELL_TEXT},
		{.key = "before_steps", .title = "steps before", .type = CELL_COUNT},
		{.key = "after", .title = "after", .type = CELL_TEXT},
		{.key = "after_steps", .title = "steps after", .type = CELL_COUNT},
	};
	auto_free char *before = paths_of(&d->a), *after = paths_of(&d->b);
	const struct cell cells[] = {
		cell__text(before),
		cell__count(diff_side__steps(&d->a)),
		cell__text(after),
		cell__count(diff_side__steps(&d->b)),
	};
	struct table *t = before && after ? table__new("recordings", "Recordings") : NULL;

	if (t && !table__add_columns(t, columns, ARRAY_SIZE(columns)) &&
	    !table__add_row(t, 0, cells)) {
		table__set_list(t);
		return t;
	}
	table__free(t);
	return NULL;
}

static const char *which_of(bool a, bool b)
{
	return a && b ? "Both recordings are"
	       : a    ? "The first recording is"
		      : "The second recording is";
}

static bool is_phase_only(const struct diff_side *s)
{
	for (size_t i = 0; i < s->cnt; i++)
		if (s->windows[i].set.phase_only)
			return true;
	return false;
}

static int note_unrecorded(const struct diff *d, struct table *t)
{
	const bool a = diff_side__is_timed(&d->a), b = diff_side__is_timed(&d->b);
	int err = 0;

	if (a || b)
		err = table__add_notef(t,
				       "%s of --timer-only, which records no phases, operators and "
				       "kernels: only steps and data loader are compared.",
				       which_of(a, b));
	if (!err && (is_phase_only(&d->a) || is_phase_only(&d->b)))
		err = table__add_notef(t,
				       "%s of --detail phase, which records no operators but those "
				       "of --op: no others are compared.",
				       which_of(is_phase_only(&d->a), is_phase_only(&d->b)));
	return err;
}

static int note_busy(const struct diff_side *s, struct table *t)
{
	int err = 0;

	for (size_t i = 0; i < s->cnt && !err; i++) {
		const struct diff_window *w = &s->windows[i];
		char cpu[80] = "";

		if (!diff_window__was_busy(w))
			continue;
		if (w->cpu_busy >= 0)
			snprintf(cpu, sizeof(cpu), "; the processors were %.0f %% busy",
				 100 * w->cpu_busy);
		err = table__add_notef(t,
				       "The machine was busy in %s: the thread of the steps stood "
				       "ready without a processor for %.0f %% of their time%s.",
				       w->path, 100 * w->set.ready_share, cpu);
	}
	return err;
}

static const struct pair *step_pair(const struct diff *d)
{
	return d->steps.cnt ? &d->steps.items[0] : NULL;
}

/* Which changes the comparison can show, and how to see smaller ones. */
static int note_power(const struct diff *d, struct table *t)
{
	const struct pair *step = step_pair(d);

	if (!step || step->p < 0)
		return 0;
	return table__add_notef(
		t, "A change of the step shows from %.0f %% on%s.", ceil(100 * step->least),
		d->a.cnt + d->b.cnt < 4 && step->least > 0.1
			? "; several recordings of each side (diff A1,A2,A3 B1,B2,B3) or windows "
			  "of 20 s and more show smaller changes"
			: "");
}

static int add_notes(const struct diff *d, struct table *t)
{
	int err = note_power(d, t);

	if (!err)
		err = note_busy(&d->a, t);
	if (!err)
		err = note_busy(&d->b, t);
	return err ? err : note_unrecorded(d, t);
}

/* Could both recordings have any of these rows? */
static bool any_recorded(const struct pairs *pairs)
{
	for (size_t i = 0; i < pairs->cnt; i++)
		if (!pairs->items[i].unrecorded || pair__is_estimated(&pairs->items[i]))
			return true;
	return false;
}

/* In CSV the head comes last, as it does in a report. */
static int print_tables(struct diff *d, FILE *out)
{
	const bool csv = d->opts->style.format == TABLE_CSV;
	struct table *tables[4];
	char note[360];
	size_t cnt = 0;
	int err;

	sort(&d->operators);
	sort(&d->kernels);
	snprintf(
		note, sizeof(note),
		"%s p: Student's t of windows, or of blocks of them; that of "
		"all rows but the step is corrected (Holm). same: p is %.2f or more, so chance may "
		"explain it.",
		d->by_mean ? "Means over the steps: some steps take much longer than most, as "
			     "where the host waits for the device in one of several."
			   : "Medians over the steps.",
		SIGNIFICANT);
	if (!csv)
		tables[cnt++] = make_head(d);
	tables[cnt++] = make_table("steps", "Steps and Phases", &d->steps, note);
	if (tables[cnt - 1] && add_notes(d, tables[cnt - 1])) {
		table__free(tables[cnt - 1]);
		tables[cnt - 1] = NULL;
	}
	if (any_recorded(&d->operators))
		tables[cnt++] = make_table("operators", "Operators", &d->operators, NULL);
	if (any_recorded(&d->kernels))
		tables[cnt++] = make_table("kernels", "Kernels", &d->kernels, NULL);
	if (csv)
		tables[cnt++] = make_head(d);
	err = 0;
	for (size_t i = 0; i < cnt; i++)
		err = tables[i] ? err : -ENOMEM;
	if (!err)
		err = tables__print(tables, cnt, &d->opts->style, out);
	for (size_t i = 0; i < cnt; i++)
		table__free(tables[i]);
	return err;
}

/* ---- the whole ---- */

static void warn_busy(const struct diff_side *s)
{
	for (size_t i = 0; i < s->cnt; i++)
		if (diff_window__was_busy(&s->windows[i]))
			log__warn(MESSAGE_MACHINE_BUSY, s->windows[i].path);
}

int diff__print(const char *before, const char *after, const struct diff_opts *opts, FILE *out,
		size_t *exceeded)
{
	struct diff d = {.opts = opts};
	int err = diff_side__read(before, opts, &d.a);

	*exceeded = 0;
	if (!err)
		err = diff_side__read(after, opts, &d.b);
	if (!err)
		diff__warn_unlike(&d);
	if (!err)
		err = diff__make_pairs(&d);
	if (!err)
		err = print_tables(&d, out);
	if (!err && opts->limit_cnt) {
		warn_busy(&d.a);
		warn_busy(&d.b);
	}
	for (size_t i = 0; i < opts->limit_cnt && !err; i++)
		err = diff__check_limit(&d, opts->limits[i], exceeded);
	free(d.steps.items);
	free(d.operators.items);
	free(d.kernels.items);
	diff_side__free(&d.a);
	diff_side__free(&d.b);
	return err == -ENOMEM ? err__set(err, MESSAGE_COMPARISON_OUT_OF_MEMORY) : err;
}
