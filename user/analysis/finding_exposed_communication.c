// SPDX-License-Identifier: BSD-2-Clause
/* Collectives that no computation hides. */
#include "analysis/distributed.h"
#include "analysis/findings.h"

#define WORTH_SAYING 10.0 /* percent of the step */

static int judge(const struct analysis *a, void *state, struct finding *f)
{
	uint64_t exposed_ns = distributed__exposed_ns(state);

	if (finding__percent(a, exposed_ns) < WORTH_SAYING)
		return 0;
	f->cost_ns = finding__per_step(a, exposed_ns);
	snprintf(f->what, sizeof(f->what),
		 "Communication stands alone for %.0f %% of the step: no computation hides it.",
		 finding__percent(a, exposed_ns));
	snprintf(f->evidence, sizeof(f->evidence),
		 "%s of a step in collectives while no other kernel runs",
		 time_text(a, f->cost_ns).s);
	snprintf(
		f->next, sizeof(f->next),
		"a rank that the others wait for looks the same: compare all ranks first (`-p "
		"PID,PID`, `--job`, or `report` of all recordings); then smaller buckets, gradient "
		"accumulation without synchronization, or compression");
	return 1;
}

const struct finding_rule finding_exposed_communication = {
	.key = "exposed_communication",
	.state_size = sizeof(struct distributed),
	.visit = distributed__visit,
	.judge = judge,
	.clean = distributed__clean,
};
