// SPDX-License-Identifier: BSD-2-Clause
/*
 * One pass over the recording. Events wait per track until a boundary is old enough: a step's end,
 * or a size if there are no steps. One batch is held back, so that spans of any thread that cross
 * the boundary find their children. Device events are read when their launch is given out:
 * device_join.h.
 */
#include <jansson.h>
#include <string.h>
#include "common/err.h"
#include "model/message_table.h"
#include "common/util.h"
#include "model/model_internal.h"

#define FIRST_BATCH (1u << 18) /* spans held while it is unknown whether there are steps */
/* the same if a rule for steps is known: a second or more of waiting */
#define LATE_BATCH  (1u << 20)
#define FREE_BATCH  (1u << 16) /* spans of a batch without steps */
#define MAX_STEP    (1u << 22) /* spans of a step; a longer step is given out in parts */
#define MAX_COST_NS 1000000    /* of one span with a probe; a higher cost is not believed */

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static struct track_state *track_of(struct model *m, const struct event *e, enum track_kind kind)
{
	struct track_state *t = e->track <= m->track_cnt ? &m->tracks[e->track] : NULL;

	if (t && t->track && t->track->kind == kind)
		return t;
	m->stats.malformed++;
	return NULL;
}

static int activate(struct model *m, struct track_state *t)
{
	if (t->active)
		return 0;
	t->active = true;
	return ARRAY_PUSH(m->active, m->active_cnt, m->active_cap, t);
}

static int by_track(const void *a, const void *b)
{
	const struct track_state *x = *(struct track_state *const *)a;
	const struct track_state *y = *(struct track_state *const *)b;

	return x->track->id < y->track->id ? -1 : x->track->id > y->track->id;
}

static void set_active(struct model *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->active_cnt; i++) {
		struct track_state *t = m->active[i];

		if (t->cnt || t->memory_cnt)
			m->active[n++] = t;
		else
			t->active = false;
	}
	m->active_cnt = n;
}

/* ---- one batch ---- */

static int finish_all(struct model *m, struct step *step)
{
	struct track_state *main_track = step ? &m->tracks[step->track] : NULL;
	int err = 0;

	m->phase_cnt = 0;
	m->phases_elsewhere = false;
	if (main_track) {
		err = phase__infer(m, main_track, step);
		if (!err)
			err = finish__track(m, main_track, step);
		if (!err)
			err = phase__account(m, main_track, step);
	}
	for (size_t i = 0; i < m->active_cnt && !err; i++) {
		struct track_state *t = m->active[i];

		if (t == main_track)
			continue;
		if (!step)
			err = phase__infer(m, t, NULL);
		if (!err)
			err = finish__track(m, t, step);
		for (struct span *s = step ? NULL : t->roots; s && !m->steps_seen;
		     s = s->next_sibling)
			m->stats.subtracted_ns += s->ev.dur_ns - s->cpu_ns;
	}
	return err;
}

/* Memory events in an unfinished span wait for its end. */
static void finish_memory(struct model *m, uint64_t end_ns)
{
	for (size_t i = 0; i < m->active_cnt; i++) {
		struct track_state *t = m->active[i];
		uint64_t until = end_ns;

		if (t->cnt && t->pending[0]->ev.ts_ns < until)
			until = t->pending[0]->ev.ts_ns;
		memory__attribute(t, NULL, until);
	}
}

static size_t other_cnt_until(struct model *m, uint64_t end_ns)
{
	size_t n = 0;

	while (n < m->other_cnt && m->others[n].ts_ns < end_ns)
		n++;
	return n;
}

static int show(struct model *m, uint64_t end_ns, const struct step *step)
{
	struct batch b = {.step = step, .tracks = m->out_tracks, .others = m->others};
	int err = memory__emit(m, &b.memory_cnt);

	for (size_t i = 0; i < m->active_cnt; i++)
		if (m->active[i]->roots)
			m->out_tracks[b.track_cnt++] =
				(struct track_batch){m->active[i]->track, m->active[i]->roots};
	device__emit(m, m->out_tracks, &b.track_cnt);
	b.memory = m->out_memory;
	b.memory_spans = m->out_memory_spans;
	b.other_cnt = other_cnt_until(m, end_ns);
	if (!err && (step || b.track_cnt || b.memory_cnt || b.other_cnt))
		err = m->visit(&b, m->ctx);
	m->other_cnt -= b.other_cnt;
	if (b.other_cnt)
		memmove(m->others, m->others + b.other_cnt, m->other_cnt * sizeof(*m->others));
	return err;
}

static void release(struct model *m)
{
	for (size_t i = 0; i < m->active_cnt; i++) {
		pool__release_tree(&m->pool, m->active[i]->roots);
		m->active[i]->roots = NULL;
		memory__drop_done(m->active[i]);
	}
	for (size_t i = 0; i < m->device_done_cnt; i++)
		pool__release(&m->pool, m->device_done[i]);
	m->device_done_cnt = 0;
	set_active(m);
}

static int give_part(struct model *m, uint64_t end_ns, struct step *step)
{
	int err = 0;

	if (m->active_cnt)
		qsort(m->active, m->active_cnt, sizeof(*m->active), by_track);
	for (size_t i = 0; i < m->active_cnt && !err; i++)
		err = tree__take(m, m->active[i], end_ns);
	if (!err)
		err = finish_all(m, step);
	finish_memory(m, end_ns);
	if (!err && m->has_device)
		err = device__take_unlinked(m, end_ns == UINT64_MAX ? end_ns : m->given_ns);
	if (!err)
		err = show(m, end_ns, step);
	release(m);
	m->given_ns = end_ns;
	return err;
}

static bool has_spans_before(const struct model *m, uint64_t ts_ns)
{
	for (size_t i = 0; i < m->active_cnt; i++) {
		const struct track_state *t = m->active[i];

		if (t->cnt && (t->unordered || span__end(t->pending[0]) <= ts_ns))
			return true;
	}
	return false;
}

/* Gives out the oldest boundary. What lies between it and the step before comes first, as a batch
 * of its own. */
static int give_oldest(struct model *m)
{
	struct boundary b = m->queue[0];
	int err = 0;

	m->queue_cnt--;
	memmove(m->queue, m->queue + 1, m->queue_cnt * sizeof(*m->queue));
	if (b.is_step && has_spans_before(m, b.step.ts_ns))
		err = give_part(m, b.step.ts_ns, NULL);
	return err ? err : give_part(m, b.end_ns, b.is_step ? &b.step : NULL);
}

static int push_boundary(struct model *m, const struct boundary *b)
{
	int err = 0;

	m->queue[m->queue_cnt++] = *b;
	m->done_ns = b->end_ns;
	m->since_boundary = 0;
	while (m->queue_cnt > 1 && !err)
		err = give_oldest(m);
	return err;
}

/* ---- events ---- */

static int limit_batch(struct model *m)
{
	const uint64_t first = m->steps_come ? LATE_BATCH : FIRST_BATCH;
	uint64_t limit = m->done_ns && !m->steps_come ? FREE_BATCH : first;
	struct boundary b = {.end_ns = m->max_end_ns};

	if (m->steps_seen) {
		limit = max_u64(first, m->longest * 4);
		limit = limit < MAX_STEP ? limit : MAX_STEP;
	}
	if (m->since_boundary < limit || b.end_ns <= m->done_ns)
		return 0;
	m->stats.early += m->steps_seen;
	return push_boundary(m, &b);
}

/* The event, and `more` device events with it, stay in memory until their batch is given out. */
static int count_event(struct model *m, const struct event *e, uint32_t more)
{
	m->since_boundary += 1 + more;
	m->max_end_ns = max_u64(m->max_end_ns, e->ts_ns + e->dur_ns);
	return limit_batch(m);
}

static int take_span(struct model *m, const struct event *e)
{
	struct track_state *t = track_of(m, e, TRACK_THREAD);
	struct node *n;
	int err;

	if (!t)
		return 0;
	n = model__copy_span(m, e);
	if (!n)
		return -ENOMEM;
	err = tree__add(m, t, n);
	if (!err)
		err = activate(m, t);
	return err ? err : count_event(m, e, m->has_device ? device__expect(m, e) : 0);
}

static int take_device(struct model *m, const struct event *e)
{
	const size_t waiting = m->unlinked_cnt;
	int err = 0;

	if (m->has_device)
		err = device__see(m, e);
	else
		m->stats.malformed++;
	return err || m->unlinked_cnt == waiting ? err : count_event(m, e, 0);
}

static int take_step(struct model *m, const struct event *e)
{
	uint64_t end = e->ts_ns + e->dur_ns;
	struct boundary b = {.end_ns = end, .is_step = true};

	if (!track_of(m, e, TRACK_THREAD))
		return 0;
	if (end <= m->done_ns) {
		m->stats.malformed++;
		return 0;
	}
	b.step.index = e->id;
	b.step.track = e->track;
	b.step.ts_ns = max_u64(e->ts_ns, m->done_ns);
	b.step.dur_ns = end - b.step.ts_ns;
	m->steps_seen = true;
	m->longest = max_u64(m->longest, m->since_boundary);
	return push_boundary(m, &b);
}

static int take_memory(struct model *m, const struct event *e)
{
	struct track_state *t;
	int err;

	if (!e->id && !e->value)
		return 0; /* free(NULL) in an older recording, so no block of unknown size */
	t = track_of(m, e, TRACK_THREAD);
	err = t ? memory__add(m, t, e) : 0;

	if (!err && t)
		err = activate(m, t);
	return err || !t ? err : count_event(m, e, 0);
}

static int take_other(struct model *m, const struct event *e)
{
	struct event copy = *e;
	int err;

	copy.args = NULL;
	copy.args_len = 0;
	err = ARRAY_PUSH(m->others, m->other_cnt, m->other_cap, copy);
	return err ? err : count_event(m, e, 0);
}

static int take_event(struct model *m, const struct event *e)
{
	if (e->type == EVENT_DEVICE)
		return take_device(m, e);
	if (event__is_impossible(e)) {
		m->stats.malformed++;
		return 0;
	}
	switch (e->type) {
	case EVENT_SPAN:
		return take_span(m, e);
	case EVENT_STEP:
		return take_step(m, e);
	case EVENT_MEMORY:
		return take_memory(m, e);
	default:
		return take_other(m, e);
	}
}

/* ---- life ---- */

static uint64_t cost_ns(const struct recording *r, const char *key)
{
	json_int_t v = json_integer_value(
		json_object_get(json_object_get(recording__meta(r), "probe_cost"), key));

	return v > 0 && v < MAX_COST_NS ? (uint64_t)v : 0;
}

bool recording__is_timer_only(const struct recording *r)
{
	const char *detail = json_string_value(json_object_get(recording__meta(r), "detail"));

	return detail && !strcmp(detail, "timer");
}

/* NULL: no rule for steps was known at recording time. */
static const char *step_source(const struct recording *r)
{
	const json_t *steps = json_object_get(recording__meta(r), "steps");

	return json_string_value(json_object_get(steps, "source"));
}

static void note_device(struct model *m, const struct track *t)
{
	if (!t || t->kind != TRACK_DEVICE)
		return;
	m->several_devices |= m->has_device && m->device != t->device;
	m->has_device = true;
	m->device = t->device;
}

static int init(struct model *m)
{
	const char *source = step_source(m->r);
	const json_t *runtime = json_object_get(recording__meta(m->r), "runtime");
	const char *framework = json_string_value(json_object_get(runtime, "framework"));
	int err;

	m->is_paddle = framework && !strcmp(framework, "paddle");
	m->timer_only = recording__is_timer_only(m->r);
	m->steps_come = source;
	m->steps_found = source && strncmp(source, "--step-", strlen("--step-"));
	m->track_cnt = recording__track_cnt(m->r);
	m->tracks = calloc((size_t)m->track_cnt + 1, sizeof(*m->tracks));
	m->out_tracks = calloc((size_t)m->track_cnt + 1, sizeof(*m->out_tracks));
	if (!m->tracks || !m->out_tracks)
		return -ENOMEM;
	for (uint32_t id = 1; id <= m->track_cnt; id++) {
		m->tracks[id].track = recording__track(m->r, id);
		note_device(m, m->tracks[id].track);
	}
	if (scopes__load(m))
		return -ENOMEM;
	if (!m->opts->raw_times) {
		m->inside_ns = cost_ns(m->r, "span_inside_ns");
		m->total_ns = cost_ns(m->r, "span_total_ns");
		m->free_calls = json_object_get(recording__meta(m->r), "device_source");
	}
	err = executions__load(&m->executions, m->r);
	if (err)
		return err;
	return m->has_device ? device_join__open(&m->join, m->r) : 0;
}

static void clean(struct model *m)
{
	for (uint32_t id = 0; m->tracks && id <= m->track_cnt; id++) {
		free(m->tracks[id].pending);
		free(m->tracks[id].memory);
	}
	free(m->tracks);
	free(m->out_tracks);
	free(m->active);
	free(m->others);
	free(m->phases);
	free(m->scopes);
	device__free(m);
	executions__free(&m->executions);
	memory__free(m);
	pool__free(&m->pool);
}

/* Gives out device events that no launch took, although the recording has launches of similar
 * ids. */
static int give_rest(struct model *m)
{
	int cnt, err = 0;

	while (!err && (cnt = device__take_rest(m))) {
		err = cnt < 0 ? cnt : show(m, UINT64_MAX, NULL);
		release(m);
	}
	return err;
}

static int read_all(struct model *m)
{
	struct recording_cursor *c;
	struct event e;
	int err = recording_cursor__open(m->r, &c);

	if (err)
		return err;
	for (;;) {
		err = recording_cursor__next(c, &e);
		if (err > 0)
			err = take_event(m, &e);
		else
			break;
		if (err)
			break;
	}
	recording_cursor__close(c);
	while (!err && m->queue_cnt)
		err = give_oldest(m);
	if (!err)
		err = give_part(m, UINT64_MAX, NULL);
	return err || !m->has_device ? err : give_rest(m);
}

int model__run(const struct recording *r, const struct model_opts *opts,
	       int (*visit)(const struct batch *b, void *ctx), void *ctx)
{
	static const struct model_opts defaults = {};
	struct model m = {.r = r, .opts = opts ? opts : &defaults, .visit = visit, .ctx = ctx};
	int err = init(&m);

	if (!err)
		err = read_all(&m);
	if (m.opts->stats)
		*m.opts->stats = m.stats;
	clean(&m);
	return err == -ENOMEM ? err__set(err, MESSAGE_TREES_OUT_OF_MEMORY) : err;
}
