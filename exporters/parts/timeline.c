// SPDX-License-Identifier: BSD-2-Clause
#include "exporters/parts/timeline.h"
#include <string.h>
#include "common/err.h"
#include "exporters/message_table.h"
#include "common/large.h"
#include "common/util.h"

#define RUN_CNT	     16384 /* events sorted at a time; as many more wait for late ones */
#define WINDOW_CNT   (2 * RUN_CNT)
#define PREFETCH     16		/* events to prefetch */
#define BLOCK_CNT    1024	/* the first pass keeps one time per this many events */
#define HELD_MAX     (1u << 20) /* most spans longer than the window; a sound recording has fewer */
#define DEFERRED_MAX 256	/* most deferred events; a sound recording has fewer */
#define POOLED_BYTES 48		/* args of a kernel; longer args are allocated */
#define ARGS_MAX     4096	/* bytes; longer args describe no tensors and are left out */

struct slot {
	struct event ev;
	uint64_t cut_ns;
	uint64_t tie; /* order of events with the same begin and end */
	void *args;
	uint32_t args_cap;
	bool pooled; /* args are in the timeline's pool */
};

/* The order: by begin, then longer events first, then steps, spans (the outer is later in the
 * file), others. */
struct key {
	uint64_t ts_ns;
	struct slot *slot;
};

struct boundary {
	uint64_t ts_ns, end_ns;
	uint32_t track;
};

/* Finds events that began before the window of their neighbours in the file. Such an event begins
 * earlier than one at least RUN_CNT positions before it. */
struct lookback {
	uint64_t max_ns[RUN_CNT / BLOCK_CNT + 1]; /* latest begin up to the end of each block */
	uint64_t idx, max_now_ns;
	uint64_t late_ns; /* in this block, an event that begins earlier is late */
	uint64_t held_cnt;
};

struct timeline {
	const struct recording *r;
	struct recording_cursor *cursor;
	struct lookback lookback;
	struct key *fresh, *spare, *pending, *merged;
	size_t pending_cnt, run_cnt, run_pos; /* merged[run_pos..run_cnt) comes next */
	struct slot *slots;
	char *pool; /* POOLED_BYTES of args per slot */
	struct slot **free_slots;
	size_t free_cnt;
	bool drained;
	int defer_err;
	struct slot *held;
	struct key *held_keys;
	size_t held_cnt, held_cap, held_pos;
	struct slot deferred[DEFERRED_MAX + 1]; /* one more than can wait, because next()
						   returned it */
	struct key deferred_keys[DEFERRED_MAX]; /* sorted, the next one last */
	size_t deferred_cnt;
	struct boundary *steps; /* by begin */
	size_t step_cnt, step_cap, step_hint;
	bool *stepped;		   /* by track: it has steps */
	uint32_t *categories;	   /* by track, a bit each */
	uint32_t *name_categories; /* by name, one bit */
	uint32_t track_cnt, name_cnt;
	uint64_t begin_ns;
};

static uint64_t event__end_ns(const struct event *e)
{
	return e->dur_ns > UINT64_MAX - e->ts_ns ? UINT64_MAX : e->ts_ns + e->dur_ns;
}

static void lookback__begin_block(struct lookback *l)
{
	const uint64_t ring = ARRAY_SIZE(l->max_ns), block = l->idx / BLOCK_CNT;

	if (block)
		l->max_ns[(block - 1) % ring] = l->max_now_ns;
	if (l->idx >= RUN_CNT)
		l->late_ns = l->max_ns[(block - RUN_CNT / BLOCK_CNT) % ring];
}

static bool lookback__is_late(struct lookback *l, uint64_t ts_ns)
{
	if (l->idx % BLOCK_CNT == 0)
		lookback__begin_block(l);
	l->idx++;
	if (ts_ns > l->max_now_ns)
		l->max_now_ns = ts_ns;
	if (ts_ns >= l->late_ns || l->held_cnt == HELD_MAX)
		return false;
	l->held_cnt++;
	return true;
}

static uint64_t event__tie(const struct event *e, uint64_t idx)
{
	const uint64_t rank_step = 0, rank_span = 1ull << 62, rank_other = 2ull << 62;

	if (e->type == EVENT_STEP)
		return rank_step | idx;
	if (e->type == EVENT_SPAN || e->type == EVENT_DEVICE)
		return rank_span | (rank_span - 1 - idx);
	return rank_other | idx;
}

static struct key key__of(struct slot *s)
{
	return (struct key){s->ev.ts_ns, s};
}

static bool slot__before(const struct slot *a, const struct slot *b)
{
	const uint64_t a_ns = event__end_ns(&a->ev), b_ns = event__end_ns(&b->ev);

	return a_ns != b_ns ? a_ns > b_ns : a->tie < b->tie;
}

static inline bool key__before(const struct key *a, const struct key *b)
{
	return a->ts_ns != b->ts_ns ? a->ts_ns < b->ts_ns : slot__before(a->slot, b->slot);
}

static int key__cmp(const void *a, const void *b)
{
	return key__before(a, b) ? -1 : key__before(b, a);
}

/* ---- sorting ---- */

#define DIGIT_BITS 11
#define TIES_MAX   16

/* Sorts by one digit of the begins, and keeps the order of equal ones. */
static void keys__sort_digit(const struct key *from, struct key *to, size_t cnt, uint64_t min_ns,
			     unsigned int shift, unsigned int bits)
{
	const uint64_t mask = (1u << bits) - 1;
	uint32_t at[1u << DIGIT_BITS] = {0}, sum = 0;

	for (size_t i = 0; i < cnt; i++)
		at[(from[i].ts_ns - min_ns) >> shift & mask]++;
	for (size_t i = 0; i <= mask; i++) {
		const uint32_t n = at[i];

		at[i] = sum;
		sum += n;
	}
	for (size_t i = 0; i < cnt; i++)
		to[at[(from[i].ts_ns - min_ns) >> shift & mask]++] = from[i];
}

static void keys__insert(struct key *keys, size_t at)
{
	const struct key k = keys[at];

	for (; at && key__before(&k, &keys[at - 1]); at--)
		keys[at] = keys[at - 1];
	keys[at] = k;
}

static void keys__sort_ties(struct key *keys, size_t cnt)
{
	for (size_t i = 0, end; i < cnt; i = end) {
		for (end = i + 1; end < cnt && keys[end].ts_ns == keys[i].ts_ns; end++)
			if (end - i < TIES_MAX)
				keys__insert(keys + i, end - i);
		if (end - i > TIES_MAX)
			qsort(keys + i, end - i, sizeof(*keys), key__cmp);
	}
}

/* Sorts by key__before. Returns where the result is: in keys or in spare, which has as much
 * room. */
static struct key *keys__sort(struct key *keys, struct key *spare, size_t cnt)
{
	uint64_t min_ns = UINT64_MAX, max_ns = 0;
	unsigned int width, digits, bits;

	for (size_t i = 0; i < cnt; i++) {
		min_ns = keys[i].ts_ns < min_ns ? keys[i].ts_ns : min_ns;
		max_ns = keys[i].ts_ns > max_ns ? keys[i].ts_ns : max_ns;
	}
	width = max_ns > min_ns ? 64 - (unsigned int)__builtin_clzll(max_ns - min_ns) : 0;
	digits = (width + DIGIT_BITS - 1) / DIGIT_BITS;
	bits = digits ? (width + digits - 1) / digits : 0;
	for (unsigned int i = 0; i < digits; i++) {
		struct key *sorted = spare;

		keys__sort_digit(keys, spare, cnt, min_ns, i * bits, bits);
		spare = keys;
		keys = sorted;
	}
	keys__sort_ties(keys, cnt);
	return keys;
}

static int boundary__cmp(const void *a, const void *b)
{
	const struct boundary *x = a, *y = b;

	return x->ts_ns != y->ts_ns ? (x->ts_ns < y->ts_ns ? -1 : 1)
				    : (x->end_ns > y->end_ns) * 2 - 1;
}

static void slot__free(struct slot *s)
{
	if (!s->pooled)
		free(s->args);
}

/* Copies the args of its event. */
static int slot__own(struct slot *s)
{
	const void *args = s->ev.args;

	s->cut_ns = 0;
	if (s->ev.args_len > ARGS_MAX || !args)
		s->ev.args_len = 0;
	if (s->ev.args_len > s->args_cap) {
		void *grown = malloc(s->ev.args_len);

		if (!grown)
			return -ENOMEM;
		slot__free(s);
		s->pooled = false;
		s->args = grown;
		s->args_cap = s->ev.args_len;
	}
	if (s->ev.args_len)
		memcpy(s->args, args, s->ev.args_len);
	s->ev.args = s->ev.args_len ? s->args : NULL;
	return 0;
}

static int slot__set(struct slot *s, const struct event *e)
{
	s->ev = *e;
	return slot__own(s);
}

/* ---- first pass ---- */

static int timeline__note(struct timeline *t, const struct event *e)
{
	struct boundary b = {e->ts_ns, event__end_ns(e), e->track};

	if (e->ts_ns < t->begin_ns)
		t->begin_ns = e->ts_ns;
	if (e->track <= t->track_cnt && e->name <= t->name_cnt)
		t->categories[e->track] |= t->name_categories[e->name];
	if (e->type != EVENT_STEP)
		return 0;
	if (e->track <= t->track_cnt)
		t->stepped[e->track] = true;
	return ARRAY_PUSH(t->steps, t->step_cnt, t->step_cap, b);
}

static int timeline__hold(struct timeline *t, const struct event *e, uint64_t idx)
{
	struct slot s = {.tie = event__tie(e, idx)};
	int err = slot__set(&s, e);

	if (!err)
		err = ARRAY_PUSH(t->held, t->held_cnt, t->held_cap, s);
	if (err)
		slot__free(&s);
	return err;
}

/* Reads the next event, without those that were launched before the window. */
static int timeline__read(struct timeline *t, struct event *e)
{
	int got;

	do
		got = recording_cursor__next(t->cursor, e);
	while (got > 0 && event__is_from_before(e));
	return got;
}

static int timeline__scan(struct timeline *t, int (*see)(void *ctx, const struct event *e),
			  void *ctx)
{
	struct event e;
	int err;

	while ((err = timeline__read(t, &e)) > 0) {
		const uint64_t idx = t->lookback.idx;

		err = timeline__note(t, &e);
		if (!err && lookback__is_late(&t->lookback, e.ts_ns))
			err = timeline__hold(t, &e, idx);
		if (!err && see)
			err = see(ctx, &e);
		if (err)
			break;
	}
	recording_cursor__rewind(t->cursor);
	memset(&t->lookback, 0, sizeof(t->lookback));
	return err;
}

/* ---- spans that cross a step's edge ---- */

/* The track's step that contains ts_ns, not at its edge. NULL: none. */
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
	/* three parts: in the first step, over whole steps, and in the last step */
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

/* Prepares the copied event for sorting: cuts its end to 64 bits, and to its step. */
static void timeline__fit(struct timeline *t, struct slot *slot)
{
	slot->ev.dur_ns = event__end_ns(&slot->ev) - slot->ev.ts_ns;
	if (slot->ev.type == EVENT_SPAN && slot->ev.track <= t->track_cnt &&
	    t->stepped[slot->ev.track])
		timeline__fit_step(t, slot);
}

/* ---- second pass ---- */

static void timeline__merge(struct timeline *t, size_t fresh_cnt)
{
	struct key *a = t->pending, *a_end = a + t->pending_cnt;
	struct key *b = keys__sort(t->fresh, t->spare, fresh_cnt), *b_end = b + fresh_cnt;
	struct key *out = t->merged;

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

/* The window is larger than the nearer caches, and is read in another order than it was written. */
static inline void slot__prefetch(const struct slot *s)
{
	__builtin_prefetch(s);
	__builtin_prefetch((const char *)(s + 1) - 1);
}

/* A slot of the window. On first use its args get their place. */
static struct slot *timeline__free_slot(struct timeline *t)
{
	struct slot *s = t->free_slots[t->free_cnt - 1];

	if (t->free_cnt > PREFETCH)
		slot__prefetch(t->free_slots[t->free_cnt - 1 - PREFETCH]);
	if (!s->args) {
		s->args = t->pool + (size_t)(s - t->slots) * POOLED_BYTES;
		s->args_cap = POOLED_BYTES;
		s->pooled = true;
	}
	return s;
}

/* Reads the next RUN_CNT events. Makes a run of those that no later event can precede. */
static int timeline__refill(struct timeline *t)
{
	size_t cnt = 0;

	while (cnt < RUN_CNT) {
		const uint64_t idx = t->lookback.idx;
		struct slot *s = timeline__free_slot(t);
		int err = timeline__read(t, &s->ev);

		if (err < 0)
			return err;
		if (!err) {
			t->drained = true;
			break;
		}
		if (lookback__is_late(&t->lookback, s->ev.ts_ns))
			continue;
		t->free_cnt--;
		err = slot__own(s);
		if (err)
			return err;
		timeline__fit(t, s);
		s->tie = event__tie(&s->ev, idx);
		t->fresh[cnt++] = key__of(s);
	}
	timeline__merge(t, cnt);
	return 0;
}

/* Takes the earliest of the sorted, held and deferred events. NULL at the end. */
static const struct slot *timeline__take(struct timeline *t)
{
	const struct key *run = t->run_pos < t->run_cnt ? &t->merged[t->run_pos] : NULL;
	const struct key *held = t->held_pos < t->held_cnt ? &t->held_keys[t->held_pos] : NULL;
	const struct key *deferred =
		t->deferred_cnt ? &t->deferred_keys[t->deferred_cnt - 1] : NULL;

	if (deferred && (!run || key__before(deferred, run)) &&
	    (!held || key__before(deferred, held))) {
		t->deferred_cnt--;
		return deferred->slot;
	}
	if (held && (!run || key__before(held, run))) {
		t->held_pos++;
		return held->slot;
	}
	if (!run)
		return NULL;
	if (t->run_pos + PREFETCH < t->run_cnt) {
		slot__prefetch(run[PREFETCH].slot);
		__builtin_prefetch(run[PREFETCH / 2].slot->args);
	}
	/* the next refill may reuse it, which only the next call makes */
	t->free_slots[t->free_cnt++] = run->slot;
	t->run_pos++;
	return run->slot;
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

/* A free slot for a deferred event, but not the slot taken last, which may have its args. */
static struct slot *timeline__deferred_slot(struct timeline *t, const void *args)
{
	bool used[DEFERRED_MAX + 1] = {false};
	size_t i = 0;

	for (size_t k = 0; k < t->deferred_cnt; k++)
		used[t->deferred_keys[k].slot - t->deferred] = true;
	while (used[i] || (args && t->deferred[i].args == args))
		i++;
	return &t->deferred[i];
}

bool timeline__defer(struct timeline *t, const struct timeline_event *e, uint64_t begin_ns)
{
	struct slot *s = timeline__deferred_slot(t, e->ev.args);
	struct key k;
	size_t at;

	if (t->deferred_cnt == DEFERRED_MAX)
		return false;
	t->defer_err = slot__set(s, &e->ev);
	s->cut_ns = e->cut_ns + (begin_ns - e->ev.ts_ns);
	s->ev.dur_ns = event__end_ns(&e->ev) - begin_ns;
	s->ev.ts_ns = begin_ns;
	s->tie = event__tie(&s->ev, 0);
	k = key__of(s);
	for (at = t->deferred_cnt; at && key__before(&t->deferred_keys[at - 1], &k); at--)
		t->deferred_keys[at] = t->deferred_keys[at - 1];
	t->deferred_keys[at] = k;
	t->deferred_cnt++;
	return true;
}

static int timeline__alloc(struct timeline *t)
{
	t->track_cnt = recording__track_cnt(t->r);
	t->name_cnt = recording__name_cnt(t->r);
	t->stepped = calloc((size_t)t->track_cnt + 1, sizeof(*t->stepped));
	t->categories = calloc((size_t)t->track_cnt + 1, sizeof(*t->categories));
	t->name_categories = calloc((size_t)t->name_cnt + 1, sizeof(*t->name_categories));
	t->fresh = calloc(RUN_CNT, sizeof(*t->fresh));
	t->spare = calloc(RUN_CNT, sizeof(*t->spare));
	t->pending = calloc(RUN_CNT, sizeof(*t->pending));
	t->merged = calloc(WINDOW_CNT, sizeof(*t->merged));
	t->slots = large__alloc(WINDOW_CNT, sizeof(*t->slots));
	t->pool = large__alloc(WINDOW_CNT, POOLED_BYTES);
	t->free_slots = calloc(WINDOW_CNT, sizeof(*t->free_slots));
	if (!t->stepped || !t->categories || !t->name_categories || !t->fresh || !t->spare ||
	    !t->pending || !t->merged || !t->slots || !t->pool || !t->free_slots)
		return err__set(-ENOMEM, MESSAGE_EVENT_WINDOW_OUT_OF_MEMORY);
	for (uint32_t id = 1; id <= t->name_cnt; id++) {
		const struct name *n = recording__name(t->r, id);

		if (n && n->category < 32)
			t->name_categories[id] = 1u << n->category;
	}
	for (uint32_t i = 0; i < WINDOW_CNT; i++)
		t->free_slots[t->free_cnt++] = &t->slots[WINDOW_CNT - 1 - i];
	return 0;
}

static int timeline__sort_held(struct timeline *t)
{
	if (!t->held_cnt)
		return 0;
	t->held_keys = calloc(t->held_cnt, sizeof(*t->held_keys));
	if (!t->held_keys)
		return -ENOMEM;
	for (size_t i = 0; i < t->held_cnt; i++) {
		timeline__fit(t, &t->held[i]);
		t->held_keys[i] = key__of(&t->held[i]);
	}
	qsort(t->held_keys, t->held_cnt, sizeof(*t->held_keys), key__cmp);
	return 0;
}

int timeline__open(const struct recording *r, int (*see)(void *ctx, const struct event *e),
		   void *ctx, struct timeline **out)
{
	struct timeline *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	t->r = r;
	t->begin_ns = UINT64_MAX;
	err = timeline__alloc(t);
	if (!err)
		err = recording_cursor__open(r, &t->cursor);
	if (!err)
		err = timeline__scan(t, see, ctx);
	if (!err) {
		if (t->step_cnt)
			qsort(t->steps, t->step_cnt, sizeof(*t->steps), boundary__cmp);
		err = timeline__sort_held(t);
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
		slot__free(&t->slots[i]);
	for (size_t i = 0; i < t->held_cnt; i++)
		slot__free(&t->held[i]);
	for (size_t i = 0; i < ARRAY_SIZE(t->deferred); i++)
		slot__free(&t->deferred[i]);
	free(t->held);
	free(t->held_keys);
	free(t->steps);
	free(t->stepped);
	free(t->categories);
	free(t->name_categories);
	free(t->fresh);
	free(t->spare);
	free(t->pending);
	free(t->merged);
	large__free(t->pool, WINDOW_CNT, POOLED_BYTES);
	large__free(t->slots, WINDOW_CNT, sizeof(*t->slots));
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
	return recording__track(t->r, track) ? t->categories[track] : 0;
}
