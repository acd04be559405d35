// SPDX-License-Identifier: BSD-2-Clause
/* The thread that makes the steps is ready to run, but has no processor. */
#include <errno.h>
#include <jansson.h>
#include "analysis/findings/few_steps.h"
#include "analysis/findings/finding.h"
#include "analysis/findings/finding_cpu_wait.h"
#include "analysis/thread_times.h"

#define WORTH_SAYING 5.0 /* percent of the step */

static double number(const json_t *object, const char *key)
{
	return (double)json_integer_value(json_object_get(object, key));
}

static bool lacks_processor(const struct analysis *a, struct thread_times *times)
{
	return thread_times__of(a, a->step_track, times) &&
	       finding__percent(a, times->runnable_ns) >= WORTH_SAYING;
}

bool cpu_wait__is_said(const struct analysis *a)
{
	struct thread_times times;

	return lacks_processor(a, &times);
}

/* Collects the wait of each step. Steps without a wait count, too. */
static int collect(const struct analysis *a, struct few_steps *out)
{
	const struct ready_times *r = &a->ready;
	int err = 0;

	for (size_t i = 0; i < r->cnt && !err; i++) {
		const struct ready_time *t = &r->items[i];
		const bool again = i && t->step == t[-1].step && t->track == t[-1].track;

		if (t->track != a->step_track || !analysis__has_step(a, t->step))
			continue;
		if (again && out->cnt)
			out->items[out->cnt - 1].ns += t->ns;
		else
			err = few_steps__add(out, t->step, t->ns);
	}
	while (out->cnt < a->steps.calls && !err)
		err = few_steps__add(out, 0, 0);
	return err;
}

/* Names the steps if most of the wait is in a few. */
static int describe_few(const struct analysis *a, struct finding *f)
{
	struct few_steps steps = {0};
	int err = collect(a, &steps);

	if (!err)
		few_steps__describe(a, &steps, 0, f->evidence, sizeof(f->evidence));
	few_steps__free(&steps);
	return err;
}

static int judge(const struct analysis *a, void *state, struct finding *f)
{
	const json_t *cpu = json_object_get(recording__summary(a->r), "cpu");
	double busy = number(cpu, "busy_ns"), idle = number(cpu, "idle_ns");
	struct thread_times times;

	if (!lacks_processor(a, &times))
		return 0;
	f->cost_ns = finding__per_step(a, times.runnable_ns);
	snprintf(f->what, sizeof(f->what), "The %s waits %.0f %% of the step for a processor.",
		 finding__thread(a), finding__percent(a, times.runnable_ns));
	snprintf(
		f->evidence, sizeof(f->evidence),
		"it ran %s of a step and stood ready for %s; the machine's processors were %.0f %% "
		"busy",
		time_text(a, finding__per_step(a, times.run_ns)).s, time_text(a, f->cost_ns).s,
		busy + idle > 0 ? 100 * busy / (busy + idle) : 0);
	snprintf(f->next, sizeof(f->next), "%s",
		 "`proftrace cpu` names who else runs; fewer threads (OMP_NUM_THREADS, loader "
		 "workers) or processors of its own (taskset, the container's CPU limit)");
	return describe_few(a, f) ? -ENOMEM : 1;
}

const struct finding_rule finding_cpu_wait = {
	.key = "cpu_wait",
	.of_host = true,
	.judge = judge,
};
