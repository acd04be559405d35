// SPDX-License-Identifier: BSD-2-Clause
#include "capture/steps/sequence.h"
#include "common/util.h"
#include <stdlib.h>

static uint64_t hash_calls(const struct step_call *calls, size_t from, size_t to)
{
	uint64_t h = 1469598103934665603ull; /* FNV-1a */

	for (size_t i = from; i < to; i++)
		h = (h ^ calls[i].op) * 1099511628211ull;
	return h;
}

static void anchor_visit(struct anchor *a, const struct step_call *calls, size_t i,
			 uint64_t busy_until_ns)
{
	if (a->cnt) {
		uint64_t h = hash_calls(calls, a->last, i);

		if (a->cnt > 1 && h == a->last_hash) {
			a->same++;
			a->len = i - a->last;
		}
		a->last_hash = h;
	}
	if (i && calls[i].ts_ns > busy_until_ns)
		a->pause_ns += calls[i].ts_ns - busy_until_ns;
	a->last = i;
	a->cnt++;
}

/* Distinct operators are few (tens), so a linear search does. */
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

uint64_t anchor__mean_pause(const struct anchor *a)
{
	return a->pause_ns / a->cnt;
}

bool anchor__is_as_often(const struct anchor *a, size_t cnt)
{
	return a->cnt + 1 >= cnt && a->cnt <= cnt + 1;
}

/* Does a pause come before most of its calls? In a model of one layer after the other the first
 * alone comes after one. */
static bool pauses_often(const struct anchor *a, const struct sequence *s)
{
	uint64_t busy_until_ns = s->cnt ? s->calls[0].end_ns : 0;
	size_t pauses = 0;

	for (size_t i = 1; i < s->cnt; i++) {
		pauses +=
			s->calls[i].op == a->op &&
			s->calls[i].ts_ns > busy_until_ns + anchor__mean_pause(a) / SEQUENCE_LONGER;
		if (s->calls[i].end_ns > busy_until_ns)
			busy_until_ns = s->calls[i].end_ns;
	}
	return 2 * pauses > a->cnt;
}

bool sequence__waits_more(const struct anchor *a, const struct anchor *other,
			  const struct sequence *s)
{
	return anchor__mean_pause(a) >= SEQUENCE_LONGER * anchor__mean_pause(other) &&
	       pauses_often(a, s);
}

const struct anchor *sequence__pausing(const struct sequence *s)
{
	const struct anchor *longest = NULL;
	uint64_t others_ns = 0;
	size_t others = 0;

	for (size_t i = 0; i < s->anchor_cnt; i++)
		if (s->anchors[i].cnt >= SEQUENCE_LEAST &&
		    (!longest || anchor__mean_pause(&s->anchors[i]) > anchor__mean_pause(longest)))
			longest = &s->anchors[i];
	for (size_t i = 0; i < s->anchor_cnt; i++) {
		if (&s->anchors[i] == longest)
			continue;
		others_ns += s->anchors[i].pause_ns;
		others += s->anchors[i].cnt;
	}
	return longest && others &&
			       anchor__mean_pause(longest) > SEQUENCE_LONGER * others_ns / others &&
			       pauses_often(longest, s)
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

/* By thread, then by begin, what encloses before what is inside. */
static int by_begin(const void *a, const void *b)
{
	const struct step_call *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->ts_ns != y->ts_ns)
		return x->ts_ns < y->ts_ns ? -1 : 1;
	return x->end_ns > y->end_ns ? -1 : x->end_ns < y->end_ns;
}

/* Of sorted calls, those of the thread that has the most. */
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

void sequence__of(struct sequence *s, struct step_call *calls, size_t cnt)
{
	uint64_t busy_until_ns = 0;

	qsort(calls, cnt, sizeof(*calls), by_begin);
	s->anchor_cnt = 0;
	s->has_gaps = false;
	s->calls = busiest(calls, cnt, &s->cnt);
	for (size_t i = 0; i < s->cnt; i++) {
		struct anchor *a = anchor_get(s, &s->calls[i]);

		if (a)
			anchor_visit(a, s->calls, i, busy_until_ns);
		if (s->calls[i].end_ns > busy_until_ns)
			busy_until_ns = s->calls[i].end_ns;
	}
}
