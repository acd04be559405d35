// SPDX-License-Identifier: BSD-2-Clause
#include "capture/steps/sequence.h"
#include "common/median.h"
#include "common/util.h"
#include <stdlib.h>

static uint64_t hash_calls(const struct step_call *calls, size_t from, size_t to)
{
	uint64_t h = 1469598103934665603ull; /* FNV-1a */

	for (size_t i = from; i < to; i++)
		h = (h ^ calls[i].op) * 1099511628211ull;
	return h;
}

static void anchor_visit(struct anchor *a, const struct step_call *calls, size_t i)
{
	if (a->cnt) {
		uint64_t h = hash_calls(calls, a->last, i);

		if (a->cnt > 1 && h == a->last_hash) {
			a->same++;
			a->len = i - a->last;
		}
		a->last_hash = h;
	}
	a->last = i;
	a->cnt++;
}

/* There are only tens of distinct operators, so a linear search suffices. */
size_t sequence__anchor(const struct sequence *s, uint32_t op)
{
	size_t n = 0;

	while (n < s->anchor_cnt && s->anchors[n].op != op)
		n++;
	return n;
}

static struct anchor *anchor_get(struct sequence *s, const struct step_call *call)
{
	const size_t n = sequence__anchor(s, call->op);

	if (n == ARRAY_SIZE(s->anchors))
		return NULL;
	if (n == s->anchor_cnt)
		s->anchors[s->anchor_cnt++] = (struct anchor){.op = call->op, .mark = call->mark};
	return &s->anchors[n];
}

bool anchor__is_as_often(const struct anchor *a, size_t cnt)
{
	return a->cnt + 1 >= cnt && a->cnt <= cnt + 1;
}

bool sequence__waits_more(const struct anchor *a, const struct anchor *other)
{
	return a->pause_ns && a->pause_ns >= SEQUENCE_LONGER * other->pause_ns;
}

const struct anchor *sequence__pausing(const struct sequence *s)
{
	const struct anchor *longest = NULL;
	uint64_t others_ns = 0;
	size_t others = 0;

	for (size_t i = 0; i < s->anchor_cnt; i++)
		if (s->anchors[i].cnt >= SEQUENCE_LEAST &&
		    (!longest || s->anchors[i].pause_ns > longest->pause_ns))
			longest = &s->anchors[i];
	for (size_t i = 0; i < s->anchor_cnt; i++) {
		if (&s->anchors[i] == longest)
			continue;
		others_ns += s->anchors[i].pause_ns * s->anchors[i].cnt;
		others += s->anchors[i].cnt;
	}
	return longest && others && longest->pause_ns > SEQUENCE_LONGER * others_ns / others
		       ? longest
		       : NULL;
}

size_t sequence__periods_with(const struct sequence *s, const struct anchor *a,
			      bool (*has)(const struct step_call *call, uint32_t op), uint32_t op)
{
	bool in = false, seen = false;
	size_t cnt = 0;

	for (size_t i = 0; i < s->cnt; i++) {
		if (s->calls[i].op == a->op) {
			cnt += in && seen;
			in = true;
			seen = false;
		}
		seen |= has(&s->calls[i], op);
	}
	return cnt;
}

bool sequence__next_period(const struct anchor *a, const struct sequence *s, size_t *at,
			   uint64_t *hash)
{
	size_t begin = *at, end;

	while (begin < s->cnt && s->calls[begin].op != a->op)
		begin++;
	for (end = begin + 1; end < s->cnt && s->calls[end].op != a->op; end++)
		;
	if (end >= s->cnt)
		return false;
	*hash = hash_calls(s->calls, begin, end);
	*at = end;
	return true;
}

/* Orders by thread, then by begin. An enclosing call comes before the calls inside it. */
static int by_begin(const void *a, const void *b)
{
	const struct step_call *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->ts_ns != y->ts_ns)
		return x->ts_ns < y->ts_ns ? -1 : 1;
	return x->end_ns > y->end_ns ? -1 : x->end_ns < y->end_ns;
}

/* Of sorted calls, returns those of the thread with the most calls. */
static const struct step_call *busiest(const struct step_call *calls, size_t cnt, size_t *own_cnt)
{
	const struct step_call *best = calls;

	*own_cnt = 0;
	for (size_t begin = 0, end; begin < cnt; begin = end) {
		for (end = begin; end < cnt && calls[end].tid == calls[begin].tid; end++)
			;
		if (end - begin > *own_cnt) {
			best = &calls[begin];
			*own_cnt = end - begin;
		}
	}
	return best;
}

/* pauses[i]: the time before call i in which the thread was in no call. Also covers the gap between
 * two looks. */
static void find_pauses(const struct sequence *s, uint64_t *pauses)
{
	uint64_t busy_until_ns = s->cnt ? s->calls->end_ns : 0;

	for (size_t i = 0; i < s->cnt; i++) {
		const struct step_call *call = &s->calls[i];

		pauses[i] = call->ts_ns > busy_until_ns ? call->ts_ns - busy_until_ns : 0;
		if (call->end_ns > busy_until_ns)
			busy_until_ns = call->end_ns;
	}
}

/* Uses the median: a single long pause, as on a busy machine, says nothing about the operator after
 * it. */
static void set_pauses(struct sequence *s)
{
	auto_free uint64_t *all = calloc(2 * s->cnt, sizeof(*all));
	uint64_t *own = all + s->cnt;

	if (!all)
		return; /* all pauses stay 0: unknown */
	find_pauses(s, all);
	for (size_t n = 0; n < s->anchor_cnt; n++) {
		struct anchor *a = &s->anchors[n];
		size_t cnt = 0;

		for (size_t i = 0; i < s->cnt; i++)
			if (s->calls[i].op == a->op)
				own[cnt++] = all[i];
		a->pause_ns = median__of(own, cnt);
	}
}

void sequence__of(struct sequence *s, struct step_call *calls, size_t cnt)
{
	qsort(calls, cnt, sizeof(*calls), by_begin);
	s->anchor_cnt = 0;
	s->has_gaps = false;
	s->calls = busiest(calls, cnt, &s->cnt);
	for (size_t i = 0; i < s->cnt; i++) {
		struct anchor *a = anchor_get(s, &s->calls[i]);

		if (a)
			anchor_visit(a, s->calls, i);
	}
	set_pauses(s);
}
