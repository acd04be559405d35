// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/diff.h"
#include "analysis/analysis.h"
#include "analysis/findings/rank_sum.h"
#include "analysis/series.h"
#include "common/err.h"
#include "common/median.h"
#include "common/util.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIGNIFICANT 0.05

/* One row: what is in both recordings, or in one. */
struct pair {
	const struct series *a, *b; /* NULL: not in this one */
	uint64_t a_ns, b_ns;	    /* medians of a step */
	double p;		    /* negative: cannot be told */
	const char *unrecorded;	    /* why the one without it could not have it; NULL: it could */
};

struct diff {
	const struct diff_opts *opts;
	const char *before, *after; /* paths */
	struct series_set a, b;
	struct pairs {
		struct pair *items;
		size_t cnt, cap;
	} steps, operators, kernels;
};

/* ---- pairs ---- */

static struct pairs *pairs_of(struct diff *d, enum series_kind kind)
{
	return kind == SERIES_OPERATOR ? &d->operators
	       : kind == SERIES_KERNEL ? &d->kernels
				       : &d->steps;
}

static int median(const struct series *s, size_t cnt, uint64_t *out)
{
	auto_free uint64_t *copy = calloc(cnt + 1, sizeof(*copy));

	*out = 0;
	if (!copy)
		return -ENOMEM;
	if (s && cnt) {
		memcpy(copy, s->ns, cnt * sizeof(*copy));
		*out = median__of(copy, cnt);
	}
	return 0;
}

static int add_pair(struct diff *d, const struct series *a, const struct series *b)
{
	struct pair p = {.a = a, .b = b, .p = -1};
	const struct series *one = a ? a : b;
	struct pairs *pairs = pairs_of(d, one->kind);
	int err = median(a, d->a.step_cnt, &p.a_ns);

	if (!err)
		err = median(b, d->b.step_cnt, &p.b_ns);
	p.unrecorded = series_set__unrecorded(a ? &d->b : &d->a, one->kind, one->name);
	if (!err && a && b)
		p.p = rank_sum__p(a->ns, d->a.step_cnt, b->ns, d->b.step_cnt);
	return err ? err : ARRAY_PUSH(pairs->items, pairs->cnt, pairs->cap, p);
}

static const struct series *counterpart(const struct series_set *s, const struct series *of)
{
	const struct series *found = series_set__find(s, of->kind, of->name);

	return found && found->calls ? found : NULL;
}

static int correct(struct pairs *pairs)
{
	auto_free double *p = calloc(pairs->cnt + 1, sizeof(*p));
	int err = p ? 0 : -ENOMEM;

	for (size_t i = 0; i < pairs->cnt && !err; i++)
		p[i] = pairs->items[i].p;
	if (!err)
		err = holm__correct(p, pairs->cnt);
	for (size_t i = 0; i < pairs->cnt && !err; i++)
		pairs->items[i].p = p[i];
	return err;
}

static int make_pairs(struct diff *d)
{
	int err = 0;

	for (size_t i = 0; i < d->a.cnt && !err; i++)
		if (d->a.items[i].calls)
			err = add_pair(d, &d->a.items[i], counterpart(&d->b, &d->a.items[i]));
	for (size_t i = 0; i < d->b.cnt && !err; i++)
		if (d->b.items[i].calls && !counterpart(&d->a, &d->b.items[i]))
			err = add_pair(d, NULL, &d->b.items[i]);
	if (!err)
		err = correct(&d->steps);
	if (!err)
		err = correct(&d->operators);
	return err ? err : correct(&d->kernels);
}

/* What could not be recorded in one of them is no difference: it comes last. */
static uint64_t distance(const struct pair *p)
{
	if (p->unrecorded)
		return 0;
	return p->a_ns > p->b_ns ? p->a_ns - p->b_ns : p->b_ns - p->a_ns;
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

static bool is_significant(const struct pair *p)
{
	return p->p >= 0 && p->p < SIGNIFICANT;
}

static const char *verdict(const struct pair *p)
{
	if (p->unrecorded)
		return "";
	if (!p->a)
		return "new";
	if (!p->b)
		return "gone";
	if (p->p < 0)
		return "";
	if (!is_significant(p) || p->a_ns == p->b_ns)
		return "same";
	return p->b_ns > p->a_ns ? "slower" : "faster";
}

static double percent(const struct pair *p)
{
	return 100 * ((double)p->b_ns - (double)p->a_ns) / (double)p->a_ns;
}

static const char only_one[] = "it is in one recording only";
static const char few_steps[] = "a recording has fewer than 4 steps";
_Static_assert(RANK_SUM_FEWEST == 4, "the text above");

static int add_row(struct table *t, const struct pair *p)
{
	const char *one = p->unrecorded ? p->unrecorded : only_one;
	const char *unknown = p->a && p->b ? few_steps : one;
	const struct cell cells[] = {
		cell__text(p->a ? p->a->name : p->b->name),
		p->a		? cell__time(p->a_ns)
		: p->unrecorded ? cell__none(p->unrecorded)
				: cell__none("it is not in the first recording"),
		p->b		? cell__time(p->b_ns)
		: p->unrecorded ? cell__none(p->unrecorded)
				: cell__none("it is not in the second recording"),
		p->a && p->b && p->a_ns ? cell__percent(percent(p))
					: cell__none(p->a && p->b ? "its median was 0" : one),
		p->p >= 0 ? cell__float(p->p) : cell__none(unknown),
		cell__text(verdict(p)),
	};

	return table__add_row(t, 0, cells);
}

/* Why p is `-`, where it is. */
static int note_unknown(struct table *t, const struct pairs *pairs)
{
	bool few = false, one = false, no_probe = false;
	int err = 0;

	for (size_t i = 0; i < pairs->cnt; i++) {
		const struct pair *p = &pairs->items[i];

		few |= p->p < 0 && p->a && p->b;
		one |= (!p->a || !p->b) && !p->unrecorded;
		no_probe |= p->unrecorded == series_no_probe;
	}
	if (few)
		err = table__add_notef(t, "p is - where %s, which tells nothing of chance.",
				       few_steps);
	if (one && !err)
		err = table__add_notef(t, "p is - where a name is new or gone: %s.", only_one);
	if (no_probe && !err)
		err = table__add_note(t,
				      "No verdict: it had no probe in one of the recordings, "
				      "too short to be worth one, so whether it ran there is not "
				      "known; --keep-all leaves out none.");
	return err;
}

/* note: NULL, or what stands below it. */
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

static struct table *make_head(const struct diff *d)
{
	const struct column columns[] = {
		{.key = "before", .title = "before", .type = CELL_TEXT},
		{.key = "before_steps", .title = "steps before", .type = CELL_COUNT},
		{.key = "after", .title = "after", .type = CELL_TEXT},
		{.key = "after_steps", .title = "steps after", .type = CELL_COUNT},
	};
	const struct cell cells[] = {
		cell__text(d->before),
		cell__count(d->a.step_cnt),
		cell__text(d->after),
		cell__count(d->b.step_cnt),
	};
	struct table *t = table__new("recordings", "Recordings");

	if (t && !table__add_columns(t, columns, ARRAY_SIZE(columns)) &&
	    !table__add_row(t, 0, cells)) {
		table__set_list(t);
		return t;
	}
	table__free(t);
	return NULL;
}

static bool is_timed(const struct diff *d)
{
	return d->a.timer_only || d->b.timer_only;
}

static const char *which_of(bool a, bool b)
{
	return a && b ? "Both recordings are"
	       : a    ? "The first recording is"
		      : "The second recording is";
}

static int note_unrecorded(const struct diff *d, struct table *t)
{
	const struct series_set *a = &d->a, *b = &d->b;
	int err = 0;

	if (is_timed(d))
		err = table__add_notef(t,
				       "%s of --timer-only, which records no phases, operators and "
				       "kernels: only steps and data loader are compared.",
				       which_of(a->timer_only, b->timer_only));
	if (!err && (a->phase_only || b->phase_only))
		err = table__add_notef(t,
				       "%s of --detail phase, which records no operators but those "
				       "of --op: no others are compared.",
				       which_of(a->phase_only, b->phase_only));
	return err;
}

/* Could both recordings have any of these? */
static bool any_recorded(const struct pairs *pairs)
{
	for (size_t i = 0; i < pairs->cnt; i++)
		if (!pairs->items[i].unrecorded)
			return true;
	return false;
}

/* In CSV the head comes last, as in a report. */
static int print_tables(struct diff *d, FILE *out)
{
	const bool csv = d->opts->style.format == TABLE_CSV;
	struct table *tables[4];
	char note[200];
	size_t cnt = 0;
	int err;

	sort(&d->operators);
	sort(&d->kernels);
	snprintf(note, sizeof(note),
		 "Medians over the steps. p: Mann-Whitney U test, corrected (Holm) for the rows of "
		 "a table; same: p is %.2f or more, so chance may explain it.",
		 SIGNIFICANT);
	if (!csv)
		tables[cnt++] = make_head(d);
	tables[cnt++] = make_table("steps", "Steps and Phases", &d->steps, note);
	if (tables[cnt - 1] && note_unrecorded(d, tables[cnt - 1])) {
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

/* ---- limits ---- */

struct limit {
	enum series_kind kind;
	char name[512];
	double percent;
};

static int parse_limit(const char *text, struct limit *l)
{
	const char *over = strrchr(text, '>'), *name = text;
	char *end = NULL;

	l->kind = SERIES_STEP;
	l->percent = 0;
	if (!strncmp(text, "operator:", 9)) {
		l->kind = SERIES_OPERATOR;
		name = text + 9;
	} else if (!strncmp(text, "kernel:", 7)) {
		l->kind = SERIES_KERNEL;
		name = text + 7;
	}
	if (over && over > name)
		l->percent = strtod(over + 1, &end);
	if (!end || end == over + 1 || strcmp(end + (*end == '%'), "") != 0 || l->percent < 0 ||
	    !isfinite(l->percent))
		return err__set(-EINVAL,
				"'%s' is no limit; say for example step>5%%, backward>10%%, "
				"operator:NAME>20%% or kernel:NAME>3%%",
				text);
	snprintf(l->name, sizeof(l->name), "%.*s", (int)(over - name), name);
	return 0;
}

int diff_limit__check(const char *text)
{
	struct limit l;

	return parse_limit(text, &l);
}

static const struct pair *pair_of(struct diff *d, const struct limit *l)
{
	const struct pairs *pairs = pairs_of(d, l->kind);

	for (size_t i = 0; i < pairs->cnt; i++) {
		const struct pair *p = &pairs->items[i];

		if (!strcmp(p->a ? p->a->name : p->b->name, l->name))
			return p;
	}
	return NULL;
}

static int check_limit(struct diff *d, const char *text, size_t *exceeded)
{
	struct limit l;
	const struct pair *p;
	int err = parse_limit(text, &l);

	if (err)
		return err;
	p = pair_of(d, &l);
	if (is_timed(d) && (!p || p->unrecorded))
		return err__set(-EINVAL,
				"limit '%s': a recording of --timer-only has steps and data loader "
				"alone; record without it",
				text);
	if (p && p->unrecorded)
		return err__set(-EINVAL, "limit '%s': %s; record both alike", text, p->unrecorded);
	if (!p)
		return err__set(
			-EINVAL,
			"limit '%s': neither recording has %s; known are step, dataloader, "
			"forward, backward, optimization, others, operator:NAME and kernel:NAME",
			text, l.name);
	if (!p->a || !p->b)
		return err__set(-EINVAL, "limit '%s': only one of the recordings has %s", text,
				l.name);
	if (p->p < 0)
		return err__set(-EINVAL,
				"limit '%s': a recording has fewer than %d steps, which tells "
				"nothing; record more",
				text, RANK_SUM_FEWEST);
	if (!p->a_ns || percent(p) <= l.percent || !is_significant(p))
		return 0;
	log__warn("%s: %.1f %% slower (p %.4f)", text, percent(p), p->p);
	(*exceeded)++;
	return 0;
}

/* ---- the whole ---- */

/* What is not whole may be compared, but not judged. */
static int check_whole(const char *path, const struct recording *r, bool has_limits)
{
	const struct recording_damage *damage = recording__damage(r);
	const char *how = damage->bad_chunks ? "damaged" : "cut off";

	if (!damage->bad_chunks && !damage->truncated)
		return 0;
	if (has_limits)
		return err__set(-EIO, "%s is %s: no limit can be judged by it; record again", path,
				how);
	log__warn("%s is %s: what is missing in it counts as gone, and times may be wrong", path,
		  how);
	return 0;
}

static int read_one(const char *path, bool raw_times, bool has_limits, struct recording **r,
		    struct series_set *s)
{
	int err = recording__open(path, r);

	if (!err)
		err = series_set__read(*r, raw_times, s);
	if (!err && !s->step_cnt)
		err = err__set(-EINVAL, "%s has no steps, so there is nothing to compare", path);
	return err ? err : check_whole(path, *r, has_limits);
}

/* What makes times incomparable, and may be meant. */
static void warn_unlike(const struct recording *a, const struct recording *b)
{
	static const struct {
		const char *object, *key, *what; /* object: NULL for the metadata itself */
	} facts[] = {
		{NULL, "detail", "--detail"},
		{NULL, "max_overhead", "--max-overhead"},
		{NULL, "record_shapes", "--record-shapes"},
		{NULL, "with_stack", "--with-stack"},
		{"process", "argv", "the job's command"},
		{"host", "name", "host"},
		{"runtime", "framework", "framework"},
		{"runtime", "version", "version of the framework"},
	};
	char what[128] = "";
	size_t len = 0;

	for (size_t i = 0; i < ARRAY_SIZE(facts); i++) {
		const json_t *x = recording__meta(a), *y = recording__meta(b);

		if (facts[i].object) {
			x = json_object_get(x, facts[i].object);
			y = json_object_get(y, facts[i].object);
		}
		if (json_equal(json_object_get(x, facts[i].key), json_object_get(y, facts[i].key)))
			continue;
		if (json_object_get(x, facts[i].key) && json_object_get(y, facts[i].key))
			len += (size_t)snprintf(what + len, sizeof(what) - len, "%s%s",
						len ? ", " : "", facts[i].what);
	}
	if (len)
		log__warn("the recordings differ in more than time: %s", what);
}

int diff__print(const char *before, const char *after, const struct diff_opts *opts, FILE *out,
		size_t *exceeded)
{
	struct recording *a = NULL, *b = NULL;
	struct diff d = {.opts = opts, .before = before, .after = after};
	int err = read_one(before, opts->raw_times, opts->limit_cnt, &a, &d.a);

	*exceeded = 0;
	if (!err)
		err = read_one(after, opts->raw_times, opts->limit_cnt, &b, &d.b);
	if (!err)
		warn_unlike(a, b);
	if (!err)
		err = make_pairs(&d);
	if (!err)
		err = print_tables(&d, out);
	for (size_t i = 0; i < opts->limit_cnt && !err; i++)
		err = check_limit(&d, opts->limits[i], exceeded);
	free(d.steps.items);
	free(d.operators.items);
	free(d.kernels.items);
	series_set__free(&d.a);
	series_set__free(&d.b);
	recording__close(a);
	recording__close(b);
	return err == -ENOMEM ? err__set(err, "the comparison: out of memory") : err;
}
