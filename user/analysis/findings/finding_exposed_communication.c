// SPDX-License-Identifier: BSD-2-Clause
/* Collectives that no computation hides. On a device these are kernels; on the host the training
 * thread waits. */
#include "analysis/tables/distributed.h"
#include "analysis/findings/finding.h"
#include "analysis/thread_times.h"

#define WORTH_SAYING 10.0 /* percent of the step */

struct exposed {
	struct distributed d;
	uint32_t track; /* of the thread of the steps */
};

static int visit(const struct analysis *a, void *state, const struct batch *b)
{
	struct exposed *x = state;

	x->track = b->step->track;
	return distributed__visit(a, &x->d, b);
}

static int visit_work(const struct analysis *a, void *state, const struct device_work *w)
{
	return distributed__visit_work(a, &((struct exposed *)state)->d, w);
}

/* The training thread may compute while the host communicates. So at most the time for which that
 * thread is blocked is exposed. */
static uint64_t host_exposed_ns(const struct analysis *a, struct exposed *x)
{
	const uint64_t ns = finding__of_clock(a, distributed__host_ns(&x->d));
	struct thread_times times;

	if (!ns || !thread_times__of(a, x->track, &times))
		return 0;
	return ns < times.blocked_ns ? ns : times.blocked_ns;
}

/* Does its launcher say that it is a rank? The processes of mp.spawn do not show it. */
static bool is_rank(const struct analysis *a)
{
	const json_t *rank = json_object_get(recording__meta(a->r), "rank");

	return json_is_integer(json_object_get(rank, "rank"));
}

static int judge(const struct analysis *a, void *state, struct finding *f)
{
	struct exposed *x = state;
	const uint64_t device_ns = finding__of_clock(a, distributed__exposed_ns(&x->d));
	const uint64_t exposed_ns = device_ns ? device_ns : host_exposed_ns(a, x);

	if (finding__percent(a, exposed_ns) < WORTH_SAYING)
		return 0;
	f->cost_ns = finding__per_step(a, exposed_ns);
	snprintf(f->what, sizeof(f->what),
		 "Communication stands alone for %.0f %% of the step: no computation hides it.",
		 finding__percent(a, exposed_ns));
	snprintf(f->evidence, sizeof(f->evidence), "%s of a step in collectives while %s",
		 time_text(a, f->cost_ns).s,
		 device_ns ? "no other kernel runs" : "the training thread is blocked");
	snprintf(f->next, sizeof(f->next),
		 "%sa rank that the others wait for looks the same: compare all ranks first (`-p "
		 "PID,PID`, `--job`, or `report` of all recordings); then smaller buckets, "
		 "gradient accumulation without synchronization, or compression",
		 is_rank(a) ? ""
			    : "if the job is this process alone, as with a key-value store of its "
			      "own: fewer and larger exchanges, or none; else ");
	return 1;
}

static void clean(void *state)
{
	distributed__clean(&((struct exposed *)state)->d);
}

const struct finding_rule finding_exposed_communication = {
	.key = "exposed_communication",
	.rests_on_device = true,
	.state_size = sizeof(struct exposed),
	.visit = visit,
	.visit_work = visit_work,
	.judge = judge,
	.clean = clean,
};
