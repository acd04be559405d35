// SPDX-License-Identifier: BSD-2-Clause
/* The rows of a comparison: one name on both sides, and whether it changed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/diff/change.h"
#include "analysis/diff/diff_internal.h"
#include "analysis/diff/holm.h"
#include "common/median.h"
#include "common/util.h"

struct pairs *diff__pairs_of(struct diff *d, enum series_kind kind)
{
	return kind == SERIES_OPERATOR ? &d->operators
	       : kind == SERIES_KERNEL ? &d->kernels
				       : &d->steps;
}

bool pair__is_significant(const struct pair *p)
{
	return p->p >= 0 && p->p < SIGNIFICANT;
}

double pair__percent(const struct pair *p)
{
	return 100 * ((double)p->b.ns - (double)p->a.ns) / (double)p->a.ns;
}

bool pair__is_new(const struct pair *p)
{
	return !p->a.is_there && !p->unrecorded;
}

bool pair__is_estimated(const struct pair *p)
{
	return p->a.estimated || p->b.estimated;
}

/* ---- one name of one side ---- */

static const struct series *series_of(const struct diff_window *w, enum series_kind kind,
				      const char *name)
{
	const struct series *found = series_set__find(&w->set, kind, name);

	return found && found->calls ? found : NULL;
}

static const struct left_out_row *estimate_of(const struct diff_window *w, enum series_kind kind,
					      const char *name)
{
	for (size_t i = 0; kind == SERIES_OPERATOR && i < w->estimates.cnt; i++)
		if (w->estimates.items[i].stat.calls && !strcmp(w->estimates.items[i].name, name))
			return &w->estimates.items[i];
	return NULL;
}

static bool is_recorded(const struct diff_side *s, enum series_kind kind, const char *name)
{
	for (size_t i = 0; i < s->cnt; i++)
		if (series_of(&s->windows[i], kind, name))
			return true;
	return false;
}

static bool has_name(const struct diff_side *s, size_t windows, enum series_kind kind,
		     const char *name)
{
	for (size_t i = 0; i < windows; i++)
		if (series_of(&s->windows[i], kind, name) ||
		    estimate_of(&s->windows[i], kind, name))
			return true;
	return false;
}

static uint64_t level_of(const struct series *s, size_t cnt, bool by_mean, uint64_t *room)
{
	if (!s)
		return 0;
	memcpy(room, s->ns, cnt * sizeof(*room));
	return change__level(room, cnt, by_mean);
}

static int measure(const struct diff *d, const struct diff_side *s, enum series_kind kind,
		   const char *name, struct pair_side *out)
{
	auto_free uint64_t *windows = calloc(s->cnt + 1, sizeof(*windows));
	const bool recorded = is_recorded(s, kind, name);
	size_t cnt = 0;

	if (!windows)
		return -ENOMEM;
	for (size_t i = 0; i < s->cnt; i++) {
		const struct diff_window *w = &s->windows[i];
		const struct left_out_row *e = estimate_of(w, kind, name);
		const struct series *found = series_of(w, kind, name);
		auto_free uint64_t *room = calloc(w->set.step_cnt + 1, sizeof(*room));

		if (!room)
			return -ENOMEM;
		if (found || (recorded && !e))
			windows[cnt++] = level_of(found, w->set.step_cnt, d->by_mean, room);
		else if (!recorded && e)
			windows[cnt++] = e->stat.cpu.total / w->set.step_cnt;
	}
	*out = (struct pair_side){.is_there = cnt, .estimated = cnt && !recorded};
	if (cnt)
		out->ns = median__of(windows, cnt);
	return 0;
}

/* ---- the test ---- */

/* Lists the side's windows that have the name, or could have it. zeros: for a window in which it
 * did not run. */
static size_t windows_of(const struct diff_side *s, const struct pair *p, bool less_ready,
			 const uint64_t *zeros, struct change_window *out)
{
	size_t cnt = 0;

	for (size_t i = 0; i < s->cnt; i++) {
		const struct series_set *set = &s->windows[i].set;
		const struct series *found = series_of(&s->windows[i], p->kind, p->name);

		if (!found && estimate_of(&s->windows[i], p->kind, p->name))
			continue;
		out[cnt++] = (struct change_window){
			.ns = less_ready ? set->less_ready_ns
			      : found	 ? found->ns
					 : zeros,
			.step_ns = set->items[0].ns,
			.cnt = set->step_cnt,
			.ready_share = set->ready_share,
		};
	}
	return cnt;
}

static size_t longest(const struct diff_side *s)
{
	size_t cnt = 0;

	for (size_t i = 0; i < s->cnt; i++)
		cnt = s->windows[i].set.step_cnt > cnt ? s->windows[i].set.step_cnt : cnt;
	return cnt;
}

static bool is_step(const struct pair *p)
{
	return p->kind == SERIES_STEP && !strcmp(p->name, "step");
}

/* Do the row's times depend on a device alone? */
static bool is_on_device(const struct diff *d, const struct pair *p)
{
	return p->kind == SERIES_KERNEL || (is_step(p) && d->device_bound);
}

static int test_by(const struct diff *d, const struct pair *p, bool less_ready, struct change *out)
{
	const size_t steps = longest(&d->a) > longest(&d->b) ? longest(&d->a) : longest(&d->b);
	auto_free uint64_t *zeros = calloc(steps + 1, sizeof(*zeros));
	auto_free struct change_window *a = calloc(d->a.cnt + 1, sizeof(*a));
	auto_free struct change_window *b = calloc(d->b.cnt + 1, sizeof(*b));

	if (!zeros || !a || !b)
		return -ENOMEM;
	return change__test(&(struct change_side){a, windows_of(&d->a, p, less_ready, zeros, a),
						  d->by_mean, is_on_device(d, p)},
			    &(struct change_side){b, windows_of(&d->b, p, less_ready, zeros, b),
						  d->by_mean, is_on_device(d, p)},
			    out);
}

static bool has_ready(const struct diff_side *s)
{
	for (size_t i = 0; i < s->cnt; i++)
		if (!s->windows[i].set.has_ready)
			return false;
	return true;
}

/* A step counts as slower only if it also is without its waits for a processor. */
static int test_step(const struct diff *d, struct pair *p)
{
	struct change without;
	int err;

	if (!has_ready(&d->a) || !has_ready(&d->b))
		return 0;
	err = test_by(d, p, true, &without);
	if (err)
		return err;
	p->only_ready = p->b.ns > p->a.ns && pair__is_significant(p) && without.p >= SIGNIFICANT;
	p->p = fmax(p->p, without.p);
	p->least = fmax(p->least, without.least);
	return 0;
}

/* How long a step is ready but without a processor. For several windows: the median over them. */
static int ready_of(const struct diff_side *s, bool by_mean, uint64_t *out)
{
	auto_free uint64_t *windows = calloc(s->cnt + 1, sizeof(*windows));
	auto_free uint64_t *ready = calloc(longest(s) + 1, sizeof(*ready));

	if (!windows || !ready)
		return -ENOMEM;
	for (size_t i = 0; i < s->cnt; i++) {
		const struct series_set *set = &s->windows[i].set;

		for (size_t k = 0; k < set->step_cnt; k++)
			ready[k] = set->items[0].ns[k] - set->less_ready_ns[k];
		windows[i] = change__level(ready, set->step_cnt, by_mean);
	}
	*out = median__of(windows, s->cnt);
	return 0;
}

/* The recording does not say when in a step the thread waited for a processor. So that wait may
 * explain any growth that is not larger than it. */
static int find_waiting(const struct diff *d, struct pair *p)
{
	uint64_t a_ns, b_ns;
	int err = ready_of(&d->a, d->by_mean, &a_ns);

	if (!err)
		err = ready_of(&d->b, d->by_mean, &b_ns);
	p->only_ready =
		!err && p->b.ns > p->a.ns && b_ns > a_ns && p->b.ns - p->a.ns <= b_ns - a_ns;
	return err;
}

static int test(const struct diff *d, struct pair *p)
{
	struct change change;
	int err;

	if (!p->a.is_there || !p->b.is_there || pair__is_estimated(p))
		return 0;
	err = test_by(d, p, false, &change);
	if (err)
		return err;
	p->p = change.p;
	p->least = change.least;
	if (p->p >= 0 && is_step(p))
		return d->device_bound ? 0 : test_step(d, p);
	if (p->kind == SERIES_KERNEL || !strcmp(p->name, SERIES_RUN_NAME))
		return 0;
	return find_waiting(d, p);
}

/* ---- all of them ---- */

static const char *why_unrecorded(const struct diff_side *s, enum series_kind kind,
				  const char *name)
{
	const char *why = NULL;

	for (size_t i = 0; i < s->cnt && !why; i++)
		why = series_set__unrecorded(&s->windows[i].set, kind, name);
	return why;
}

static int add_pair(struct diff *d, enum series_kind kind, const char *name)
{
	struct pairs *pairs = diff__pairs_of(d, kind);
	struct pair p = {.kind = kind, .name = name, .p = -1};
	int err = measure(d, &d->a, kind, name, &p.a);

	if (!err)
		err = measure(d, &d->b, kind, name, &p.b);
	if (!err && !(p.a.is_there && p.b.is_there))
		p.unrecorded = why_unrecorded(p.a.is_there ? &d->b : &d->a, kind, name);
	if (!err)
		err = test(d, &p);
	return err ? err : ARRAY_PUSH(pairs->items, pairs->cnt, pairs->cap, p);
}

/* Adds the names of this window that no earlier window has. */
static int add_window(struct diff *d, const struct diff_side *s, size_t window)
{
	const struct diff_window *w = &s->windows[window];
	const bool second = s == &d->b;
	int err = 0;

	for (size_t i = 0; i < w->set.cnt && !err; i++) {
		const struct series *one = &w->set.items[i];

		if (one->calls && !has_name(s, window, one->kind, one->name) &&
		    !(second && has_name(&d->a, d->a.cnt, one->kind, one->name)))
			err = add_pair(d, one->kind, one->name);
	}
	for (size_t i = 0; i < w->estimates.cnt && !err; i++) {
		const struct left_out_row *e = &w->estimates.items[i];

		if (e->stat.calls && !series_of(w, SERIES_OPERATOR, e->name) &&
		    !has_name(s, window, SERIES_OPERATOR, e->name) &&
		    !(second && has_name(&d->a, d->a.cnt, SERIES_OPERATOR, e->name)))
			err = add_pair(d, SERIES_OPERATOR, e->name);
	}
	return err;
}

/* Corrects all p but the step's, because the step is what a comparison is about. */
static int correct(struct pairs *pairs)
{
	auto_free double *p = calloc(pairs->cnt + 1, sizeof(*p));
	int err = p ? 0 : -ENOMEM;

	for (size_t i = 0; i < pairs->cnt && !err; i++)
		p[i] = is_step(&pairs->items[i]) ? -1 : pairs->items[i].p;
	if (!err)
		err = holm__correct(p, pairs->cnt);
	for (size_t i = 0; i < pairs->cnt && !err; i++)
		if (!is_step(&pairs->items[i]))
			pairs->items[i].p = p[i];
	return err;
}

/* Moves the run time to the row after the step. */
static void raise_run_time(struct pairs *steps)
{
	for (size_t i = 2; i < steps->cnt; i++) {
		const struct pair run = steps->items[i];

		if (strcmp(run.name, SERIES_RUN_NAME) != 0)
			continue;
		memmove(&steps->items[2], &steps->items[1], (i - 1) * sizeof(run));
		steps->items[1] = run;
	}
}

#define DEVICE_BOUND 0.9 /* share of the steps' time that a device computes */

static int choose_test(struct diff *d)
{
	const struct diff_side *sides[] = {&d->a, &d->b};
	int err = 0;

	d->device_bound = true;
	for (size_t i = 0; i < 2; i++)
		for (size_t k = 0; k < sides[i]->cnt && !err; k++) {
			const struct series_set *set = &sides[i]->windows[k].set;
			bool uneven = false;

			err = change__is_uneven(set->less_ready_ns, set->step_cnt, &uneven);
			d->by_mean |= uneven;
			d->device_bound &= set->device_busy >= DEVICE_BOUND;
		}
	return err;
}

int diff__make_pairs(struct diff *d)
{
	int err = choose_test(d);

	for (size_t i = 0; i < d->a.cnt && !err; i++)
		err = add_window(d, &d->a, i);
	for (size_t i = 0; i < d->b.cnt && !err; i++)
		err = add_window(d, &d->b, i);
	if (!err)
		err = correct(&d->steps);
	if (!err)
		raise_run_time(&d->steps);
	if (!err)
		err = correct(&d->operators);
	return err ? err : correct(&d->kernels);
}
