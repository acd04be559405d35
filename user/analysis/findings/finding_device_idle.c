// SPDX-License-Identifier: BSD-2-Clause
/* The device has nothing to do for a part of the step, and why. */
#include "analysis/findings/findings.h"
#include "common/counted.h"
#include "common/util.h"

#define WORTH_SAYING 20.0 /* percent of the step that the device is idle */
#define MAX_DEVICES  64

struct device_idle {
	struct device_use {
		struct interval_union busy, busy_or_loader;
		uint64_t kernels, kernel_ns;
	} devices[MAX_DEVICES];
	bool seen[MAX_DEVICES];
	uint64_t waits; /* of the host for a device */
};

static int add_device(struct device_use *d, const struct track_batch *t)
{
	int err = 0;

	for (const struct span *s = t->roots; s && !err; s = s->next_sibling) {
		if (!span_kind__is_device_work(s->kind))
			continue;
		err = interval_union__add(&d->busy, s->ev.ts_ns, s->ev.ts_ns + s->ev.dur_ns);
		if (!err)
			err = interval_union__add(&d->busy_or_loader, s->ev.ts_ns,
						  s->ev.ts_ns + s->ev.dur_ns);
		d->kernels += s->kind == KIND_KERNEL;
		d->kernel_ns += s->kind == KIND_KERNEL ? s->ev.dur_ns : 0;
	}
	return err;
}

static int add_loader(struct device_idle *idle, const struct span *s)
{
	int err = 0;

	for (; s && !err; s = s->next_sibling) {
		if (s->kind != KIND_DATALOADER) {
			err = add_loader(idle, s->first_child);
			continue;
		}
		for (int i = 0; i < MAX_DEVICES && !err; i++)
			if (idle->seen[i])
				err = interval_union__add(&idle->devices[i].busy_or_loader,
							  s->ev.ts_ns, s->ev.ts_ns + s->ev.dur_ns);
	}
	return err;
}

static uint64_t waits_in(const struct analysis *a, const struct track_batch *t)
{
	uint64_t cnt = 0;

	for (const struct span *s = t->roots; s; s = span__next(s, NULL))
		cnt += span__is_wait(a, s);
	return cnt;
}

static int visit(const struct analysis *a, void *state, const struct batch *b)
{
	struct device_idle *idle = state;
	int err = 0;

	for (size_t i = 0; i < b->track_cnt; i++)
		if (analysis__is_main(a, b->tracks[i].track))
			idle->waits += waits_in(a, &b->tracks[i]);

	for (size_t i = 0; i < b->track_cnt && !err; i++) {
		const struct track *t = b->tracks[i].track;

		if (t->kind != TRACK_DEVICE || t->device < 0 || t->device >= MAX_DEVICES)
			continue;
		idle->seen[t->device] = true;
		err = add_device(&idle->devices[t->device], &b->tracks[i]);
	}
	for (size_t i = 0; i < b->track_cnt && !err; i++)
		if (b->tracks[i].track->id == b->step->track)
			err = add_loader(idle, b->tracks[i].roots);
	return err;
}

/* The device that works most: others may be there for a reason of their own. */
static int busiest(struct device_idle *idle, uint64_t *busy_ns)
{
	int best = -1;

	for (int i = 0; i < MAX_DEVICES; i++) {
		uint64_t ns = idle->seen[i] ? interval_union__length(&idle->devices[i].busy) : 0;

		if (idle->seen[i] && (best < 0 || ns > *busy_ns)) {
			best = i;
			*busy_ns = ns;
		}
	}
	return best;
}

/* Of all its threads in the steps; false: not recorded. */
static bool process_ran(const struct analysis *a, uint64_t *ns)
{
	const struct sched_row *rows;
	const size_t cnt = recording__sched(a->r, &rows);
	bool known = false;

	*ns = 0;
	for (size_t i = 0; i < cnt; i++) {
		const struct track *t = recording__track(a->r, rows[i].track);

		if (!t || !analysis__is_main(a, t) || !analysis__has_step(a, rows[i].step))
			continue;
		known = true;
		*ns += rows[i].state == SCHED_RUN ? rows[i].ns : 0;
	}
	return known;
}

/* The host does not run for most of the time that the device is idle, either. */
static bool both_wait(const struct analysis *a, uint64_t idle_ns)
{
	uint64_t ran_ns;

	return process_ran(a, &ran_ns) && ran_ns * 2 < idle_ns;
}

static void explain_both(const struct analysis *a, struct finding *f)
{
	uint64_t ns;
	const uint32_t wait = thread_wait__longest(a, a->step_track, &ns);

	if (wait && finding__may_be_idle(a, analysis__name(a, wait))) {
		snprintf(f->next, sizeof(f->next),
			 "it is given too little: the %s waits in %s for %s of a step, as one does "
			 "that has no request",
			 finding__thread(a), analysis__name(a, wait),
			 time_text(a, finding__per_step(a, ns)).s);
		return;
	}
	f->see_first = cpu_wait__is_said(a) ? &finding_cpu_wait : &finding_off_cpu;
	snprintf(f->next, sizeof(f->next),
		 "nor does the process run for most of that: `--table sched` says what its threads "
		 "wait for");
}

static void explain(const struct analysis *a, struct device_use *d, uint64_t waits,
		    uint64_t idle_ns, uint64_t busy_ns, struct finding *f)
{
	uint64_t both = interval_union__length(&d->busy_or_loader);
	uint64_t loader_ns = both > busy_ns ? both - busy_ns : 0;
	uint64_t kernel_ns = d->kernels ? d->kernel_ns / d->kernels : 0;
	int len = snprintf(f->evidence, sizeof(f->evidence), "idle %s of a step",
			   time_text(a, finding__per_step(a, idle_ns)).s);

	if (loader_ns)
		len += snprintf(f->evidence + len, sizeof(f->evidence) - (size_t)len,
				", %s of it while the step waits for the data loader",
				time_text(a, finding__per_step(a, loader_ns)).s);
	snprintf(f->evidence + len, sizeof(f->evidence) - (size_t)len,
		 "; %s a step, of %s on average",
		 counted(d->kernels / a->steps.calls, "kernel", "kernels").s,
		 time_text(a, kernel_ns).s);
	if (loader_ns * 2 > idle_ns) {
		f->see_first = &finding_data_loader;
		snprintf(f->next, sizeof(f->next), "feed it faster: see to the data loader first");
	} else if (both_wait(a, idle_ns)) {
		explain_both(a, f);
	} else if (waits >= WAITS_OFTEN * a->steps.calls) {
		f->see_first = &finding_sync;
		snprintf(f->next, sizeof(f->next),
			 "the host waits for it %.0f times a step, and it for the host after each: "
			 "see to these waits first",
			 (double)waits / (double)a->steps.calls);
	} else {
		snprintf(f->next, sizeof(f->next),
			 "the host is busy with other things than launching: see the Model table "
			 "for the phase, and `--table sched` for what its thread waits for");
	}
}

static int judge(const struct analysis *a, void *state, struct finding *f)
{
	struct device_idle *idle = state;
	uint64_t busy_ns = 0, total_ns = a->steps.cpu.total, idle_ns;
	int device = busiest(idle, &busy_ns);

	if (device < 0 || busy_ns >= total_ns)
		return 0;
	idle_ns = total_ns - busy_ns;
	if (finding__percent(a, idle_ns) < WORTH_SAYING)
		return 0;
	f->cost_ns = finding__per_step(a, idle_ns);
	f->cause = CAUSE_LAUNCHES; /* which finding_launch_bound tells, if they are most of it */
	snprintf(f->what, sizeof(f->what), "GPU%d is idle for %.0f %% of the step.", device,
		 finding__percent(a, idle_ns));
	explain(a, &idle->devices[device], idle->waits, idle_ns, busy_ns, f);
	return 1;
}

static void clean(void *state)
{
	struct device_idle *idle = state;

	for (int i = 0; i < MAX_DEVICES; i++) {
		interval_union__free(&idle->devices[i].busy);
		interval_union__free(&idle->devices[i].busy_or_loader);
	}
}

const struct finding_rule finding_device_idle = {
	.key = "device_idle",
	.rests_on_device = true,
	.is_general = true,
	.state_size = sizeof(struct device_idle),
	.visit = visit,
	.judge = judge,
	.clean = clean,
};
