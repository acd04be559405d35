// SPDX-License-Identifier: BSD-2-Clause
/* The training waits for the next batch. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/tables/awaited.h"
#include "analysis/findings/few_steps.h"
#include "analysis/findings/finding.h"
#include "analysis/thread_times.h"
#include "common/counted.h"
#include "common/util.h"

#define WORTH_SAYING 8.0 /* percent of the step that goes to waiting for the loader */
#define BUSY	     0.8 /* a worker that runs for this share of the time is always at work */
/* a process that lives for a smaller share of the window makes no batches */
#define PASSING 0.01

/* operations: own time of each operation of the framework's data pipeline. */
struct loader {
	struct stat_map operations;
	struct few_steps waits; /* waits for the loader, by step */
	uint64_t ready_ns;	/* the thread's time without a processor: so much of the waits
				   may be that */
	uint64_t queued_ns;	/* part of the waits in calls that wait for queued operators */
	uint32_t *trainers;	/* processes that run backward passes, so they are no loader
				   workers */
	size_t trainer_cnt, trainer_cap;
};

static bool trains(const struct loader *l, uint32_t pid)
{
	for (size_t i = 0; i < l->trainer_cnt; i++)
		if (l->trainers[i] == pid)
			return true;
	return false;
}

/* Is it a helper of multiprocessing, such as a tracker or a server? Capture noted which processes
 * are. */
static bool is_helper(const struct analysis *a, uint32_t pid)
{
	const json_t *helpers = json_object_get(recording__summary(a->r), "helpers");
	const json_t *item;
	size_t i;

	json_array_foreach(helpers, i, item)
	{
		if (json_integer_value(json_object_get(item, "pid")) == (json_int_t)pid)
			return true;
	}
	return false;
}

static int note_trainer(const struct analysis *a, struct loader *l, const struct track_batch *t)
{
	const uint32_t pid = t->track->pid;

	if (pid == a->main_pid || trains(l, pid))
		return 0;
	for (const struct span *s = t->roots; s; s = span__next(s, NULL))
		if (s->kind == KIND_BACKWARD)
			return ARRAY_PUSH(l->trainers, l->trainer_cnt, l->trainer_cap, pid);
	return 0;
}

static void add_queued(const struct analysis *a, struct loader *l, const struct track_batch *t)
{
	for (const struct span *s = t->roots; s; s = span__next(s, NULL))
		if (s->phase == KIND_DATALOADER && awaited__is_call(a, s))
			l->queued_ns += s->ev.dur_ns;
}

static int add_operations(struct loader *l, const struct track_batch *t)
{
	for (const struct span *s = t->roots; s; s = span__next(s, NULL)) {
		const struct stat_key key = {.id = s->ev.name};
		struct stat *sum =
			s->kind == KIND_PIPELINE ? stat_map__at(&l->operations, &key) : NULL;

		if (s->kind == KIND_PIPELINE && !sum)
			return -ENOMEM;
		if (sum)
			sum->cpu.total += s->self_ns;
	}
	return 0;
}

static int add_wait(const struct analysis *a, struct loader *l, const struct step *step)
{
	const uint64_t wait_ns = step->phase_ns[KIND_DATALOADER];
	uint64_t ready_ns = ready_time__of(a, step);

	ready_ns = ready_ns < wait_ns ? ready_ns : wait_ns;
	l->ready_ns += ready_ns;
	return few_steps__add(&l->waits, step->index, wait_ns - ready_ns);
}

static int visit(const struct analysis *a, void *state, const struct batch *b)
{
	struct loader *l = state;
	int err = b->step ? add_wait(a, l, b->step) : 0;

	for (size_t i = 0; i < b->track_cnt && !err; i++) {
		const struct track_batch *t = &b->tracks[i];

		if (b->step && t->track->id == b->step->track)
			add_queued(a, l, t);
		err = add_operations(l, t);
		if (!err)
			err = note_trainer(a, l, t);
	}
	return err;
}

/* The pipeline operation that takes longest. False: there is no pipeline. */
static bool describe_operation(const struct analysis *a, const struct loader *l, char *seen,
			       size_t size, const char **next)
{
	const struct stat_row *most = NULL;

	for (size_t i = 0; i < l->operations.cnt; i++)
		if (!most || l->operations.rows[i].stat.cpu.total > most->stat.cpu.total)
			most = &l->operations.rows[i];
	if (!most)
		return false;
	snprintf(seen, size, "of its pipeline %s has most time of its own, %s of a step",
		 analysis__name(a, most->key.id),
		 time_text(a, finding__per_step(a, most->stat.cpu.total)).s);
	*next = "more threads for that operation (num_parallel_workers), or less for it to do; "
		"`--table pipeline` has the others and how full their queues are";
	return true;
}

struct workers {
	uint32_t cnt, busy_cnt;
	uint32_t begun_cnt; /* processes that began after the first step */
	uint64_t run_ns, runnable_ns, all_ns;
};

static bool is_there_in(const struct analysis *a, uint32_t track, uint64_t step)
{
	const struct sched_row *rows;
	const size_t cnt = recording__sched(a->r, &rows);

	for (size_t i = 0; i < cnt; i++)
		if (rows[i].track == track && rows[i].step == step)
			return true;
	return false;
}

static void add_worker(const struct analysis *a, const struct loader *l, uint32_t track,
		       struct workers *w)
{
	struct thread_times times;
	const bool known = thread_times__of(a, track, &times);
	const uint64_t all_ns = times.run_ns + times.runnable_ns + times.blocked_ns;

	/* A short-lived helper of a worker, such as ldconfig or uname. */
	if (known && (double)all_ns < PASSING * (double)a->steps.cpu.total)
		return;
	w->cnt++;
	w->run_ns += times.run_ns;
	w->runnable_ns += times.runnable_ns;
	w->all_ns += all_ns;
	w->busy_cnt += (double)(times.run_ns + times.runnable_ns) > BUSY * (double)all_ns;
	w->begun_cnt += known && l->waits.cnt && !is_there_in(a, track, l->waits.items[0].step);
}

/* The loader's processes: all recorded ones but the main process, helpers, and processes that train
 * themselves, such as ranks of a launcher. */
static struct workers workers_of(const struct analysis *a, const struct loader *l)
{
	struct workers w = {0};

	for (uint32_t id = 1; id <= recording__track_cnt(a->r); id++) {
		const struct track *t = recording__track(a->r, id);

		if (!t || t->kind != TRACK_THREAD || !a->main_pid || t->pid == a->main_pid ||
		    t->tid != t->pid || trains(l, t->pid) || is_helper(a, t->pid))
			continue;
		add_worker(a, l, id, &w);
	}
	return w;
}

static void describe_begun(const struct workers *w, char *seen, size_t size)
{
	const size_t len = strlen(seen);

	if (w->begun_cnt)
		snprintf(seen + len, size - len, ", %u began after the first step", w->begun_cnt);
}

/* Describes the workers, and what to do about them. */
static void describe_workers(const struct workers *w, char *seen, size_t size, const char **next)
{
	const struct counted processes = counted(w->cnt, "worker process", "worker processes");

	if (!w->cnt) {
		snprintf(seen, size,
			 "no worker process was seen, so batches are made within this process");
		*next = "give the loader worker processes (num_workers), so that batches are made "
			"beside the training";
	} else if (!w->all_ns) {
		snprintf(seen, size, "it has %s, how busy was not recorded", processes.s);
		*next = "more workers (num_workers) if these are busy, else look at storage and at "
			"how batches reach the training (pin_memory, prefetch_factor)";
	} else {
		snprintf(seen, size,
			 "%s ran for %.0f %% of the time and stood ready for %.0f %%, %u of them "
			 "without pause",
			 processes.s, 100.0 * (double)w->run_ns / (double)w->all_ns,
			 100.0 * (double)w->runnable_ns / (double)w->all_ns, w->busy_cnt);
		describe_begun(w, seen, size);
		*next = w->runnable_ns > w->run_ns && w->busy_cnt * 2 >= w->cnt
				? "the workers lack processors, so more of them do not help: "
				  "`proftrace cpu` names who else runs; fewer threads "
				  "(OMP_NUM_THREADS), or more processors"
			: w->busy_cnt * 2 >= w->cnt
				? "the workers are the bottleneck: more of them, or less work for "
				  "each sample (decoding, augmentation)"
				: "the workers wait too: look at storage, at how batches reach the "
				  "training (pin_memory, prefetch_factor) and at `--table sched`";
	}
}

/* Workers with free time do not explain a wait in which the training thread is hardly blocked. It
 * works in the loader itself, or has no processor. */
static void describe_own_work(const struct analysis *a, uint64_t wait_ns, const struct workers *w,
			      char *seen, size_t size, const char **next)
{
	const size_t len = strlen(seen);
	struct thread_times own;

	if (w->busy_cnt || !w->run_ns || !thread_times__of(a, a->step_track, &own) ||
	    own.blocked_ns > wait_ns / 2)
		return;
	snprintf(seen + len, size - len, "; the training thread is blocked for no more than %s",
		 time_text(a, finding__per_step(a, own.blocked_ns)).s);
	*next = "it waits for no worker: it takes the batch apart itself (fewer and larger tensors "
		"are cheaper), or lacks a processor meanwhile (`proftrace cpu` names who runs)";
}

/* Frameworks that queue operators (MXNet) copy a batch after the operators of the step before. */
static bool describe_queued(const struct analysis *a, const struct loader *l, uint64_t wait_ns,
			    char *seen, size_t size, const char **next)
{
	if (2 * l->queued_ns < wait_ns)
		return false;
	snprintf(seen, size,
		 "%s of that in calls that wait for queued operators, of the step before perhaps",
		 time_text(a, finding__per_step(a, l->queued_ns)).s);
	*next = "the operators may be the bottleneck, and more workers do not help then: wait for "
		"the step's result before the next batch, and look at the loader's time again";
	return true;
}

static void describe_none(char *seen, size_t size, const char **next)
{
	snprintf(seen, size, "its worker processes were not recorded (--timer-only)");
	*next = "record without --timer-only, which shows whether it has workers (num_workers) and "
		"how busy they are";
}

/* If most of the wait is in a few steps, it is not the usual batch that is late. */
static void describe_few(const struct analysis *a, const struct loader *l, const struct workers *w,
			 char *text, size_t size, const char **next)
{
	if (few_steps__describe(a, &l->waits, w->begun_cnt, text, size) && w->cnt &&
	    !a->timer_only && !l->operations.cnt)
		*next = "an epoch, or an evaluation, begins there and starts its workers anew? "
			"persistent_workers=True keeps them; `--table steps` marks slow steps";
}

static int judge(const struct analysis *a, void *state, struct finding *f)
{
	const struct loader *l = state;
	uint64_t wait_ns = a->phases[KIND_DATALOADER].cpu.total;
	struct workers w;
	const char *next;
	char seen[256];
	size_t len;

	wait_ns -= l->ready_ns < wait_ns ? l->ready_ns : wait_ns;
	if (finding__percent(a, wait_ns) < WORTH_SAYING)
		return 0;
	w = workers_of(a, l);
	if (a->timer_only) {
		describe_none(seen, sizeof(seen), &next);
	} else if (!describe_queued(a, l, wait_ns, seen, sizeof(seen), &next) &&
		   !describe_operation(a, l, seen, sizeof(seen), &next)) {
		describe_workers(&w, seen, sizeof(seen), &next);
		describe_own_work(a, wait_ns, &w, seen, sizeof(seen), &next);
	}
	f->cost_ns = finding__per_step(a, wait_ns);
	snprintf(f->what, sizeof(f->what),
		 "The step waits %.0f %% of its time for the data loader.",
		 finding__percent(a, wait_ns));
	snprintf(f->evidence, sizeof(f->evidence), "the loader takes %s of a step of %s%s",
		 time_text(a, f->cost_ns).s,
		 time_text(a, finding__per_step(a, a->steps.cpu.total)).s,
		 l->ready_ns ? ", without waits for a processor" : "");
	describe_few(a, l, &w, f->evidence, sizeof(f->evidence), &next);
	len = strlen(f->evidence);
	snprintf(f->evidence + len, sizeof(f->evidence) - len, "; %s", seen);
	snprintf(f->next, sizeof(f->next), "%s", next);
	return 1;
}

static void clean(void *state)
{
	struct loader *l = state;

	stat_map__free(&l->operations);
	few_steps__free(&l->waits);
	free(l->trainers);
}

const struct finding_rule finding_data_loader = {
	.key = "data_loader",
	.of_host = true,
	.timer = true,
	.state_size = sizeof(struct loader),
	.visit = visit,
	.judge = judge,
	.clean = clean,
};
