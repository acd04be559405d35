// SPDX-License-Identifier: BSD-2-Clause
/* Copies between host and device that no kernel hides. */
#include <string.h>
#include "analysis/findings/finding.h"

#define WORTH_SAYING 15.0 /* percent of the step */
#define MAX_DEVICES  64

struct exposed_copies {
	struct device_copies {
		struct busy_time kernels, both;
		uint64_t bytes;
	} devices[MAX_DEVICES];
};

static bool is_copy_with_host(const struct analysis *a, const struct device_work *w)
{
	const char *name = analysis__name(a, w->name);

	return w->kind == KIND_MEMCPY && (strstr(name, "HtoD") || strstr(name, "DtoH"));
}

static int visit_work(const struct analysis *a, void *state, const struct device_work *w)
{
	struct exposed_copies *c = state;
	struct device_copies *d = &c->devices[w->track->device & (MAX_DEVICES - 1)];
	const bool is_copy = is_copy_with_host(a, w);

	if (w->track->device < 0 || w->track->device >= MAX_DEVICES)
		return 0;
	if (w->kind == KIND_KERNEL)
		busy_time__add(&d->kernels, w->begin_ns, w->end_ns);
	if (is_copy && !w->continued && w->bytes > 0)
		d->bytes += (uint64_t)w->bytes;
	if (is_copy || w->kind == KIND_KERNEL)
		busy_time__add(&d->both, w->begin_ns, w->end_ns);
	return 0;
}

/* Judges the device with most. A process that uses several devices waits for each. */
static int judge(const struct analysis *a, void *state, struct finding *f)
{
	const struct exposed_copies *c = state;
	uint64_t most_ns = 0;
	int device = 0;

	for (int i = 0; i < MAX_DEVICES; i++) {
		const struct device_copies *d = &c->devices[i];
		const uint64_t ns = finding__of_clock(a, d->both.total_ns - d->kernels.total_ns);

		if (ns > most_ns) {
			most_ns = ns;
			device = i;
		}
	}
	if (finding__percent(a, most_ns) < WORTH_SAYING)
		return 0;
	f->cost_ns = finding__per_step(a, most_ns);
	snprintf(f->what, sizeof(f->what),
		 "Copies stand alone on GPU%d for %.0f %% of the step: no kernel hides them.",
		 device, finding__percent(a, most_ns));
	snprintf(f->evidence, sizeof(f->evidence),
		 "%s of a step in copies between host and device while no kernel runs; %.1f MB a "
		 "step",
		 time_text(a, f->cost_ns).s,
		 (double)c->devices[device].bytes / 1e6 / (double)a->steps.calls);
	snprintf(f->next, sizeof(f->next),
		 "copy the next batch while this one is computed: pinned memory, non_blocking, a "
		 "stream of its own (a prefetching loader does that)");
	return 1;
}

const struct finding_rule finding_exposed_copies = {
	.key = "exposed_copies",
	.rests_on_device = true,
	.state_size = sizeof(struct exposed_copies),
	.visit_work = visit_work,
	.judge = judge,
};
