// SPDX-License-Identifier: BSD-2-Clause
/*
 * Some steps take much longer than most. The evidence says what they have more of: a phase, an
 * operator or call, a state of the training thread, memory.
 */
#include "analysis/findings/by_operator.h"
#include "analysis/findings/finding.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/step_parts.h"
#include "analysis/findings/step_sample.h"
#include "common/median.h"
#include "common/util.h"
#include "model/call_stack.h"

#define FEWEST 8 /* fewest steps for which a median is useful */
/* at most one of so many steps is slow: what is more frequent is usual */
#define MOST	      3
#define WORTH_SAYING  5.0 /* percent of all steps' time that is above the median */
#define MOST_OF_IT    0.5 /* share of the surplus from which on an operator or state is named */
#define ALLOCATE_MORE 2.0 /* factor on what the other steps allocate, and ... */
/* ... bytes of the host above that, for allocation to be named */
#define ALLOCATE_LEAST (16 << 20)

struct slow_steps {
	struct step *items;
	size_t cnt, cap;
	uint64_t *alloc_bytes; /* by step */
	size_t alloc_cnt, alloc_cap;
	uint32_t *passes; /* backward passes, by step */
	size_t pass_cnt, pass_cap;
	struct step_sample sample;
	uint64_t ready_ns;	  /* time without a processor, which the steps' times leave out */
	struct by_operator lines; /* own time of lines of Python, if stacks were recorded */
};

static uint64_t allocated(const struct analysis *a, const struct batch *b)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < b->memory_cnt; i++) {
		const struct event *e = &b->memory[i];
		const struct event_memory *m = e->args;
		const struct track *t = recording__track(a->r, e->track);

		if (e->value > 0 && !e->name && !m->device_type && t && analysis__is_main(a, t))
			bytes += (uint64_t)e->value;
	}
	return bytes;
}

static uint32_t passes(const struct batch *b)
{
	uint32_t cnt = 0;

	for (size_t i = 0; i < b->track_cnt; i++)
		for (const struct span *s = b->tracks[i].roots;
		     s && b->tracks[i].track->id == b->step->track; s = span__next(s, NULL))
			cnt += s->kind == KIND_BACKWARD && !span__continues(s) &&
			       (!s->parent || s->parent->kind != KIND_BACKWARD);
	return cnt;
}

static int add_lines(const struct analysis *a, struct by_operator *lines, const struct batch *b)
{
	int err = 0;

	for (size_t i = 0; i < b->track_cnt; i++)
		for (const struct span *s = b->tracks[i].roots;
		     s && !err && b->tracks[i].track->kind == TRACK_THREAD; s = span__next(s, NULL))
			if (s->ev.name)
				err = by_operator__add_to(lines, s->ev.name, span__stack(a->r, s),
							  s->self_ns);
	return err;
}

static uint64_t more(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* A step's own time: without waits for a device that other launches keep busy, and without waits
 * for a processor. The phase of such a wait is unknown, so each phase may have had it. */
static struct step own_time(const struct analysis *a, const struct step *step, uint64_t ready_ns)
{
	const struct gpu_wait *g = &a->gpu_wait;
	struct step own = *step;

	own.cpu_ns = more(own.cpu_ns, g->step_ns + ready_ns);
	for (size_t p = 0; p < STEP_PARTS; p++) {
		const enum span_kind kind = step_parts[p].kind;

		own.phase_ns[kind] = more(own.phase_ns[kind], g->phase_ns[kind] + ready_ns);
	}
	return own;
}

static int visit(const struct analysis *a, void *state, const struct batch *b)
{
	struct slow_steps *s = state;
	const uint64_t ready_ns = ready_time__of(a, b->step);
	const struct step own = own_time(a, b->step, ready_ns);
	struct batch shown = *b;
	int err = ARRAY_PUSH(s->items, s->cnt, s->cap, own);

	s->ready_ns += ready_ns;
	shown.step = &own;
	if (!err)
		err = ARRAY_PUSH(s->alloc_bytes, s->alloc_cnt, s->alloc_cap, allocated(a, b));
	if (!err)
		err = ARRAY_PUSH(s->passes, s->pass_cnt, s->pass_cap, passes(b));
	if (!err && recording__frame_cnt(a->r))
		err = add_lines(a, &s->lines, b);
	return err ? err : step_sample__add(&s->sample, &shown, ready_ns);
}

/* The slow steps. */
struct slow {
	uint64_t middle_ns, limit_ns; /* the median; a slow step takes longer than limit_ns */
	uint64_t excess_ns;	      /* sum over the slow steps of the time above the median */
	size_t cnt;
	const struct step *worst;
	bool joins; /* each slow step joins several iterations */
};

static int find_slow(const struct slow_steps *s, struct slow *out)
{
	*out = (struct slow){0};
	if (steps__median(s->items, s->cnt, STEP_WHOLE, &out->middle_ns))
		return -ENOMEM;
	out->limit_ns = (uint64_t)(STEP_SLOW * (double)out->middle_ns);
	for (size_t i = 0; i < s->cnt; i++) {
		if (s->items[i].cpu_ns <= out->limit_ns)
			continue;
		out->cnt++;
		out->excess_ns += s->items[i].cpu_ns - out->middle_ns;
		if (!out->worst || s->items[i].cpu_ns > out->worst->cpu_ns)
			out->worst = &s->items[i];
	}
	return 0;
}

/* Are the slow steps those with an optimizer step? So it is if gradients are accumulated. */
static bool are_updates(const struct slow_steps *s, const struct slow *slow)
{
	size_t updated = 0, accumulating = 0;

	for (size_t i = 0; i < s->cnt; i++) {
		const uint64_t *phase_ns = s->items[i].phase_ns;

		if (s->items[i].cpu_ns > slow->limit_ns)
			updated += phase_ns[KIND_OPTIMIZATION] > 0;
		else
			accumulating += phase_ns[KIND_BACKWARD] && !phase_ns[KIND_OPTIMIZATION];
	}
	return updated == slow->cnt && 2 * accumulating > s->cnt - slow->cnt;
}

/* ---- what differs: sentences after one another, each only where it explains most ---- */

static void __attribute__((format(printf, 2, 3))) say(struct finding *f, const char *fmt, ...)
{
	const size_t len = strlen(f->evidence);
	va_list args;

	va_start(args, fmt);
	vsnprintf(f->evidence + len, sizeof(f->evidence) - len, fmt, args);
	va_end(args);
}

static double percent_of(double part, const struct slow *slow)
{
	const double percent = slow->excess_ns ? 100.0 * part / (double)slow->excess_ns : 0;

	return percent < 100 ? percent : 100;
}

/* The median number of backward passes of steps that take longer than that. */
static int usual_passes(const struct slow_steps *s, uint64_t than_ns, uint64_t *usual)
{
	auto_free uint64_t *cnts = calloc(s->cnt + 1, sizeof(*cnts));
	size_t cnt = 0;

	if (!cnts)
		return -ENOMEM;
	for (size_t i = 0; i < s->cnt; i++)
		if (s->items[i].cpu_ns > than_ns)
			cnts[cnt++] = s->passes[i];
	*usual = median__of(cnts, cnt);
	return 0;
}

/* How many slow steps have more backward passes than usual. */
static size_t joining(const struct slow_steps *s, const struct slow *slow, uint64_t usual)
{
	size_t cnt = 0;

	for (size_t i = 0; i < s->cnt; i++)
		cnt += s->items[i].cpu_ns > slow->limit_ns && s->passes[i] > usual;
	return cnt;
}

/* If an optimizer step ends each step, a skipped one joins two iterations. */
static int say_passes(const struct slow_steps *s, struct slow *slow, struct finding *f)
{
	uint64_t usual = 0, in_slow = 0;
	int err = usual_passes(s, 0, &usual);
	size_t cnt;

	if (!err)
		err = usual_passes(s, slow->limit_ns, &in_slow);
	slow->joins = usual && in_slow > usual;
	if (!slow->joins)
		return err;
	cnt = joining(s, slow, usual);
	if (cnt == slow->cnt)
		say(f, "; they hold %llu backward passes, the others %llu",
		    (unsigned long long)in_slow, (unsigned long long)usual);
	else
		say(f, "; %zu of these %zu hold %llu backward passes, a usual one %llu", cnt,
		    slow->cnt, (unsigned long long)in_slow, (unsigned long long)usual);
	return err;
}

static int say_phase(const struct analysis *a, const struct slow_steps *s, const struct slow *slow,
		     struct finding *f)
{
	enum span_kind part = KIND_OTHER;
	uint64_t most_ns = 0;

	for (size_t p = 0; p < STEP_PARTS; p++) {
		uint64_t usual, sum = 0;

		if (a->timer_only && !step_part__is_timed(p))
			continue;
		if (steps__median(s->items, s->cnt, (int)step_parts[p].kind, &usual))
			return -ENOMEM;
		for (size_t i = 0; i < s->cnt; i++)
			if (s->items[i].cpu_ns > slow->limit_ns)
				sum += more(s->items[i].phase_ns[step_parts[p].kind], usual);
		if (sum > most_ns) {
			most_ns = sum;
			part = step_parts[p].kind;
		}
	}
	if (a->timer_only && (double)most_ns < MOST_OF_IT * (double)slow->excess_ns)
		return 0;
	say(f, "; %.0f %% of the surplus lies in %s", percent_of((double)most_ns, slow),
	    part == KIND_OTHER ? "none of the phases (Others)" : span_kind__label(part));
	return 0;
}

static int say_name(const struct analysis *a, const struct slow_steps *s, const struct slow *slow,
		    struct finding *f)
{
	struct top_operator op;
	uint32_t name;
	double share;
	int err = step_sample__differs(&s->sample, slow->limit_ns, &name, &share);

	if (!err && name && share >= MOST_OF_IT)
		say(f, "; %.0f %% in %s itself", share < 1 ? 100 * share : 100,
		    by_operator__of(a, &s->lines, name, &op) ? op.text : analysis__name(a, name));
	return err;
}

static const struct step *step_at(const struct slow_steps *s, uint64_t index)
{
	const size_t i = COUNT_FIRST(s->cnt, k, s->items[k].index < index);

	return i < s->cnt && s->items[i].index == index ? &s->items[i] : NULL;
}

/* Row keys: group is the state, id the reason. cpu: sum of the slow steps; gpu: of the others. */
static int sum_states(const struct analysis *a, const struct slow_steps *s, const struct slow *slow,
		      struct stat_map *m)
{
	const struct sched_row *rows;
	const size_t cnt = recording__sched(a->r, &rows);

	for (size_t i = 0; i < cnt; i++) {
		const struct sched_row *r = &rows[i];
		const bool blocked = r->state == SCHED_BLOCKED;
		const struct stat_key key = {.group = r->state, .id = blocked ? r->reason : 0};
		const struct step *step =
			r->track == slow->worst->track ? step_at(s, r->step) : NULL;
		struct stat *stat;

		if (!step)
			continue;
		stat = stat_map__at(m, &key);
		if (!stat)
			return -ENOMEM;
		*(step->cpu_ns > slow->limit_ns ? &stat->cpu.total : &stat->gpu.total) += r->ns;
	}
	return 0;
}

static void say_top_state(const struct analysis *a, const struct slow_steps *s, struct slow *slow,
			  const struct stat_map *m, struct finding *f)
{
	const double per_other = (double)slow->cnt / (double)(s->cnt - slow->cnt);
	const struct stat_row *top = NULL;
	double most_ns = MOST_OF_IT * (double)slow->excess_ns;

	for (size_t i = 0; i < m->cnt; i++) {
		const struct stat_row *r = &m->rows[i];
		const double ns = (double)r->stat.cpu.total - per_other * (double)r->stat.gpu.total;

		/* finding_cpu_wait reports waits for a processor */
		if (ns < most_ns || r->key.group == SCHED_RUNNABLE)
			continue;
		most_ns = ns;
		top = r;
	}
	if (!top)
		return;
	if (top->key.group == SCHED_RUN)
		say(f, "; the thread runs for %.0f %% of it", percent_of(most_ns, slow));
	else
		say(f, "; the thread is blocked for %.0f %% of it%s%s", percent_of(most_ns, slow),
		    top->key.id ? " in " : "", top->key.id ? analysis__name(a, top->key.id) : "");
	f->cause = top->key.group == SCHED_BLOCKED ? top->key.id : 0;
}

static int say_state(const struct analysis *a, const struct slow_steps *s, struct slow *slow,
		     struct finding *f)
{
	struct stat_map m = {};
	int err = sum_states(a, s, slow, &m);

	if (!err)
		say_top_state(a, s, slow, &m, f);
	stat_map__free(&m);
	return err;
}

static void say_memory(const struct slow_steps *s, const struct slow *slow, struct finding *f)
{
	double slow_bytes = 0, other_bytes = 0;

	for (size_t i = 0; i < s->cnt; i++)
		*(s->items[i].cpu_ns > slow->limit_ns ? &slow_bytes : &other_bytes) +=
			(double)s->alloc_bytes[i];
	slow_bytes /= (double)slow->cnt;
	other_bytes /= (double)(s->cnt - slow->cnt);
	if (slow_bytes - other_bytes >= ALLOCATE_LEAST && slow_bytes >= ALLOCATE_MORE * other_bytes)
		say(f, "; each allocates %.1f MB, the others %.1f", slow_bytes / 1e6,
		    other_bytes / 1e6);
}

static const char *advice(const struct slow *slow)
{
	if (slow->joins)
		return "a step without an optimizer's step joins the next one, as if a GradScaler "
		       "skips one: `--step-range NAME`, with a range that each iteration has (such "
		       "as zero_grad's), separates them";
	return "`--table steps` marks them; compare one with its neighbour in the trace. What "
	       "comes "
	       "every N steps may be logging, checkpoints, evaluation or garbage collection";
}

static int judge(const struct analysis *a, void *state, struct finding *f)
{
	const struct slow_steps *s = state;
	struct slow slow;
	int err;

	if (s->cnt < FEWEST)
		return 0;
	err = find_slow(s, &slow);
	if (err || !slow.cnt || slow.cnt * MOST > s->cnt || are_updates(s, &slow) ||
	    finding__percent(a, slow.excess_ns) < WORTH_SAYING)
		return err;
	f->cost_ns = finding__per_step(a, slow.excess_ns);
	snprintf(f->what, sizeof(f->what), "%zu of %zu steps %s more than %.1f times the median.",
		 slow.cnt, s->cnt, slow.cnt == 1 ? "takes" : "take", STEP_SLOW);
	say(f, "median %s, step %llu %s%s", time_text(a, slow.middle_ns).s,
	    (unsigned long long)slow.worst->index, time_text(a, slow.worst->cpu_ns).s,
	    a->gpu_waits.cnt ? ", without waits for a busy device" : "");
	if (s->ready_ns)
		say(f, "%s without waits for a processor", a->gpu_waits.cnt ? " and" : ",");
	err = say_passes(s, &slow, f);
	if (!err)
		err = say_phase(a, s, &slow, f);
	if (!err)
		err = say_name(a, s, &slow, f);
	if (!err)
		err = say_state(a, s, &slow, f);
	if (!err)
		say_memory(s, &slow, f);
	if (!err && f->cause && finding__may_be_idle(a, analysis__name(a, f->cause)))
		return 0;
	snprintf(f->next, sizeof(f->next), "%s", advice(&slow));
	return err ? err : 1;
}

static void clean(void *state)
{
	struct slow_steps *s = state;

	free(s->items);
	free(s->alloc_bytes);
	free(s->passes);
	step_sample__free(&s->sample);
	stat_map__free(&s->lines.map);
}

const struct finding_rule finding_slow_steps = {
	.key = "slow_steps",
	.of_host = true,
	.timer = true,
	.wait_rank = 2, /* this rule says in which steps */
	.state_size = sizeof(struct slow_steps),
	.visit = visit,
	.judge = judge,
	.clean = clean,
};
