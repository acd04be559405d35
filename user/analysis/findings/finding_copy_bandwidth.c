// SPDX-License-Identifier: BSD-2-Clause
/*
 * Large copies from or to pageable memory that are slower than the link between host and device.
 * The link's rate is that of the recording's page-locked copies of that device and direction.
 * Without such copies it comes from the PCIe link's speed and width. If these are not known,
 * nothing is reported.
 */
#include <string.h>
#include "analysis/findings/by_operator.h"
#include "analysis/findings/finding.h"

#define LARGE (1 << 20) /* bytes; smaller copies show the link's latency, not its rate */
/* so many page-locked copies must reach the rate that is taken for the link's */
#define LINK_COPIES  3
#define SLOW	     (2.0 / 3.0) /* share of the link's rate below which a copy is slow */
#define CARRIED	     0.8	 /* share of the link's raw rate; packet headers take the rest */
#define WORTH_SAYING 3.0	 /* percent of the step that copies at the link's rate would save */
#define MAX_DEVICES  64

enum direction { HOST_TO_DEVICE, DEVICE_TO_HOST, DIRECTIONS };

static const char *const direction_names[DIRECTIONS] = {"HtoD", "DtoH"};

struct link {
	double rates[LINK_COPIES];    /* the highest of page-locked copies, descending; bytes/ns */
	uint64_t cnt, bytes, ns;      /* of pageable copies */
	struct busy_time and_kernels; /* time of pageable copies, and of these and the device's
					 kernels together */
	struct by_operator by;
};

struct copy_bandwidth {
	struct busy_time kernels[MAX_DEVICES];
	struct link links[MAX_DEVICES][DIRECTIONS];
	bool has_copies[MAX_DEVICES];
};

static void add_rate(struct link *l, double rate)
{
	for (size_t i = 0; i < LINK_COPIES; i++) {
		const double lower = l->rates[i];

		if (rate <= lower)
			continue;
		l->rates[i] = rate;
		rate = lower;
	}
}

static int add_copy(const struct analysis *a, struct copy_bandwidth *c, int device,
		    const struct span *s)
{
	const char *name = span__name(a->r, s);

	if (s->ev.value < LARGE || !s->ev.dur_ns)
		return 0;
	for (int d = 0; d < DIRECTIONS; d++) {
		struct link *l = &c->links[device][d];
		int err = 0;

		if (!strstr(name, direction_names[d]))
			continue;
		if (strstr(name, "Pinned"))
			add_rate(l, (double)s->ev.value / (double)s->ev.dur_ns);
		if (!strstr(name, "Pageable"))
			continue;
		c->has_copies[device] = true;
		l->cnt++;
		l->bytes += (uint64_t)s->ev.value;
		l->ns += s->ev.dur_ns;
		if (s->launch)
			err = by_operator__add(a, &l->by, s->launch, s->ev.dur_ns);
		if (err)
			return err;
	}
	return 0;
}

static bool is_slow_copy(const struct analysis *a, const struct device_work *w, int direction)
{
	const char *name = analysis__name(a, w->name);

	return w->kind == KIND_MEMCPY && w->bytes >= LARGE && strstr(name, "Pageable") &&
	       strstr(name, direction_names[direction]);
}

static int visit_work(const struct analysis *a, void *state, const struct device_work *w)
{
	struct copy_bandwidth *c = state;
	const int device = w->track->device;

	if (device < 0 || device >= MAX_DEVICES)
		return 0;
	if (w->kind == KIND_KERNEL)
		busy_time__add(&c->kernels[device], w->begin_ns, w->end_ns);
	for (int d = 0; d < DIRECTIONS; d++)
		if (w->kind == KIND_KERNEL || is_slow_copy(a, w, d))
			busy_time__add(&c->links[device][d].and_kernels, w->begin_ns, w->end_ns);
	return 0;
}

static int visit(const struct analysis *a, void *state, const struct batch *b)
{
	int err = 0;

	for (size_t i = 0; i < b->track_cnt && !err; i++) {
		const struct track *t = b->tracks[i].track;

		if (t->kind != TRACK_DEVICE || t->device < 0 || t->device >= MAX_DEVICES)
			continue;
		for (const struct span *s = b->tracks[i].roots; s && !err; s = s->next_sibling) {
			if (s->kind == KIND_MEMCPY)
				err = add_copy(a, state, t->device, s);
		}
	}
	return err;
}

/* Bytes/ns, or GB/s; 0: not known. */
static double link_rate(const struct analysis *a, const struct link *l, int device)
{
	const struct device_info *info = device_infos__at(&a->devices, device);

	if (l->rates[LINK_COPIES - 1] > 0)
		return l->rates[LINK_COPIES - 1];
	return info ? CARRIED * device_info__link_rate(info) / 1e9 : 0;
}

/* The time that copies at the link's rate would save, while no kernel runs. */
static uint64_t saved_ns(const struct analysis *a, struct copy_bandwidth *c, int device, int d)
{
	struct link *l = &c->links[device][d];
	const double link = link_rate(a, l, device);
	const double rate = l->ns ? (double)l->bytes / (double)l->ns : 0;
	uint64_t alone_ns;

	if (link <= 0 || !l->cnt || rate >= link * SLOW)
		return 0;
	alone_ns = l->and_kernels.total_ns - c->kernels[device].total_ns;
	return finding__of_clock(a, (uint64_t)((double)alone_ns * (1 - rate / link)));
}

/* Where the link's rate comes from. */
static void explain_link(const struct analysis *a, const struct link *l, int device, char *text,
			 size_t size)
{
	const struct device_info *info = device_infos__at(&a->devices, device);

	if (l->rates[LINK_COPIES - 1] > 0 || !info)
		snprintf(text, size,
			 "the page-locked ones of this recording show what the link can do");
	else
		snprintf(text, size,
			 "PCIe of %.1f GT/s and %u lanes carries %.1f, of which copies of "
			 "page-locked memory are taken to reach %.0f %%",
			 info->link_mts / 1e3, info->link_width, device_info__link_rate(info) / 1e9,
			 100 * CARRIED);
}

static void explain(const struct analysis *a, const struct link *l, int device,
		    const char *direction, struct finding *f)
{
	const bool measured = l->rates[LINK_COPIES - 1] > 0;
	struct top_operator top;
	const bool has_top = by_operator__top(a, &l->by, &top);
	char link[160];

	explain_link(a, l, device, link, sizeof(link));
	snprintf(f->what, sizeof(f->what),
		 "Large copies of pageable memory (%s) run at %.1f GB/s, of %s %.1f.", direction,
		 (double)l->bytes / (double)l->ns, measured ? "page-locked at" : "the link's",
		 link_rate(a, l, device));
	snprintf(f->evidence, sizeof(f->evidence),
		 "%.1f copies a step of %.1f MB on average; %s%s%s",
		 (double)l->cnt / (double)a->steps.calls, (double)l->bytes / (double)l->cnt / 1e6,
		 link, has_top ? "; most in " : "", has_top ? top.text : "");
	snprintf(f->next, sizeof(f->next),
		 "copy from page-locked memory: pin_memory=True in the data loader, or "
		 "tensor.pin_memory(), with non_blocking=True");
}

static int judge(const struct analysis *a, void *state, struct finding *f)
{
	struct copy_bandwidth *c = state;
	uint64_t best_ns = 0;
	int device = 0, direction = 0;

	for (int i = 0; i < MAX_DEVICES; i++) {
		for (int d = 0; d < DIRECTIONS && c->has_copies[i]; d++) {
			const uint64_t ns = saved_ns(a, c, i, d);

			if (ns <= best_ns)
				continue;
			best_ns = ns;
			device = i;
			direction = d;
		}
	}
	if (!best_ns || finding__percent(a, best_ns) < WORTH_SAYING)
		return 0;
	f->cost_ns = finding__per_step(a, best_ns);
	explain(a, &c->links[device][direction], device, direction_names[direction], f);
	return 1;
}

static void clean(void *state)
{
	struct copy_bandwidth *c = state;

	for (int i = 0; i < MAX_DEVICES; i++) {
		for (int d = 0; d < DIRECTIONS; d++) {
			stat_map__free(&c->links[i][d].by.map);
		}
	}
}

const struct finding_rule finding_copy_bandwidth = {
	.key = "copy_bandwidth",
	.rests_on_device = true,
	.state_size = sizeof(struct copy_bandwidth),
	.visit = visit,
	.visit_work = visit_work,
	.judge = judge,
	.clean = clean,
};
