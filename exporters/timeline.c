// SPDX-License-Identifier: BSD-2-Clause
#include "exporters/timeline.h"
#include <string.h>
#include "common/err.h"
#include "common/util.h"

#define RUN_CNT	     16384 /* events sorted at a time; as many again wait for stragglers */
#define WINDOW_CNT   (2 * RUN_CNT)
#define BLOCK_CNT    1024	/* the first pass remembers one time per this many events */
#define HELD_MAX     (1u << 20) /* spans longer than the window; more only in a damaged recording */
#define DEFERRED_MAX 256  /* events that wait to come again; more only in a damaged recording */
#define ARGS_MAX     4096 /* longer args are no description of tensors and are left out */

/* What to sort: begin, then the longer, then steps, spans (the outer is later in the file), rest.
 */
struct key {
	uint64_t ts_ns, end_ns, tie;
	uint32_t slot;
};

struct slot {
	struct event ev;
	uint64_t cut_ns;
	void *args;
	uint32_t args_cap;
};

struct boundary {
	uint64_t ts_ns, end_ns;
	uint32_t track;
};

/* Tells whether an event began before the window that holds its neighbours in the file: its begin
 * is earlier than some event's at least RUN_CNT positions before it. */
struct lookback {
	uint64_t max_ns[RUN_CNT / BLOCK_CNT + 1]; /* latest begin up to the end of each block */
	uint64_t idx, max_now_ns;
	uint64_t held_cnt;
};

struct timeline {
	const struct recording *r;
	struct recording_cursor *cursor;
	struct lookback lookback;
	struct key *fresh, *pending, *merged; /* pending and merged swap */
	size_t pending_cnt, run_cnt, run_pos; /* merged[run_pos..run_cnt) goes out */
	struct slot *slots;
	uint32_t *free_slots;
	size_t free_cnt;
	bool drained;
	int defer_err;
	struct slot *held;
	struct key *held_keys;
	size_t held_cnt, held_cap, held_keys_cap, held_pos;
	struct slot deferred[DEFERRED_MAX + 1]; /* one more than can wait: next returned it */
	struct key deferred_keys[DEFERRED_MAX]; /* the next one last */
	size_t deferred_cnt;
	struct boundary *steps; /* by begin */
	size_t step_cnt, step_cap, step_hint;
	uint32_t *categories;
	uint64_t begin_ns;
};

static uint64_t event__end_ns(const struct event *e)
{
	return e->dur_ns > UINT64_MAX - e->ts_ns ? UINT64_MAX : e->ts_ns + e->dur_ns;
}

static bool lookback__is_late(struct lookback *l, uint64_t ts_ns)
{
	const uint64_t ring = ARRAY_SIZE(l->max_ns), block = l->idx / BLOCK_CNT;
	bool late = false;

	if (ts_ns > l->max_now_ns)
		l->max_now_ns = ts_ns;
	l->max_ns[block % ring] = l->max_now_ns;
	if (l->idx >= RUN_CNT)
		late = l->max_ns[(l->idx - RUN_CNT) / BLOCK_CNT % ring] > ts_ns;
	l->idx++;
	if (!late || l->held_cnt == HELD_MAX)
		return false;
	l->held_cnt++;
	return true;
}

static struct key key__of(const struct event *e, uint64_t idx, uint32_t slot)
{
	const uint64_t rank_step = 0, rank_span = 1ull << 62, rank_other = 2ull << 62;
	struct key k = {.ts_ns = e->ts_ns, .end_ns = event__end_ns(e), .slot = slot};

	if (e->type == EVENT_STEP)
		k.tie = rank_step | idx;
	else if (e->type == EVENT_SPAN || e->type == EVENT_DEVICE)
		k.tie = rank_span | (rank_span - 1 - idx);
	else
		k.tie = rank_other | idx;
	return k;
}

static inline bool key__before(const struct key *a, const struct key *b)
{
	if (a->ts_ns != b->ts_ns)
		return a->ts_ns < b->ts_ns;
	if (a->end_ns != b->end_ns)
		return a->end_ns > b->end_ns;
	return a->tie < b->tie;
}

static int key__cmp(const void *a, const void *b)
{
	return key__before(a, b) ? -1 : key__before(b, a);
}

static int boundary__cmp(const void *a, const void *b)
{
	const struct boundary *x = a, *y = b;

	return x->ts_ns != y->ts_ns ? (x->ts_ns < y->ts_ns ? -1 : 1)
				    : (x->end_ns > y->end_ns) * 2 - 1;
}

static int slot__set(struct slot *s, const struct event *e)
{
	s->ev = *e;
	s->cut_ns = 0;
	if (e->args_len > ARGS_MAX || !e->args)
		s->ev.args_len = 0;
	if (s->ev.args_len > s->args_cap) {
		void *grown = realloc(s->args, s->ev.args_len);

		if (!grown)
			return -ENOMEM;
		s->args = grown;
		s->args_cap = s->ev.args_len;
	}
	if (s->ev.args_len)
		memcpy(s->args, e->args, s->ev.args_len);
	s->ev.args = s->ev.args_len ? s->args : NULL;
	return 0;
}

/* ---- first pass ---- */

static int timeline__note(struct timeline *t, const struct event *e)
{
	const struct name *n = recording__name(t->r, e->name);
	struct boundary b = {e->ts_ns, event__end_ns(e), e->track};

	if (e->ts_ns < t->begin_ns)
		t->begin_ns = e->ts_ns;
	if (n && n->category < 32 && recording__track(t->r, e->track))
		t->categories[e->track] |= 1u << n->category;
	return e->type == EVENT_STEP ? ARRAY_PUSH(t->steps, t->step_cnt, t->step_cap, b) : 0;
}

static int timeline__hold(struct timeline *t, const struct event *e, uint64_t idx)
{
	struct key k = key__of(e, idx, (uint32_t)t->held_cnt);
	size_t key_cnt = t->held_cnt;
	struct slot s = {0};
	int err;

	err = ARRAY_PUSH(t->held_keys, key_cnt, t->held_keys_cap, k);
	if (!err)
		err = slot__set(&s, e);
	if (!err)
		err = ARRAY_PUSH(t->held, t->held_cnt, t->held_cap, s);
	if (err)
		free(s.args);
	return err;
}

static int timeline__scan(struct timeline *t)
{
	struct recording_cursor *c;
	struct event e;
	int err;

	err = recording_cursor__open(t->r, &c);
	if (err)
		return err;
	while ((err = recording_cursor__next(c, &e)) > 0) {
		const uint64_t idx = t->lookback.idx;

		err = timeline__note(t, &e);
		if (!err && lookback__is_late(&t->lookback, e.ts_ns))
			err = timeline__hold(t, &e, idx);
		if (err)
			break;
	}
	recording_cursor__close(c);
	return err;
}

/* ---- spans that cross a step's edge ---- */

/* The step on the track that holds ts_ns strictly inside, NULL if none. */
static const struct boundary *timeline__step_at(struct timeline *t, uint32_t track, uint64_t ts_ns)
{
	size_t lo = 0, hi = t->step_cnt;

	if (t->step_hint < hi && t->steps[t->step_hint].ts_ns <= ts_ns) {
		lo = t->step_hint;
		if (ts_ns < t->steps[lo].end_ns)
			hi = lo + 1;
	}
	while (lo + 1 < hi) {
		const size_t mid = lo + (hi - lo) / 2;

		if (t->steps[mid].ts_ns <= ts_ns)
			lo = mid;
		else
			hi = mid;
	}
	t->step_hint = lo;
	if (lo >= t->step_cnt || t->steps[lo].track != track)
		return NULL;
	return t->steps[lo].ts_ns < ts_ns && ts_ns < t->steps[lo].end_ns ? &t->steps[lo] : NULL;
}

static void timeline__fit_step(struct timeline *t, struct slot *slot)
{
	struct event *e = &slot->ev;
	const uint64_t end_ns = event__end_ns(e);
	const struct boundary *s;
	uint64_t cut_begin, cut_end;

	s = timeline__step_at(t, e->track, e->ts_ns);
	if (s && end_ns <= s->end_ns)
		return;
	cut_begin = s ? s->end_ns : e->ts_ns;
	s = timeline__step_at(t, e->track, end_ns);
	cut_end = s ? s->ts_ns : end_ns;
	if (cut_end < cut_begin || (cut_begin == e->ts_ns && cut_end == end_ns))
		return;
	/* three parts: in the first step, over whole steps, in the last step */
	if (cut_begin - e->ts_ns > cut_end - cut_begin && cut_begin - e->ts_ns > end_ns - cut_end) {
		cut_end = cut_begin;
		cut_begin = e->ts_ns;
	} else if (end_ns - cut_end > cut_end - cut_begin) {
		cut_begin = cut_end;
		cut_end = end_ns;
	}
	slot->cut_ns = e->dur_ns - (cut_end - cut_begin);
	e->ts_ns = cut_begin;
	e->dur_ns = cut_end - cut_begin;
}

/* Makes the copied event ready to be sorted: its end fits 64 bits and its step. */
static void timeline__fit(struct timeline *t, struct slot *slot)
{
	slot->ev.dur_ns = event__end_ns(&slot->ev) - slot->ev.ts_ns;
	if (slot->ev.type == EVENT_SPAN && t->step_cnt)
		timeline__fit_step(t, slot);
}

/* ---- second pass ---- */

static void timeline__merge(struct timeline *t, size_t fresh_cnt)
{
	struct key *a = t->pending, *a_end = a + t->pending_cnt;
	struct key *b = t->fresh, *b_end = b + fresh_cnt;
	struct key *out = t->merged;

	qsort(b, fresh_cnt, sizeof(*b), key__cmp);
	while (a < a_end && b < b_end)
		*out++ = key__before(b, a) ? *b++ : *a++;
	while (a < a_end)
		*out++ = *a++;
	while (b < b_end)
		*out++ = *b++;
	t->run_pos = 0;
	t->run_cnt = (size_t)(out - t->merged);
	t->pending_cnt = 0;
	if (t->drained)
		return;
	if (t->run_cnt > RUN_CNT) {
		t->pending_cnt = RUN_CNT;
		t->run_cnt -= RUN_CNT;
	} else {
		t->pending_cnt = t->run_cnt;
		t->run_cnt = 0;
	}
	memcpy(t->pending, t->merged + t->run_cnt, t->pending_cnt * sizeof(*t->pending));
}

/* Reads the next RUN_CNT events and makes a run of those that no later one can precede. */
static int timeline__refill(struct timeline *t)
{
	size_t cnt = 0;
	struct event e;

	while (cnt < RUN_CNT) {
		const uint64_t idx = t->lookback.idx;
		uint32_t slot;
		int err = recording_cursor__next(t->cursor, &e);

		if (err < 0)
			return err;
		if (!err) {
			t->drained = true;
			break;
		}
		if (lookback__is_late(&t->lookback, e.ts_ns))
			continue;
		slot = t->free_slots[--t->free_cnt];
		err = slot__set(&t->slots[slot], &e);
		if (err)
			return err;
		timeline__fit(t, &t->slots[slot]);
		t->fresh[cnt++] = key__of(&t->slots[slot].ev, idx, slot);
	}
	timeline__merge(t, cnt);
	return 0;
}

/* The earliest of what is sorted, held and deferred; NULL at the end. Takes it. */
static const struct slot *timeline__take(struct timeline *t)
{
	const struct key *run = t->run_pos < t->run_cnt ? &t->merged[t->run_pos] : NULL;
	const struct key *held = t->held_pos < t->held_cnt ? &t->held_keys[t->held_pos] : NULL;
	const struct key *deferred =
		t->deferred_cnt ? &t->deferred_keys[t->deferred_cnt - 1] : NULL;

	if (deferred && (!run || key__before(deferred, run)) &&
	    (!held || key__before(deferred, held))) {
		t->deferred_cnt--;
		return &t->deferred[deferred->slot];
	}
	if (held && (!run || key__before(held, run))) {
		t->held_pos++;
		return &t->held[held->slot];
	}
	if (!run)
		return NULL;
	/* reused by the next refill at the earliest, which only the next call makes */
	t->free_slots[t->free_cnt++] = run->slot;
	t->run_pos++;
	return &t->slots[run->slot];
}

int timeline__next(struct timeline *t, struct timeline_event *e)
{
	const struct slot *s;

	if (t->defer_err)
		return t->defer_err;
	while (t->run_pos == t->run_cnt && !t->drained) {
		int err = timeline__refill(t);

		if (err)
			return err;
	}
	s = timeline__take(t);
	if (!s)
		return 0;
	*e = (struct timeline_event){s->ev, s->cut_ns};
	return 1;
}

/* A free slot for a deferred event whose args may lie in one that was just taken. */
static uint32_t timeline__deferred_slot(const struct timeline *t, const void *args)
{
	bool used[DEFERRED_MAX + 1] = {false};
	uint32_t slot = 0;

	for (size_t i = 0; i < t->deferred_cnt; i++)
		used[t->deferred_keys[i].slot] = true;
	while (used[slot] || (args && t->deferred[slot].args == args))
		slot++;
	return slot;
}

bool timeline__defer(struct timeline *t, const struct timeline_event *e, uint64_t begin_ns)
{
	const uint32_t slot = timeline__deferred_slot(t, e->ev.args);
	struct key k;
	size_t at;

	if (t->deferred_cnt == DEFERRED_MAX)
		return false;
	t->defer_err = slot__set(&t->deferred[slot], &e->ev);
	t->deferred[slot].cut_ns = e->cut_ns + (begin_ns - e->ev.ts_ns);
	t->deferred[slot].ev.dur_ns = event__end_ns(&e->ev) - begin_ns;
	t->deferred[slot].ev.ts_ns = begin_ns;
	k = key__of(&t->deferred[slot].ev, 0, slot);
	for (at = t->deferred_cnt; at && key__before(&t->deferred_keys[at - 1], &k); at--)
		t->deferred_keys[at] = t->deferred_keys[at - 1];
	t->deferred_keys[at] = k;
	t->deferred_cnt++;
	return true;
}

static int timeline__alloc(struct timeline *t)
{
	t->categories = calloc((size_t)recording__track_cnt(t->r) + 1, sizeof(*t->categories));
	t->fresh = calloc(RUN_CNT, sizeof(*t->fresh));
	t->pending = calloc(RUN_CNT, sizeof(*t->pending));
	t->merged = calloc(WINDOW_CNT, sizeof(*t->merged));
	t->slots = calloc(WINDOW_CNT, sizeof(*t->slots));
	t->free_slots = calloc(WINDOW_CNT, sizeof(*t->free_slots));
	if (!t->categories || !t->fresh || !t->pending || !t->merged || !t->slots || !t->free_slots)
		return err__set(-ENOMEM, "no memory for the event window");
	for (uint32_t i = 0; i < WINDOW_CNT; i++)
		t->free_slots[t->free_cnt++] = WINDOW_CNT - 1 - i;
	return 0;
}

int timeline__open(const struct recording *r, struct timeline **out)
{
	struct timeline *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	t->r = r;
	t->begin_ns = UINT64_MAX;
	err = timeline__alloc(t);
	if (!err)
		err = timeline__scan(t);
	if (!err) {
		if (t->step_cnt)
			qsort(t->steps, t->step_cnt, sizeof(*t->steps), boundary__cmp);
		for (size_t i = 0; i < t->held_cnt; i++) {
			timeline__fit(t, &t->held[i]);
			t->held_keys[i].ts_ns = t->held[i].ev.ts_ns;
			t->held_keys[i].end_ns = event__end_ns(&t->held[i].ev);
		}
		if (t->held_cnt)
			qsort(t->held_keys, t->held_cnt, sizeof(*t->held_keys), key__cmp);
		memset(&t->lookback, 0, sizeof(t->lookback));
		err = recording_cursor__open(r, &t->cursor);
	}
	if (err) {
		timeline__close(t);
		return err;
	}
	*out = t;
	return 0;
}

void timeline__close(struct timeline *t)
{
	if (!t)
		return;
	if (t->cursor)
		recording_cursor__close(t->cursor);
	for (size_t i = 0; t->slots && i < WINDOW_CNT; i++)
		free(t->slots[i].args);
	for (size_t i = 0; i < t->held_cnt; i++)
		free(t->held[i].args);
	for (size_t i = 0; i < ARRAY_SIZE(t->deferred); i++)
		free(t->deferred[i].args);
	free(t->held);
	free(t->held_keys);
	free(t->steps);
	free(t->categories);
	free(t->fresh);
	free(t->pending);
	free(t->merged);
	free(t->slots);
	free(t->free_slots);
	free(t);
}

uint64_t timeline__begin_ns(const struct timeline *t)
{
	return t->begin_ns == UINT64_MAX ? 0 : t->begin_ns;
}

uint64_t timeline__step_cnt(const struct timeline *t)
{
	return t->step_cnt;
}

uint32_t timeline__categories(const struct timeline *t, uint32_t track)
{
	return track <= recording__track_cnt(t->r) ? t->categories[track] : 0;
}
