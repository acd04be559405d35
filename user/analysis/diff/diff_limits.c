// SPDX-License-Identifier: BSD-2-Clause
/* Limits of a comparison: "step > 5 %", "operator:NAME>20%". */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/diff/change.h"
#include "analysis/diff/diff_internal.h"
#include "common/err.h"
#include "analysis/message_table.h"
#include "common/util.h"

struct limit {
	enum series_kind kind;
	char *name; /* owned */
	double percent;
};

static const char *skip_blanks(const char *text)
{
	while (isspace((unsigned char)*text))
		text++;
	return text;
}

static int refuse(const char *text)
{
	return err__set(-EINVAL, MESSAGE_LIMIT_INVALID, text);
}

/* "5%", "5 %" or "5" */
static bool parse_percent(const char *text, double *out)
{
	char *end;
	const char *rest;

	*out = strtod(text, &end);
	rest = skip_blanks(end);
	rest = skip_blanks(rest + (*rest == '%'));
	return end != text && !*rest && *out >= 0 && isfinite(*out);
}

static int parse_limit(const char *text, struct limit *l)
{
	const char *name = skip_blanks(text), *over = strrchr(text, '>'), *end = over;

	*l = (struct limit){.kind = SERIES_STEP};
	if (!strncmp(name, "operator:", 9)) {
		l->kind = SERIES_OPERATOR;
		name = skip_blanks(name + 9);
	} else if (!strncmp(name, "kernel:", 7)) {
		l->kind = SERIES_KERNEL;
		name = skip_blanks(name + 7);
	}
	if (!over || over <= name || !parse_percent(over + 1, &l->percent))
		return refuse(text);
	while (end > name && isspace((unsigned char)end[-1]))
		end--;
	if (end == name)
		return refuse(text);
	l->name = strndup(name, (size_t)(end - name));
	return l->name ? 0 : -ENOMEM;
}

int diff_limit__check(const char *text)
{
	struct limit l;
	int err = parse_limit(text, &l);

	free(l.name);
	return err;
}

static const struct pair *pair_of(struct diff *d, const struct limit *l)
{
	const struct pairs *pairs = diff__pairs_of(d, l->kind);

	for (size_t i = 0; i < pairs->cnt; i++)
		if (text__is(pairs->items[i].name, l->name))
			return &pairs->items[i];
	return NULL;
}

/* Refuses a limit whose row cannot be compared, or does not exist. */
static int check_known(const struct diff *d, const char *text, const struct limit *l,
		       const struct pair *p)
{
	const bool timed = diff_side__is_timed(&d->a) || diff_side__is_timed(&d->b);

	if (timed && (!p || p->unrecorded))
		return err__set(-EINVAL, MESSAGE_LIMIT_NEEDS_OPERATORS, text);
	if (p && (p->unrecorded || pair__is_estimated(p)))
		return err__set(-EINVAL, MESSAGE_LIMIT_NOT_COMPARABLE, text,
				p->unrecorded && !pair__is_estimated(p) ? p->unrecorded
									: series_no_probe);
	if (!p)
		return err__set(-EINVAL, MESSAGE_LIMIT_NAME_UNKNOWN, text, l->name);
	if (p->a.is_there && p->b.is_there && p->p < 0)
		return err__set(-EINVAL, MESSAGE_LIMIT_FEW_STEPS, text, CHANGE_FEWEST);
	return 0;
}

static void judge(const char *text, const struct limit *l, const struct pair *p, size_t *exceeded)
{
	if (pair__is_new(p) || (p->b.is_there && !p->a.ns && p->b.ns && pair__is_significant(p))) {
		log__warn(MESSAGE_LIMIT_NEW, text);
		(*exceeded)++;
		return;
	}
	if (!p->b.is_there || !p->a.ns || pair__percent(p) <= l->percent)
		return;
	if (p->only_ready) {
		log__warn(MESSAGE_LIMIT_EXCEEDED_BY_CPU_WAIT, text, pair__percent(p));
	} else if (!pair__is_significant(p)) {
		log__warn(MESSAGE_LIMIT_EXCEEDED_BY_CHANCE, text, pair__percent(p), p->p,
			  100 * p->least);
	} else {
		log__warn(MESSAGE_LIMIT_EXCEEDED, text, pair__percent(p), p->p);
		(*exceeded)++;
	}
}

int diff__check_limit(struct diff *d, const char *text, size_t *exceeded)
{
	struct limit l;
	const struct pair *p;
	int err = parse_limit(text, &l);

	if (err)
		return err;
	p = pair_of(d, &l);
	err = check_known(d, text, &l, p);
	if (!err)
		judge(text, &l, p, exceeded);
	free(l.name);
	return err;
}
