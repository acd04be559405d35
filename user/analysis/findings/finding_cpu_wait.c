// SPDX-License-Identifier: BSD-2-Clause
/* The thread that makes the steps is ready to run, but has no processor. */
#include "analysis/findings/findings.h"
#include <jansson.h>

#define WORTH_SAYING 8.0 /* percent of the step */

static double number(const json_t *object, const char *key)
{
	return (double)json_integer_value(json_object_get(object, key));
}

const char cpu_wait_next[] =
	"`proftrace cpu` names who else runs; fewer threads (OMP_NUM_THREADS, loader workers) or "
	"processors of its own (taskset, the container's CPU limit)";

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
	snprintf(f->next, sizeof(f->next), "%s", cpu_wait_next);
	return 1;
}

const struct finding_rule finding_cpu_wait = {
	.key = "cpu_wait",
	.judge = judge,
};
