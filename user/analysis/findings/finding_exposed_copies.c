// SPDX-License-Identifier: BSD-2-Clause
/* Copies between host and device that no kernel hides. */
#include <string.h>
#include "analysis/findings/findings.h"

#define WORTH_SAYING 15.0 /* percent of the step */
#define MAX_DEVICES  64

struct exposed_copies {
	struct device_copies {
		struct interval_union kernels, both;
		uint64_t bytes;
	} devices[MAX_DEVICES];
};

static bool is_copy_with_host(const struct analysis *a, const struct span *s)
{
	const char *name = analysis__name(a, s->ev.name);

	return s->kind == KIND_MEMCPY && (strstr(name, "HtoD") || strstr(name, "DtoH"));
}

static int add_device(const struct analysis *a, struct device_copies *d,
		      const struct track_batch *t)
{
	int err = 0;

	for (const struct span *s = t->roots; s && !err; s = s->next_sibling) {
		const uint64_t begin = s->ev.ts_ns, end = begin + s->ev.dur_ns;

		if (s->kind == KIND_KERNEL)
			err = interval_union__add(&d->kernels, begin, end);
		else if (!is_copy_with_host(a, s))
			continue;
		else if (s->ev.value > 0)
			d->bytes += (uint64_t)s->ev.value;
		if (!err)
			err = interval_union__add(&d->both, begin, end);
	}
	return err;
}

static int visit(const struct analysis *a, void *state, const struct batch *b)
{
	struct exposed_copies *c = state;
	int err = 0;

	for (size_t i = 0; i < b->track_cnt && !err; i++) {
		const struct track *t = b->tracks[i].track;

		if (t->kind == TRACK_DEVICE && t->device >= 0 && t->device < MAX_DEVICES)
			err = add_device(a, &c->devices[t->device], &b->tracks[i]);
	}
	return err;
}

/* Of the device that has most: a process that uses several waits for each. */
static int judge(const struct analysis *a, void *state, struct finding *f)
{
	struct exposed_copies *c = state;
	uint64_t most_ns = 0;
	int device = 0;

	for (int i = 0; i < MAX_DEVICES; i++) {
		const uint64_t both_ns = interval_union__length(&c->devices[i].both);
		const uint64_t ns = both_ns - interval_union__length(&c->devices[i].kernels);

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

static void clean(void *state)
{
	struct exposed_copies *c = state;

	for (int i = 0; i < MAX_DEVICES; i++) {
		interval_union__free(&c->devices[i].kernels);
		interval_union__free(&c->devices[i].both);
	}
}

const struct finding_rule finding_exposed_copies = {
	.key = "exposed_copies",
	.rests_on_device = true,
	.state_size = sizeof(struct exposed_copies),
	.visit = visit,
	.judge = judge,
	.clean = clean,
};
