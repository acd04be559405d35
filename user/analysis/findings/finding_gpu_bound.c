// SPDX-License-Identifier: BSD-2-Clause
/* The device limits the step: it computes nearly all the time, and the host waits for it. */
#include "analysis/findings/by_operator.h"
#include "analysis/findings/device_idle.h"
#include "analysis/findings/finding.h"

#define WORTH_SAYING 10.0 /* percent of the step that the host waits */

/* The device that the thread waits for longest. */
static int waited_for(const struct analysis *a, uint64_t *ns)
{
	int best = -1;

	*ns = 0;
	for (int i = 0; i < GPU_WAIT_DEVICES; i++) {
		if (a->gpu_wait.devices[i].waited_ns <= *ns)
			continue;
		*ns = a->gpu_wait.devices[i].waited_ns;
		best = i;
	}
	return best;
}

static int judge(const struct analysis *a, void *state, struct finding *f)
{
	const struct by_operator calls = {a->gpu_waits};
	struct top_operator top;
	uint64_t clock_ns, wait_ns, known_ns;
	double busy;
	const int device = waited_for(a, &clock_ns);

	if (device < 0)
		return 0;
	wait_ns = finding__of_clock(a, clock_ns);
	known_ns = analysis__clock_ns(a, device);
	if (!known_ns)
		return 0;
	busy = 100.0 * (double)a->gpu_wait.devices[device].work.total_ns / (double)known_ns;
	if (finding__percent(a, wait_ns) < WORTH_SAYING || busy < 100 - DEVICE_IDLE_PERCENT ||
	    !by_operator__top(a, &calls, &top))
		return 0;
	f->cost_ns = finding__per_step(a, wait_ns);
	snprintf(f->what, sizeof(f->what),
		 "GPU-bound: the host waits for GPU%d, %.0f %% of the step.", device,
		 finding__percent(a, wait_ns));
	snprintf(f->evidence, sizeof(f->evidence),
		 "GPU%d is busy for %.1f %% of the steps; the %s waits %s of a step while it "
		 "computes, most in %s",
		 device, busy, finding__thread(a), time_text(a, f->cost_ns).s, top.text);
	snprintf(f->next, sizeof(f->next),
		 "the waits cost nothing, the device works meanwhile: `--table kernel` has what it "
		 "runs. Fewer or faster kernels: lower precision, fused operators, a compiled "
		 "model");
	return 1;
}

const struct finding_rule finding_gpu_bound = {
	.key = "gpu_bound",
	.rests_on_device = true,
	.judge = judge,
};
