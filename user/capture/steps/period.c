// SPDX-License-Identifier: BSD-2-Clause
#include "capture/steps/period.h"
#include "capture/steps/sequence.h"
#include "common/util.h"
#include <stdlib.h>

enum {
	LAYERS = 4, /* fewest layers of one kind in a pass; fewer may be another structure */
	BODY = 3,   /* fewest calls in a layer; fewer are one operator called for several tensors */
};

/* ---- passes over a model, by lookups and choices ---- */

static bool has_lookup(const struct step_call *call, uint32_t unused)
{
	return call->mark == PASS_LOOKUP;
}

static bool has_choice(const struct step_call *call, uint32_t unused)
{
	return call->mark > PASS_LOOKUP;
}

/* Does the operator look up input, with a choice in most of its periods? Or choose, with a lookup
 * in most? */
static bool opens_passes(const struct anchor *a, const struct sequence *s)
{
	return a->mark && a->cnt >= SEQUENCE_LEAST &&
	       5 * sequence__periods_with(s, a, a->mark == PASS_LOOKUP ? has_choice : has_lookup,
					  0) >=
		       4 * (a->cnt - 1);
}

static bool is_better_mark(const struct anchor *a, const struct anchor *b)
{
	return a->mark != b->mark ? a->mark < b->mark : a->op < b->op;
}

/* The model has several lookups and one choice in a pass. Usually the choice opens the pass. If the
 * program waits before another operator for much longer than before all others, that operator opens
 * the pass. It may wait there for a request. */
static const struct anchor *opener_of_choices(const struct anchor *choice, const struct sequence *s)
{
	const struct anchor *opener = choice;
	uint64_t second_ns = 0;

	for (size_t i = 0; i < s->anchor_cnt; i++) {
		const struct anchor *a = &s->anchors[i];
		const uint64_t pause_ns = a->pause_ns;

		if (a == choice || !anchor__is_as_often(a, choice->cnt))
			continue;
		if (pause_ns > opener->pause_ns) {
			second_ns = opener->pause_ns;
			opener = a;
		} else if (pause_ns > second_ns) {
			second_ns = pause_ns;
		}
	}
	return opener->pause_ns >= SEQUENCE_LONGER * second_ns &&
			       sequence__waits_more(opener, choice)
		       ? opener
		       : choice;
}

/* Does the call begin a pass? It does if it is the first lookup after a choice. */
static bool begins_pass(const struct step_call *call, bool *chosen)
{
	const bool begins = *chosen && call->mark == PASS_LOOKUP;

	*chosen = call->mark > PASS_LOOKUP || (*chosen && !begins);
	return begins;
}

/* The model has several lookups and several choices in a pass. We look at operators that come once
 * a pass. The opener is the one that comes first after the first lookup in most passes. */
static const struct anchor *opener_of_turns(const struct sequence *s)
{
	size_t passes = 0, votes[ARRAY_SIZE(s->anchors)] = {0}, best = 0;
	bool chosen = false, first = false;

	for (size_t i = 0; i < s->cnt; i++)
		passes += begins_pass(&s->calls[i], &chosen);
	if (passes < SEQUENCE_LEAST)
		return NULL;
	chosen = false;
	for (size_t i = 0; i < s->cnt; i++) {
		const size_t n = sequence__anchor(s, s->calls[i].op);

		first |= begins_pass(&s->calls[i], &chosen);
		if (!first || n == s->anchor_cnt || !anchor__is_as_often(&s->anchors[n], passes))
			continue;
		votes[n]++;
		first = false;
	}
	for (size_t n = 0; n < s->anchor_cnt; n++)
		if (votes[n] > votes[best])
			best = n;
	return 2 * votes[best] > passes ? &s->anchors[best] : NULL;
}

/* Only counts and order decide. So neither the kind of requests nor the begin of the look
 * matters. */
static const struct anchor *pass_by_marks(const struct sequence *s)
{
	const struct anchor *best = NULL;

	for (size_t i = 0; i < s->anchor_cnt; i++) {
		const struct anchor *a = &s->anchors[i];

		if (opens_passes(a, s) && (!best || is_better_mark(a, best)))
			best = a;
	}
	if (!best)
		return opener_of_turns(s);
	return best->mark == PASS_LOOKUP ? best : opener_of_choices(best, s);
}

/* ---- by the order of calls ---- */

/* Do at least four fifths of the periods repeat the one before? */
static bool repeats(const struct anchor *a)
{
	return a->cnt >= SEQUENCE_LEAST && a->same * 5 >= (a->cnt - 2) * 4;
}

/* Do at least half of the periods repeat the one before? The first pass of a request differs from
 * its neighbours. With short requests that may be half of the periods. */
static bool repeats_mostly(const struct anchor *a)
{
	return a->cnt >= SEQUENCE_LEAST && a->same * 2 >= a->cnt - 2;
}

/* The number of periods that differ from the one before. */
static size_t breaks(const struct anchor *a)
{
	return a->cnt > 2 ? a->cnt - 2 - a->same : 0;
}

/* A layer that a model calls ten times or more in a row repeats, too. But its last period in each
 * pass is unlike the one before and the one after. */
static bool is_layer_of(const struct anchor *a, const struct anchor *outer)
{
	return repeats(outer) && outer->cnt < a->cnt && breaks(a) + 4 >= 2 * outer->cnt;
}

/* A slow model shows few passes. Its lookups then show how many passes there were. */
static bool is_layer_by_marks(const struct anchor *a, const struct anchor *lookup,
			      const struct sequence *s)
{
	return lookup->mark == PASS_LOOKUP && 2 * lookup->cnt < a->cnt &&
	       2 * sequence__periods_with(s, a, has_lookup, 0) < a->cnt - 1;
}

/* The hash of most periods of a. */
static uint64_t usual_hash(const struct anchor *a, const struct sequence *s)
{
	uint64_t usual = 0, hash;
	size_t at = 0, votes = 0;

	while (sequence__next_period(a, s, &at, &hash)) {
		if (!votes)
			usual = hash;
		votes += hash == usual ? 1 : -1;
	}
	return usual;
}

/* Runs of usual periods lie between unusual periods. Do two such runs have different lengths? */
static bool runs_differ(const struct anchor *a, const struct sequence *s)
{
	const uint64_t usual = usual_hash(a, s);
	size_t at = 0, run = 0, earlier = 0;
	bool whole = false;
	uint64_t hash;

	while (sequence__next_period(a, s, &at, &hash)) {
		if (hash == usual) {
			run++;
			continue;
		}
		if (whole && run && earlier && run != earlier)
			return true;
		if (whole && run)
			earlier = run;
		whole = true;
		run = 0;
	}
	return false;
}

/* The number of layers never changes. With a slow model, calls outside the layers may be too rare
 * to be seen. */
static bool may_be_layer(const struct anchor *a, const struct sequence *s)
{
	return breaks(a) && !runs_differ(a, s) && sequence__pausing(s) != a;
}

static bool is_layer(const struct anchor *a, const struct sequence *s)
{
	for (size_t i = 0; i < s->anchor_cnt; i++) {
		const struct anchor *outer = &s->anchors[i];

		if ((is_layer_of(a, outer) || is_layer_by_marks(a, outer, s)) &&
		    !sequence__waits_more(a, outer))
			return true;
	}
	return may_be_layer(a, s);
}

/* Does a repeat within outer's periods, the same number of times in each? */
static bool repeats_within(const struct anchor *a, const struct anchor *outer)
{
	return a->cnt + LAYERS >= LAYERS * outer->cnt && a->len >= BODY &&
	       breaks(a) + 4 >= 2 * outer->cnt && breaks(a) <= 2 * outer->cnt + 4;
}

/* Does each period consist of layers of one kind, and not of requests? */
static bool has_layers(const struct anchor *a, const struct sequence *s)
{
	bool has = false;

	if (!repeats_mostly(a))
		return false;
	for (size_t i = 0; i < s->anchor_cnt; i++) {
		if (!repeats_within(&s->anchors[i], a))
			continue;
		if (sequence__waits_more(&s->anchors[i], a))
			return false;
		has = true;
	}
	return has;
}

/* The number of calls of the shortest repetition that consists of layers; 0: none does. */
static size_t passes_by_layers(const struct sequence *s)
{
	size_t most = 0;

	for (size_t i = 0; i < s->anchor_cnt; i++)
		if (s->anchors[i].cnt > most && has_layers(&s->anchors[i], s))
			most = s->anchors[i].cnt;
	return most;
}

/* The repeating operator after the longest pauses. If the number of passes is known, it must come
 * as often as passes. NULL: none. */
static const struct anchor *repeating(const struct sequence *s, size_t passes)
{
	const struct anchor *best = NULL;

	for (size_t i = 0; i < s->anchor_cnt; i++) {
		const struct anchor *a = &s->anchors[i];

		if ((passes ? repeats_mostly(a) && anchor__is_as_often(a, passes)
			    : repeats(a) && !is_layer(a, s)) &&
		    (!best || a->pause_ns > best->pause_ns))
			best = a;
	}
	return best;
}

/* ---- requests of several passes ---- */

static bool has_op(const struct step_call *call, uint32_t op)
{
	return call->op == op;
}

/* An operator may open requests if it comes at most half as often as passes, and nearly always with
 * a pass between two of its calls. */
static bool may_open_requests(const struct anchor *a, const struct anchor *pass,
			      const struct sequence *s)
{
	return a->cnt >= SEQUENCE_LEAST && 2 * a->cnt <= pass->cnt &&
	       10 * sequence__periods_with(s, a, has_op, pass->op) >= 9 * (a->cnt - 1);
}

static bool is_better_request(const struct anchor *a, const struct anchor *b)
{
	return repeats(a) != repeats(b) ? repeats(a) : a->pause_ns > b->pause_ns;
}

/* Between two passes there may be calls that end a request and calls that begin the next one. The
 * first pass of a request may have extra calls, too. Of the operators that come as often as `like`,
 * returns the one that most often comes first. */
static const struct anchor *first_of_request(const struct anchor *like, const struct anchor *pass,
					     const struct sequence *s)
{
	auto_free size_t *first = calloc(s->anchor_cnt, sizeof(*first));
	bool between = false, now = false;
	size_t best = (size_t)(like - s->anchors);

	if (!first)
		return like;
	for (size_t i = 0; i < s->cnt; i++) {
		const uint32_t op = s->calls[i].op;
		const size_t n = sequence__anchor(s, op);

		if (op == pass->op) {
			between = now;
			now = false;
			continue;
		}
		if (n == s->anchor_cnt || !anchor__is_as_often(&s->anchors[n], like->cnt))
			continue;
		first[n] += !between && !now;
		now = true;
	}
	for (size_t n = 0; n < s->anchor_cnt; n++)
		if (first[n] > first[best])
			best = n;
	return &s->anchors[best];
}

static const struct anchor *request_of_passes(const struct anchor *pass, const struct sequence *s)
{
	const struct anchor *best = NULL;

	for (size_t i = 0; i < s->anchor_cnt; i++)
		if (may_open_requests(&s->anchors[i], pass, s) &&
		    (!best || is_better_request(&s->anchors[i], best)))
			best = &s->anchors[i];
	return best ? first_of_request(best, pass, s) : NULL;
}

/* The operator that opens each iteration; NULL: none. */
struct iteration {
	const struct anchor *opener;
	/* an iteration is a pass over a model; otherwise any repetition */
	bool by_marks, by_layers;
};

static struct iteration find_iteration(const struct sequence *s)
{
	struct iteration it = {.opener = pass_by_marks(s)};
	size_t passes;

	it.by_marks = it.opener;
	if (it.by_marks || s->has_gaps)
		return it;
	passes = passes_by_layers(s);
	it.opener = repeating(s, passes);
	it.by_layers = it.opener && passes;
	return it;
}

static struct step_period iteration_period(const struct sequence *s)
{
	const struct iteration it = find_iteration(s);
	const struct anchor *best = it.opener, *pauses = sequence__pausing(s);
	struct step_period period = {.tid = s->calls->tid, .is_pass = it.by_marks};

	if (it.by_marks || it.by_layers ||
	    (pauses && best &&
	     (pauses->cnt < 2 * best->cnt - 2 ||
	      pauses->pause_ns < SEQUENCE_LONGER * best->pause_ns)))
		pauses = NULL;
	if (best)
		period.op = best->op;
	if (pauses)
		period.pausing = pauses->op;
	if (pauses && best)
		period.pausing_cnt = (uint32_t)((pauses->cnt + best->cnt / 2) / best->cnt);
	return period;
}

/* A program that waits before each pass may have one pass in each request, or several. An operator
 * that comes less often than passes opens requests. Passes without marks that are all alike are one
 * request each. */
static const struct anchor *find_request(const struct sequence *s)
{
	const struct iteration it = find_iteration(s);
	const struct anchor *pauses = sequence__pausing(s), *request;

	if (!it.by_marks && !it.by_layers)
		return pauses ? pauses : it.opener;
	if (pauses && 2 * pauses->cnt <= it.opener->cnt)
		return pauses;
	request = request_of_passes(it.opener, s);
	return request || it.by_marks || breaks(it.opener) ? request : it.opener;
}

static struct step_period request_period(const struct sequence *s)
{
	const struct anchor *request = find_request(s);

	return (struct step_period){.op = request ? request->op : 0, .tid = s->calls->tid};
}

static struct step_period find_period(struct step_call *calls, size_t cnt, enum step_unit unit,
				      bool has_gaps)
{
	struct sequence s;

	if (!cnt)
		return (struct step_period){0};
	sequence__of(&s, calls, cnt);
	s.has_gaps = has_gaps;
	return unit == STEP_UNIT_REQUEST ? request_period(&s) : iteration_period(&s);
}

struct step_period steps__period(struct step_call *calls, size_t cnt, enum step_unit unit)
{
	return find_period(calls, cnt, unit, false);
}

struct step_period steps__period_of_looks(struct step_call *calls, size_t cnt, enum step_unit unit)
{
	return find_period(calls, cnt, unit, true);
}
