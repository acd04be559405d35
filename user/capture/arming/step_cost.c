// SPDX-License-Identifier: BSD-2-Clause
#include "capture/arming/step_cost.h"
#include "bpf/skeleton.h"
#include "capture/session.h"
#include "common/err.h"
#include "common/median.h"
#include "common/util.h"
#include <math.h>
#include <string.h>

enum {
	PARTS = 4, /* parts of each side's steps */
};
/* ratio of standard deviation to median absolute deviation in a normal distribution */
#define SD_OF_MAD     1.4826
#define SE_OF_MEDIAN  1.2533 /* ratio of the standard errors of median and mean */
#define IN_95_PERCENT 1.96
#define T_OF_PARTS                                                                                 \
	(2.45 / IN_95_PERCENT) /* Student's t for the parts of both sides, 6 degrees of freedom */

/* ---- statistics ---- */

static double median_of(const struct step_runs *runs)
{
	struct step_runs sorted = *runs;

	return (double)median__of(sorted.ns, sorted.cnt);
}

/* The correlation of each step with the next one. Similar neighbours carry less information. */
static double correlation(const struct step_runs *runs, double center)
{
	double whole = 0, next = 0;

	for (size_t i = 0; i < runs->cnt; i++) {
		const double d = (double)runs->ns[i] - center;

		whole += d * d;
		if (i + 1 < runs->cnt)
			next += d * ((double)runs->ns[i + 1] - center);
	}
	return whole > 0 ? fmin(fmax(next / whole, 0), 0.9) : 0;
}

/* The squared error from parts of consecutive steps. If a machine is slower for some steps, the
 * parts differ by more than single steps show. 0: too few steps. */
static double error_of_parts(const struct step_runs *runs, double center)
{
	const size_t each = runs->cnt / PARTS;
	double sum = 0;

	if (each < STEP_COST_LEAST)
		return 0;
	for (size_t i = 0; i < PARTS; i++) {
		struct step_runs part = {.cnt = each};
		double d;

		memcpy(part.ns, &runs->ns[i * each], each * sizeof(part.ns[0]));
		d = median_of(&part) - center;
		sum += d * d;
	}
	return T_OF_PARTS * T_OF_PARTS * sum / (PARTS - 1) / PARTS;
}

/* Squared standard error of the median. */
static double error_squared(const struct step_runs *runs, double center)
{
	struct step_runs deviations = {.cnt = runs->cnt};
	const double r = correlation(runs, center);
	double se;

	for (size_t i = 0; i < runs->cnt; i++)
		deviations.ns[i] = (uint64_t)fabs((double)runs->ns[i] - center);
	se = SE_OF_MEDIAN * SD_OF_MAD * median_of(&deviations) / sqrt((double)runs->cnt);
	return fmax(se * se * (1 + r) / (1 - r), error_of_parts(runs, center));
}

int step_cost__difference(const struct step_runs *with, const struct step_runs *without,
			  struct step_difference *out)
{
	const double a = median_of(with), b = median_of(without);
	double half;

	if (with->cnt < STEP_COST_LEAST || without->cnt < STEP_COST_LEAST)
		return -ENODATA;
	half = IN_95_PERCENT * sqrt(error_squared(with, a) + error_squared(without, b));
	*out = (struct step_difference){a - b, a - b - half, a - b + half};
	return 0;
}

/* ---- the steps ---- */

void step_cost__read(const struct pt_ctl *ctl, uint64_t seq, uint64_t cnt, struct step_runs *out)
{
	const uint64_t late = ctl->step_seq - seq;
	const uint64_t most = late + 2 < PT_STEP_RING ? PT_STEP_RING - 2 - late : 0;

	out->cnt = 0;
	cnt = cnt < most ? cnt : most;
	cnt = cnt < seq ? cnt : seq;
	for (uint64_t i = seq - cnt; i < seq; i++) {
		const uint64_t begin = ctl->run.at[i % PT_STEP_RING];
		const uint64_t end = ctl->run.at[(i + 1) % PT_STEP_RING];

		if (begin && end > begin)
			out->ns[out->cnt++] = end - begin;
	}
}

uint64_t step_cost__run_ns(const struct pt_ctl *ctl, uint64_t cnt)
{
	struct step_runs runs;
	uint64_t sum = 0;

	step_cost__read(ctl, ctl->step_seq, cnt, &runs);
	for (size_t i = 0; i < runs.cnt; i++)
		sum += runs.ns[i];
	return runs.cnt ? sum / runs.cnt : 0;
}

/* The boundary at which the window has closed, or the last one inside the window. */
static uint64_t last_boundary(const struct session *s)
{
	const struct pt_ctl *ctl = s->probes.ctl;

	for (uint64_t i = 0; i + 1 < PT_STEP_RING && i < ctl->step_seq; i++)
		if (ctl->step_ns[(ctl->step_seq - i) % PT_STEP_RING] <= s->window.close_ns)
			return ctl->step_seq - i;
	return ctl->step_seq;
}

static void window_open(struct session *s)
{
	s->step_cost = (struct step_cost){.process_ns = process__cpu_ns(s->opts->pid)};
}

static void window_close(struct session *s)
{
	const struct pt_ctl *ctl = s->probes.ctl;
	const uint64_t steps = s->window.end_step - s->window.first_step;
	const uint64_t seq = last_boundary(s);
	const uint64_t begin = ctl->run.opened, end = ctl->run.at[seq % PT_STEP_RING];
	const uint64_t length_ns = s->window.close_ns - s->window.open_ns;
	const uint64_t in_steps_ns = ctl->step_ns[seq % PT_STEP_RING] - s->window.open_ns;
	const uint64_t process_ns = process__cpu_ns(s->opts->pid);

	if (!s->rule.boundary && process_ns > s->step_cost.process_ns)
		s->step_cost.run_ns = process_ns - s->step_cost.process_ns;
	if (!s->rule.boundary || !steps || !begin || end <= begin || !in_steps_ns)
		return;
	/* We assume that the time after the last whole step is like the steps. */
	s->step_cost.run_ns =
		(uint64_t)((double)(end - begin) * (double)length_ns / (double)in_steps_ns);
	step_cost__read(ctl, seq, steps, &s->step_cost.with);
}

void step_cost__describe(const struct step_cost *c, json_t *cost)
{
	struct step_difference d;

	if (c->run_ns)
		json_object_set_new(cost, "run_ns", json_integer((json_int_t)c->run_ns));
	if (step_cost__difference(&c->with, &c->without, &d))
		return;
	json_object_set_new(cost, "measured",
			    json_pack("{s:I, s:I, s:f, s:f, s:f}", "with_steps",
				      (json_int_t)c->with.cnt, "without_steps",
				      (json_int_t)c->without.cnt, "added_ns", d.added_ns, "low_ns",
				      d.low_ns, "high_ns", d.high_ns));
}

const struct component component_step_cost = {
	.name = "step cost",
	.window_open = window_open,
	.window_close = window_close,
};
