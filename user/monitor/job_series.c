// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/job_series.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/util.h"

/* Series of a rank without its phases, operators and findings. These are the series of its
 * histogram (each bucket, +Inf, sum, count), job_info, steps, sampled steps, overhead, windows,
 * operator "other", regression, its size and its resets, straggler. */
#define RANK_SERIES (SERIES_BUCKETS + 3 + 10)

double job_series__bucket(size_t index)
{
	return pow(10, -3 + 5.0 * (double)index / (SERIES_BUCKETS - 1));
}

static bool take_series(struct job_series *s, size_t cnt)
{
	if (s->series_cnt + cnt > s->series_max) {
		s->dropped += cnt;
		return false;
	}
	s->series_cnt += cnt;
	return true;
}

struct rank_series *job_series__find(struct job_series *s, uint32_t id)
{
	for (size_t i = 0; i < s->cnt; i++)
		if (s->items[i]->info.id == id)
			return s->items[i];
	return NULL;
}

const struct rank_series *job_series__of_pid(const struct job_series *s, int pid)
{
	const struct rank_series *latest = NULL;

	for (size_t i = 0; i < s->cnt; i++) {
		const struct rank_series *r = s->items[i];

		if (r->info.pid != pid)
			continue;
		if (!r->ended_ns)
			return r;
		if (!latest || r->ended_ns > latest->ended_ns)
			latest = r;
	}
	return latest;
}

static bool is_same_process(const struct rank_info *a, const struct rank_info *b)
{
	return a->pid == b->pid && a->start_ticks == b->start_ticks;
}

static struct rank_series *find_process(struct job_series *s, const struct rank_info *info)
{
	for (size_t i = 0; i < s->cnt; i++)
		if (s->items[i]->ended_ns && rank_info__is_same_job(&s->items[i]->info, info) &&
		    is_same_process(&s->items[i]->info, info))
			return s->items[i];
	return NULL;
}

/* Finds series with equal labels. Labels name user and job, not the container. */
static struct rank_series *find_label(struct job_series *s, const struct rank_info *info,
				      const char *rank)
{
	for (size_t i = 0; i < s->cnt; i++)
		if (s->items[i]->info.uid == info->uid &&
		    !strcmp(s->items[i]->info.key.name, info->key.name) &&
		    !strcmp(s->items[i]->rank, rank))
			return s->items[i];
	return NULL;
}

static bool is_free(const struct rank_series *same, const struct rank_info *info)
{
	return !same ||
	       (same->ended_ns && !same->lives && rank_info__is_same_job(&same->info, info));
}

/* Two living ranks never share a label, even if their variables are equal. */
static struct rank_series *find_place(struct job_series *s, const struct rank_info *info,
				      char rank[16])
{
	struct rank_series *same = find_process(s, info);

	if (same)
		return same;
	if (info->rank >= 0) {
		snprintf(rank, 16, "%d", info->rank);
		same = find_label(s, info, rank);
		if (is_free(same, info))
			return same;
	}
	for (unsigned int i = 0;; i++) {
		snprintf(rank, 16, "u%u", i);
		same = find_label(s, info, rank);
		if (is_free(same, info))
			return same;
	}
}

static void drop_baseline(struct rank_series *r)
{
	if (r->cusum.warm_up_cnt)
		r->cusum_resets++;
	r->cusum = (struct cusum){0};
	r->baseline[0] = '\0';
	r->alarm = (struct rank_alarm){0};
}

/* The counters continue. The figures of the latest window belong to the earlier process, so they
 * are dropped. */
static void become_another(struct rank_series *r)
{
	drop_baseline(r);
	r->step_rule[0] = r->framework[0] = r->version[0] = r->detail[0] = r->file[0] = '\0';
	r->median_s = 0;
	r->past_cnt = 0;
	r->joint = (struct joint_figures){0};
	r->device_cnt = 0;
	r->threads = (struct thread_figures){0};
	for (size_t i = 0; i < r->finding_cnt; i++)
		r->findings[i].value = 0;
}

/* A new session counts steps from 0. */
static void go_on(struct rank_series *r, const struct rank_info *info)
{
	if (!is_same_process(&r->info, info))
		become_another(r);
	r->cpus = -1;
	r->steps_before += r->steps;
	r->watched_before_s += r->watched_s;
	r->learn_before_s += r->learn_s;
	r->unread_before_s += r->unread_s;
	r->steps = 0;
	r->watched_s = r->learn_s = r->unread_s = 0;
	r->ended_ns = 0;
	r->lives = false;
	r->info = *info;
}

struct rank_series *job_series__begin(struct job_series *s, const struct rank_info *info)
{
	char rank[16];
	struct rank_series *r = find_place(s, info, rank);

	if (r) {
		go_on(r, info);
		return r;
	}
	if (!take_series(s, RANK_SERIES))
		return NULL;
	r = calloc(1, sizeof(*r));
	if (!r || ARRAY_PUSH(s->items, s->cnt, s->cap, r)) {
		free(r);
		s->series_cnt -= RANK_SERIES;
		return NULL;
	}
	r->info = *info;
	r->begun_ns = clock__ns(CLOCK_REALTIME);
	r->cpus = -1;
	memcpy(r->rank, rank, sizeof(r->rank));
	return r;
}

void job_series__set_state(struct job_series *s, const struct rank_state *state)
{
	struct rank_series *r = job_series__find(s, state->id);

	if (!r)
		return;
	r->state = state->state;
	if (state->steps > r->steps)
		r->steps = state->steps;
	r->watched_s = state->watched_s;
	r->learn_s = state->learn_s;
	r->unread_s = state->unread_s;
	r->duty = state->duty;
	r->cpus = state->cpus;
	r->growth = state->growth;
	r->device_times = state->device_times;
	memcpy(r->device_why, state->device_why, sizeof(r->device_why));
	r->lead_s = state->lead_s;
	r->is_asked = state->is_asked;
}

/* The figure with this name among the rank's figures. NULL: there is none, and no place is free. */
static struct named_figure *find_or_add(struct job_series *s, struct named_figure *list,
					size_t *cnt, size_t max, const char *name)
{
	for (size_t i = 0; i < *cnt; i++)
		if (!strcmp(list[i].name, name))
			return &list[i];
	if (*cnt == max || !take_series(s, 1))
		return NULL;
	snprintf(list[*cnt].name, sizeof(list[*cnt].name), "%s", name);
	list[*cnt].value = 0;
	return &list[(*cnt)++];
}

/* A figure without a free series is left out. */
static void add_to(struct job_series *s, struct named_figure *list, size_t *cnt, size_t max,
		   const char *name, double value)
{
	struct named_figure *figure = find_or_add(s, list, cnt, max, name);

	if (figure)
		figure->value += value;
}

static size_t fine_bucket(double seconds)
{
	const double index =
		seconds > 0 ? ceil(ldexp(log2(seconds), SERIES_FINE_SCALE)) - 1 - SERIES_FINE_FIRST
			    : 0;

	return (size_t)fmax(0, fmin(SERIES_FINE - 1, index));
}

static void add_steps(struct rank_series *r, const struct figures *f)
{
	for (size_t i = 0; i < f->step_cnt; i++) {
		const double seconds = (double)f->step_ns[i] / 1e9;
		size_t bucket = 0;

		while (bucket < SERIES_BUCKETS && seconds > job_series__bucket(bucket))
			bucket++;
		r->buckets[bucket]++;
		r->fine_buckets[fine_bucket(seconds)]++;
		r->sampled_s += seconds;
	}
	r->sampled_cnt += f->step_cnt;
}

/* Counters never shrink. An operator with a series keeps it. An operator without one stays in
 * "other". */
static void add_names(struct job_series *s, struct rank_series *r, const struct figures *f)
{
	for (size_t i = 0; i < f->phase_cnt; i++)
		add_to(s, r->phases, &r->phase_cnt, SERIES_PHASES, f->phases[i].name,
		       f->phases[i].value);
	for (size_t i = 0; i < f->operator_cnt; i++) {
		const char *name = f->operators[i].name;
		struct named_figure *op = strcmp(name, SERIES_OTHER) != 0
						  ? find_or_add(s, r->operators, &r->operator_cnt,
								SERIES_OPERATORS, name)
						  : NULL;

		*(op ? &op->value : &r->other_s) += f->operators[i].value;
	}
	r->other_s += f->other_s;
	for (size_t i = 0; i < r->finding_cnt; i++)
		r->findings[i].value = 0;
	for (size_t i = 0; i < f->finding_cnt; i++) {
		struct named_figure *finding = find_or_add(s, r->findings, &r->finding_cnt,
							   SERIES_FINDINGS, f->findings[i].name);

		if (finding)
			finding->value = fmax(finding->value, f->findings[i].value);
	}
}

static void count_device_window(struct job_series *s, struct rank_series *r)
{
	const bool is_expected =
		r->device_times == DEVICE_TIMES_RECORDED || r->device_times == DEVICE_TIMES_REFUSED;

	if (r->device_cnt || is_expected)
		add_to(s, r->device_windows, &r->device_windows_cnt, ARRAY_SIZE(r->device_windows),
		       r->device_cnt ? "ok" : "missing", 1);
}

static void add_devices(struct job_series *s, struct rank_series *r, const struct figures *f)
{
	const double steps_s = figures__mean_s(f) * (double)f->step_cnt;

	for (size_t i = 0; i < f->device_cnt; i++) {
		const struct named_figure *d = &f->devices[i];

		add_to(s, r->device_busy, &r->device_busy_cnt, SERIES_DEVICES, d->name,
		       d->value * steps_s);
		add_to(s, r->device_sampled, &r->device_sampled_cnt, SERIES_DEVICES, d->name,
		       steps_s);
	}
	memcpy(r->devices, f->devices, sizeof(r->devices));
	r->device_cnt = f->device_cnt;
	count_device_window(s, r);
}

/* After a change of the step rule, earlier step times cannot be compared. */
static void check_rule(struct rank_series *r, const char *rule)
{
	if (r->step_rule[0] && strcmp(r->step_rule, rule) != 0)
		drop_baseline(r);
	snprintf(r->step_rule, sizeof(r->step_rule), "%s", rule);
}

void job_series__spend(struct rank_series *r, double overhead, double seconds)
{
	overhead = fmax(overhead, r->growth);
	if (!(overhead > 0)) {
		r->open_s += seconds;
		return;
	}
	r->overhead = fmin(overhead, 1);
	r->spent_s += seconds * r->overhead;
}

bool job_series__overhead(const struct rank_series *r, double *ratio)
{
	const double learn_s = r->learn_before_s + r->learn_s,
		     unpriced_s = r->open_s + r->unread_before_s + r->unread_s + learn_s,
		     watched_s = r->watched_before_s + r->watched_s + learn_s;

	if (!(watched_s > 0) || !(r->overhead > 0))
		return false;
	*ratio = (r->spent_s + unpriced_s * r->overhead) / watched_s;
	return true;
}

static void add_past(struct rank_series *r)
{
	struct past_window *at;

	if (r->past_cnt == SERIES_PAST)
		memmove(r->past, r->past + 1, --r->past_cnt * sizeof(*r->past));
	at = &r->past[r->past_cnt++];
	memcpy(at->file, r->file, sizeof(at->file));
	at->median_s = r->median_s;
	at->at_s = (double)clock__ns(CLOCK_REALTIME) / 1e9;
}

/* The window whose median step is nearest to that of the warm-up. Older ones may be removed. */
static void choose_baseline(struct rank_series *r)
{
	double nearest = INFINITY;

	for (size_t i = 0; i < r->past_cnt; i++) {
		const double distance = fabs(log(r->past[i].median_s) - r->cusum.centre);

		if (!(distance < nearest))
			continue;
		nearest = distance;
		memcpy(r->baseline, r->past[i].file, sizeof(r->baseline));
	}
}

static void set_regression(struct rank_series *r)
{
	snprintf(r->regression.name, sizeof(r->regression.name), "%s",
		 *r->alarm.figures.cause ? r->alarm.figures.cause : "unknown");
	r->regression.value = cusum__change(&r->cusum);
}

static bool judge_step(struct rank_series *r)
{
	const bool has_changed = cusum__add(&r->cusum, r->median_s);

	if (cusum__is_warm(&r->cusum) && !*r->baseline)
		choose_baseline(r);
	if (has_changed)
		r->alarm = (struct rank_alarm){0};
	if (has_changed && r->cusum.alarm && r->past_cnt >= CUSUM_PERSIST)
		r->alarm.since_s = r->past[r->past_cnt - CUSUM_PERSIST].at_s;
	set_regression(r);
	return has_changed;
}

bool job_series__set_alarm(struct rank_series *r, const struct alarm_made *made,
			   const struct alarm_figures *f)
{
	if (!r->cusum.alarm)
		return false;
	r->alarm.is_compared = true;
	r->alarm.figures = *f;
	snprintf(r->alarm.baseline, sizeof(r->alarm.baseline), "%s", made->baseline);
	snprintf(r->alarm.recording, sizeof(r->alarm.recording), "%s", made->recording);
	set_regression(r);
	return true;
}

bool job_series__add_window(struct job_series *s, struct rank_series *r, const struct figures *f,
			    const struct window_ready *window)
{
	check_rule(r, f->step_rule);
	memcpy(r->framework, f->framework, sizeof(r->framework));
	memcpy(r->version, f->version, sizeof(r->version));
	memcpy(r->detail, f->detail, sizeof(r->detail));
	snprintf(r->file, sizeof(r->file), "%s", window->file);
	if (window->job_window) {
		r->joint.id = window->job_window;
		memcpy(r->joint.file, r->file, sizeof(r->joint.file));
	}
	r->threads = f->threads;
	r->window_cnt++;
	r->median_s = (double)f->median_ns / 1e9;
	add_past(r);
	add_steps(r, f);
	add_names(s, r, f);
	add_devices(s, r, f);
	return judge_step(r);
}

static void set_joint(struct rank_series *r, const struct job_figures *f)
{
	struct joint_figures *joint = &r->joint;
	const bool is_straggler = f->pid == r->info.pid;

	memcpy(joint->read_file, joint->file, sizeof(joint->read_file));
	joint->is_judged = f->is_judged;
	joint->wait_ratio = is_straggler ? f->wait_ratio : 0;
	snprintf(joint->phase, sizeof(joint->phase), "%s", is_straggler ? f->phase : "");
}

void job_series__add_job_window(struct job_series *s, uint32_t id, const struct job_figures *f,
				void (*change)(const struct rank_series *r))
{
	for (size_t i = 0; i < s->cnt; i++) {
		struct rank_series *r = s->items[i];
		const bool was_straggler = r->joint.wait_ratio > 0;

		if (!id || r->joint.id != id)
			continue;
		set_joint(r, f);
		if (was_straggler != (r->joint.wait_ratio > 0))
			change(r);
	}
}

void job_series__end(struct job_series *s, uint32_t id, bool lives, uint64_t now_ns)
{
	struct rank_series *r = job_series__find(s, id);

	if (!r)
		return;
	r->ended_ns = now_ns;
	r->lives = lives;
}

uint64_t job_series__steps(const struct rank_series *r)
{
	return r->steps_before + r->steps;
}

bool job_series__counts(const struct rank_series *r)
{
	return r->watched_s > 0 && !(r->ended_ns && r->lives);
}

static void forget(struct job_series *s, size_t i)
{
	struct rank_series *r = s->items[i];

	s->series_cnt -= RANK_SERIES + r->phase_cnt + r->operator_cnt + r->finding_cnt +
			 r->device_busy_cnt + r->device_sampled_cnt + r->device_windows_cnt;
	free(r);
	s->items[i] = s->items[--s->cnt];
}

static bool is_over(const struct rank_series *r, uint64_t now_ns)
{
	return r->ended_ns && !r->lives && now_ns - r->ended_ns >= SERIES_KEEP_NS;
}

void job_series__expire(struct job_series *s, uint64_t now_ns)
{
	for (size_t i = s->cnt; i-- > 0;)
		if (is_over(s->items[i], now_ns))
			forget(s, i);
}

void job_series__free(struct job_series *s)
{
	while (s->cnt)
		forget(s, s->cnt - 1);
	free(s->items);
	*s = (struct job_series){0};
}
