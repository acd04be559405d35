// SPDX-License-Identifier: BSD-2-Clause
/*
 * The training thread is blocked by something else than the data loader, the device or a thread
 * that works for it. For example by a lock, a write to disk, or sleep.
 */
#include <stdlib.h>
#include <string.h>
#include "analysis/findings/finding.h"
#include "common/util.h"

#define WORTH_SAYING 15.0 /* percent of the step, for one reason */
#define AT_WORK                                                                                    \
	0.5		/* share of that time for which another thread runs, to be named as a      \
			   lock's holder */
#define AT_WORK_ALL 0.9 /* the same if the wait may be for the next request */

struct off_cpu {
	/* Times of one step in which waiting is normal, or is another rule's matter. */
	struct interval_union known;
	struct known_step {
		uint64_t index, whole_ns, known_ns;
	} *steps;
	size_t step_cnt, step_cap;
	bool *has_spans; /* by track id: threads that do the framework's work */
	size_t track_cnt;
};

static int add_known(struct off_cpu *o, const struct step *step, uint64_t begin, uint64_t end)
{
	const uint64_t step_end = step->ts_ns + step->dur_ns;

	begin = begin > step->ts_ns ? begin : step->ts_ns;
	end = end < step_end ? end : step_end;
	return begin < end ? interval_union__add(&o->known, begin, end) : 0;
}

static int add_span(struct off_cpu *o, const struct step *step, const struct span *s)
{
	return add_known(o, step, s->ev.ts_ns, s->ev.ts_ns + s->ev.dur_ns);
}

/* Operators of other threads, such as those of a device's backward pass: the training thread waits
 * for them. */
static int add_other(struct off_cpu *o, const struct step *step, const struct track_batch *t)
{
	int err = 0;

	for (const struct span *s = t->roots; s && !err; s = s->next_sibling)
		err = add_span(o, step, s);
	return err;
}

static bool is_backward_of_others(const struct analysis *a, const struct batch *b)
{
	for (size_t i = 0; i < b->track_cnt; i++) {
		const struct track_batch *t = &b->tracks[i];

		if (t->track->id == b->step->track || !analysis__is_main(a, t->track))
			continue;
		for (const struct span *s = t->roots; s; s = s->next_sibling)
			if (s->phase == KIND_BACKWARD)
				return true;
	}
	return false;
}

static int add_own(struct off_cpu *o, const struct step *step, const struct span *s, bool backward)
{
	int err = 0;

	for (; s && !err; s = s->next_sibling) {
		if (s->kind == KIND_DATALOADER || s->kind == KIND_RUNTIME ||
		    s->kind == KIND_COMMUNICATION || (s->kind == KIND_BACKWARD && backward))
			err = add_span(o, step, s);
		else
			err = add_own(o, step, s->first_child, backward);
	}
	return err;
}

static int add_step(struct off_cpu *o, const struct step *step)
{
	const struct known_step known = {step->index, step->dur_ns,
					 interval_union__length(&o->known)};

	return ARRAY_PUSH(o->steps, o->step_cnt, o->step_cap, known);
}

static int visit(const struct analysis *a, void *state, const struct batch *b)
{
	struct off_cpu *o = state;
	bool backward;
	int err = 0;

	if (!o->has_spans) {
		o->track_cnt = recording__track_cnt(a->r) + 1;
		o->has_spans = calloc(o->track_cnt, sizeof(*o->has_spans));
		if (!o->has_spans)
			return -ENOMEM;
	}
	interval_union__clear(&o->known); /* each step has its own times */
	backward = is_backward_of_others(a, b);
	for (size_t i = 0; i < b->track_cnt && !err; i++) {
		const struct track_batch *t = &b->tracks[i];

		if (!analysis__is_main(a, t->track) || !t->roots)
			continue;
		if (t->track->id < o->track_cnt)
			o->has_spans[t->track->id] = true;
		err = t->track->id == b->step->track ? add_own(o, b->step, t->roots, backward)
						     : add_other(o, b->step, t);
	}
	for (size_t i = 0; i < b->other_cnt && !err; i++)
		if (analysis__is_collective(a->r, &b->others[i]))
			err = add_known(o, b->step, b->others[i].ts_ns,
					b->others[i].ts_ns + b->others[i].dur_ns);
	return err ? err : add_step(o, b->step);
}

/* ---- what it waited for ---- */

/* Does the framework run operators on the calling thread? Otherwise a wait of that thread is
 * normal. */
static bool runs_in_caller(const struct analysis *a)
{
	const json_t *runtime = json_object_get(recording__meta(a->r), "runtime");
	const char *detail = json_string_value(json_object_get(recording__meta(a->r), "detail"));

	return json_is_true(json_object_get(runtime, "runs_in_caller")) && detail &&
	       (!strcmp(detail, "operator") || !strcmp(detail, "inner"));
}

static bool is_lock(const char *reason)
{
	return !strncmp(reason, "futex", 5);
}

static const struct known_step *step_at(const struct off_cpu *o, uint64_t index)
{
	const size_t i = COUNT_FIRST(o->step_cnt, k, o->steps[k].index < index);

	return i < o->step_cnt && o->steps[i].index == index ? &o->steps[i] : NULL;
}

/* The thread was blocked for ns for one reason. At least this part lies outside of the known times.
 * The recording has sums per step, not the time of each wait. */
static uint64_t at_least(uint64_t ns, const struct known_step *step)
{
	return ns > step->known_ns ? ns - step->known_ns : 0;
}

static uint64_t at_most(uint64_t ns, const struct known_step *step)
{
	const uint64_t rest_ns = step->whole_ns - step->known_ns;

	return ns < rest_ns ? ns : rest_ns;
}

/* Sums the time by reason, for reasons that can be judged. cpu: the least; gpu: the most. 0 or
 * -ENOMEM. */
static int sum_reasons(const struct analysis *a, const struct off_cpu *o, struct stat_map *sums)
{
	const struct sched_row *rows;
	const size_t cnt = recording__sched(a->r, &rows);
	const bool locks = runs_in_caller(a);

	for (size_t i = 0; i < cnt; i++) {
		const struct sched_row *r = &rows[i];
		const struct stat_key key = {.id = r->reason};
		const struct known_step *step = step_at(o, r->step);
		struct stat *sum;

		if (r->track != a->step_track || r->state != SCHED_BLOCKED || !r->reason || !step ||
		    (is_lock(analysis__name(a, r->reason)) && !locks))
			continue;
		sum = stat_map__at(sums, &key);
		if (!sum)
			return -ENOMEM;
		sum->cpu.total += at_least(r->ns, step);
		sum->gpu.total += at_most(r->ns, step);
	}
	return 0;
}

/* The reason with the longest certain wait outside of the known times. */
struct wait {
	uint32_t reason;
	uint64_t least_ns, most_ns;
};

static int longest(const struct analysis *a, const struct off_cpu *o, struct wait *out)
{
	struct stat_map sums = {};
	int err = sum_reasons(a, o, &sums);

	*out = (struct wait){0};
	for (size_t i = 0; i < sums.cnt && !err; i++) {
		const struct stat *sum = &sums.rows[i].stat;

		if (sum->cpu.total > out->least_ns)
			*out = (struct wait){sums.rows[i].key.id, sum->cpu.total, sum->gpu.total};
	}
	stat_map__free(&sums);
	return err;
}

/* The run time of the busiest thread of the process that ran no operators. 0: there is none, or out
 * of memory. */
static uint64_t busiest(const struct analysis *a, const struct off_cpu *o, uint32_t *track)
{
	const struct sched_row *rows;
	const size_t cnt = recording__sched(a->r, &rows);
	auto_free uint64_t *run_ns = calloc(o->track_cnt, sizeof(*run_ns));
	uint64_t most_ns = 0;

	for (size_t i = 0; run_ns && i < cnt; i++)
		if (rows[i].state == SCHED_RUN && rows[i].track < o->track_cnt &&
		    analysis__has_step(a, rows[i].step))
			run_ns[rows[i].track] += rows[i].ns;
	for (uint32_t id = 1; run_ns && id < o->track_cnt; id++) {
		const struct track *t = recording__track(a->r, id);

		if (!t || o->has_spans[id] || id == a->step_track || !analysis__is_main(a, t) ||
		    run_ns[id] <= most_ns)
			continue;
		most_ns = run_ns[id];
		*track = id;
	}
	return most_ns;
}

struct holder {
	uint32_t track; /* 0: none that is known */
	uint64_t run_ns;
};

/* The thread that may hold the lock for which the training thread waited so long. */
static struct holder holder_of(const struct analysis *a, const struct off_cpu *o, uint64_t ns,
			       bool may_be_idle)
{
	struct holder h = {0};

	h.run_ns = busiest(a, o, &h.track);
	if ((double)h.run_ns < (may_be_idle ? AT_WORK_ALL : AT_WORK) * (double)ns)
		h.track = 0;
	return h;
}

static void explain_lock(const struct analysis *a, const struct holder *holder, uint64_t ns,
			 struct finding *f)
{
	const size_t len = strlen(f->evidence);
	const bool is_held = holder->track;
	char name[128];

	snprintf(f->what, sizeof(f->what),
		 "The %s waits on a lock (futex) for %.0f %% of the step.", finding__thread(a),
		 finding__percent(a, ns));
	if (is_held) {
		analysis__thread(a, holder->track, name, sizeof(name));
		snprintf(f->evidence + len, sizeof(f->evidence) - len,
			 "; the thread %s, which was not seen to run an operator, ran for %s of a "
			 "step",
			 name, time_text(a, finding__per_step(a, holder->run_ns)).s);
	}
	snprintf(f->next, sizeof(f->next), "%s",
		 is_held ? "if a thread runs Python code, it holds the interpreter's lock (GIL): "
			   "make it a process; if a thread of an operator's pool is slower than "
			   "the rest, use fewer of them (OMP_NUM_THREADS). `--table sched` has the "
			   "process's threads"
			 : "no thread ran so long meanwhile: the thread that has the lock, or "
			   "should fill the queue, waits itself. `--table sched` shows what each "
			   "of the process's threads waits for");
}

static void explain_call(const struct analysis *a, const char *reason, uint64_t ns,
			 struct finding *f)
{
	const bool asleep = strstr(reason, "nanosleep");

	if (asleep)
		snprintf(f->what, sizeof(f->what), "The %s sleeps for %.0f %% of the step.",
			 finding__thread(a), finding__percent(a, ns));
	else
		snprintf(f->what, sizeof(f->what),
			 "The %s is blocked in %s for %.0f %% of the step.", finding__thread(a),
			 reason, finding__percent(a, ns));
	snprintf(f->next, sizeof(f->next), "%s",
		 asleep ? "a sleep, or a loop that asks and sleeps: look for time.sleep in the "
			  "loop and in what it calls"
			: "files, pipes, sockets and children that the loop itself waits for "
			  "(checkpoints, logs, metrics): let another thread or process do it; "
			  "`--table sched_steps` shows in which steps");
}

static void say_amount(const struct analysis *a, const struct wait *wait, struct finding *f)
{
	const uint64_t least_ns = finding__per_step(a, wait->least_ns);
	char most[64] = "";

	if (wait->most_ns > wait->least_ns)
		snprintf(most, sizeof(most), " to %s", time_text(a, f->cost_ns).s);
	snprintf(f->evidence, sizeof(f->evidence),
		 "%s%s of a step, besides the data loader, calls of the device, collectives and "
		 "what other threads run for it",
		 time_text(a, least_ns).s, most);
}

static int judge(const struct analysis *a, void *state, struct finding *f)
{
	struct off_cpu *o = state;
	struct holder holder = {0};
	struct wait wait;
	const char *reason;
	bool may_be_idle;
	int err = longest(a, o, &wait);

	if (err || finding__percent(a, wait.least_ns) < WORTH_SAYING)
		return err;
	reason = analysis__name(a, wait.reason);
	may_be_idle = finding__may_be_idle(a, reason);
	if (is_lock(reason))
		holder = holder_of(a, o, wait.least_ns, may_be_idle);
	if (!holder.track && may_be_idle)
		return 0;
	f->cause = wait.reason;
	f->cost_ns = finding__per_step(a, wait.most_ns);
	say_amount(a, &wait, f);
	if (is_lock(reason))
		explain_lock(a, &holder, wait.least_ns, f);
	else
		explain_call(a, reason, wait.least_ns, f);
	return 1;
}

static void clean(void *state)
{
	struct off_cpu *o = state;

	interval_union__free(&o->known);
	free(o->steps);
	free(o->has_spans);
}

const struct finding_rule finding_off_cpu = {
	.key = "off_cpu",
	.of_host = true,
	.rests_on_device = true,
	.wait_rank = 1,
	.state_size = sizeof(struct off_cpu),
	.visit = visit,
	.judge = judge,
	.clean = clean,
};
