// SPDX-License-Identifier: BSD-2-Clause
/* The device is idle for a part of the step, and why. */
#include "analysis/findings/device_idle.h"
#include "analysis/findings/finding.h"
#include "analysis/findings/finding_cpu_wait.h"
#include "analysis/findings/host_waits.h"
#include "analysis/thread_times.h"
#include "common/counted.h"
#include "common/util.h"

#define MAX_DEVICES 64

struct device_idle {
	struct device_use {
		struct busy_time busy;
		uint64_t busy_in_loader_ns;
		uint64_t kernels, kernel_ns;
		size_t loader; /* index of the first loader wait that ends later than the work so
				  far */
	} devices[MAX_DEVICES];
	/* The current step's waits for data, by begin, and the time of all. */
	struct stretch *loaders;
	size_t loader_cnt, loader_cap;
	uint64_t loader_ns;
	const struct batch *noted;
	uint64_t waits; /* waits of the host for a device */
};

static int add_loaders(struct device_idle *idle, const struct step *step, const struct span *s)
{
	const uint64_t step_end = step->ts_ns + step->dur_ns;
	int err = 0;

	for (; s && !err; s = s->next_sibling) {
		const uint64_t end = s->ev.ts_ns + s->ev.dur_ns;
		const struct stretch part = {s->ev.ts_ns > step->ts_ns ? s->ev.ts_ns : step->ts_ns,
					     end < step_end ? end : step_end};

		if (s->kind != KIND_DATALOADER)
			err = add_loaders(idle, step, s->first_child);
		else if (part.begin < part.end)
			err = ARRAY_PUSH(idle->loaders, idle->loader_cnt, idle->loader_cap, part);
	}
	return err;
}

static int note_loaders(struct device_idle *idle, const struct batch *b)
{
	int err = 0;

	idle->noted = b;
	idle->loader_cnt = 0;
	for (int i = 0; i < MAX_DEVICES; i++)
		idle->devices[i].loader = 0;
	for (size_t i = 0; i < b->track_cnt && !err; i++)
		if (b->tracks[i].track->id == b->step->track)
			err = add_loaders(idle, b->step, b->tracks[i].roots);
	for (size_t i = 0; i < idle->loader_cnt; i++)
		idle->loader_ns += idle->loaders[i].end - idle->loaders[i].begin;
	return err;
}

/* Adds work from begin to end. It follows all earlier work. */
static void add_in_loader(const struct device_idle *idle, struct device_use *d, uint64_t from_ns,
			  uint64_t to_ns)
{
	while (d->loader < idle->loader_cnt && idle->loaders[d->loader].end <= from_ns)
		d->loader++;
	for (size_t i = d->loader; i < idle->loader_cnt && idle->loaders[i].begin < to_ns; i++) {
		const struct stretch *l = &idle->loaders[i];
		const uint64_t begin = l->begin > from_ns ? l->begin : from_ns;
		const uint64_t end = l->end < to_ns ? l->end : to_ns;

		d->busy_in_loader_ns += end - begin;
	}
}

static int visit_work(const struct analysis *a, void *state, const struct device_work *w)
{
	struct device_idle *idle = state;
	int err = idle->noted == a->feed.batch ? 0 : note_loaders(idle, a->feed.batch);
	struct device_use *d;
	uint64_t more_ns;

	if (err || w->track->device < 0 || w->track->device >= MAX_DEVICES)
		return err;
	d = &idle->devices[w->track->device];
	more_ns = busy_time__add(&d->busy, w->begin_ns, w->end_ns);
	if (more_ns)
		add_in_loader(idle, d, w->end_ns - more_ns, w->end_ns);
	if (w->kind == KIND_KERNEL) {
		d->kernels += !w->continued;
		d->kernel_ns += w->end_ns - w->begin_ns;
	}
	return 0;
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
	int err = idle->noted == b ? 0 : note_loaders(idle, b);

	idle->noted = NULL;
	for (size_t i = 0; i < b->track_cnt; i++)
		if (host_waits__are_users(a, b->step, b->tracks[i].track))
			idle->waits += waits_in(a, &b->tracks[i]);
	return err;
}

/* How long all threads of the process ran in the steps. False: not recorded. */
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

/* Is the host idle, too, for most of the device's idle time? */
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

static void explain(const struct analysis *a, const struct device_idle *idle,
		    const struct device_use *d, uint64_t idle_ns, struct finding *f)
{
	const uint64_t waits = idle->waits;
	const uint64_t loader_ns = idle->loader_ns - d->busy_in_loader_ns;
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

/* Judges the device that works most. Others may be idle on purpose. */
static int judge(const struct analysis *a, void *state, struct finding *f)
{
	const struct device_idle *idle = state;
	const uint64_t idle_ns = device_idle__ns(a);
	uint64_t busy_ns;
	const int device = gpu_wait__busiest(a, &busy_ns);

	if (device < 0 || finding__percent(a, idle_ns) < DEVICE_IDLE_PERCENT)
		return 0;
	f->cost_ns = finding__per_step(a, idle_ns);
	f->cause = CAUSE_LAUNCHES; /* finding_launch_bound reports these gaps if they are most of
				      the idle time */
	snprintf(f->what, sizeof(f->what), "GPU%d is idle for %.0f %% of the step.", device,
		 finding__percent(a, idle_ns));
	explain(a, idle, &idle->devices[device], idle_ns, f);
	return 1;
}

static void clean(void *state)
{
	free(((struct device_idle *)state)->loaders);
}

const struct finding_rule finding_device_idle = {
	.key = "device_idle",
	.rests_on_device = true,
	.is_general = true,
	.state_size = sizeof(struct device_idle),
	.visit = visit,
	.visit_work = visit_work,
	.judge = judge,
	.clean = clean,
};
