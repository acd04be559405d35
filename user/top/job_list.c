// SPDX-License-Identifier: BSD-2-Clause
#include "top/job_list.h"
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/json_memory.h"
#include "common/json_number.h"
#include "common/text_char.h"
#include "common/util.h"

#define SECONDS_MAX 1e12 /* 30,000 years; a larger value is damaged */

const char *const job_phase_names[PHASE_CNT] = {
	[PHASE_FORWARD] = "forward", [PHASE_BACKWARD] = "backward", [PHASE_OPTIMIZER] = "optimizer",
	[PHASE_LOADER] = "loader",   [PHASE_OTHER] = "other",
};
const char *const job_order_names[ORDER_CNT] = {"name", "step time", "findings"};

bool job_identity__is(const struct job_identity *a, const struct job_identity *b)
{
	return a->uid == b->uid && !strcmp(a->name, b->name) &&
	       !strcmp(a->container, b->container) && !strcmp(a->pod, b->pod);
}

/* ---- values ---- */

static void copy_clean(char *to, size_t size, const char *text)
{
	size_t len = text ? strnlen(text, size - 1) : 0;

	memcpy(to, text ? text : "", len);
	to[len] = '\0';
	text__drop_cut_char(to);
	len = 0;
	for (size_t at = 0, bytes; to[at]; at += bytes) {
		int cols;

		bytes = text__char(to + at, &cols);
		if (text__is_hostile(to + at)) {
			to[len++] = '?';
		} else {
			memmove(to + len, to + at, bytes);
			len += bytes;
		}
	}
	to[len] = '\0';
}

static void take_text(char *to, size_t size, const json_t *object, const char *key)
{
	copy_clean(to, size, json_string_value(json_object_get(object, key)));
}

/* A number. `none` if it is missing or impossible. */
static double number(const json_t *value, double most, double none)
{
	const double v = json_is_number(value) ? json_number_value(value) : -1;

	return isfinite(v) && v >= 0 && v <= most ? v : none;
}

/* ---- a job out of its ranks ---- */

/* Finds a figure by name, or makes one. NULL: there are `max` already. */
static struct job_figure *figure_of(struct job_figure *list, size_t *cnt, size_t max,
				    const char *name)
{
	char clean[sizeof(list->name)];

	copy_clean(clean, sizeof(clean), name);
	for (size_t i = 0; i < *cnt; i++)
		if (!strcmp(list[i].name, clean))
			return &list[i];
	if (*cnt == max)
		return NULL;
	list[*cnt] = (struct job_figure){0};
	memcpy(list[*cnt].name, clean, sizeof(clean));
	return &list[(*cnt)++];
}

static enum job_phase phase_of(const char *name)
{
	static const struct {
		const char *name;
		enum job_phase phase;
	} known[] = {{"forward", PHASE_FORWARD},
		     {"backward", PHASE_BACKWARD},
		     {"optimization", PHASE_OPTIMIZER},
		     {"dataloader", PHASE_LOADER}};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (!strcmp(known[i].name, name))
			return known[i].phase;
	return PHASE_OTHER;
}

static void add_figures(struct job *j, json_t *row)
{
	const char *name;
	json_t *value;

	json_object_foreach(json_object_get(row, "phases"), name, value)
	{
		j->phases[phase_of(name)] += number(value, SECONDS_MAX, 0);
	}
	json_object_foreach(json_object_get(row, "operators"), name, value)
	{
		struct job_figure *f =
			figure_of(j->operators, &j->operator_cnt, JOB_OPERATORS, name);

		if (f) {
			f->value += number(value, SECONDS_MAX, 0);
			f->rank_cnt++;
		}
	}
	/* A count of 0: the latest window does not have the finding any more. */
	json_object_foreach(json_object_get(row, "findings"), name, value)
	{
		const double share = number(value, 1, 0);
		struct job_figure *f =
			share > 0 ? figure_of(j->findings, &j->finding_cnt, JOB_FINDINGS, name)
				  : NULL;

		if (f) {
			f->value = fmax(f->value, share);
			f->rank_cnt++;
		}
	}
}

static void sum_thread(struct job_threads *t, const struct job_thread *thread, size_t cnt)
{
	t->others.run += thread->run;
	t->others.runnable += thread->runnable;
	t->other_cnt += cnt;
}

/* Keeps the threads that ran most, in this order. */
static void insert_thread(struct job_threads *t, const struct job_thread *thread)
{
	size_t at = t->cnt;

	while (at && t->list[at - 1].run < thread->run)
		at--;
	if (t->cnt == JOB_THREADS)
		sum_thread(t, at < JOB_THREADS ? &t->list[--t->cnt] : thread, 1);
	if (at == JOB_THREADS)
		return;
	memmove(&t->list[at + 1], &t->list[at], (t->cnt - at) * sizeof(*t->list));
	t->list[at] = *thread;
	t->cnt++;
}

static struct job_thread thread_of(const json_t *row, const struct job_rank *r)
{
	struct job_thread thread = {
		.run = number(json_object_get(row, "run"), 1e6, 0),
		.runnable = number(json_object_get(row, "runnable"), 1e6, 0),
	};

	take_text(thread.name, sizeof(thread.name), row, "name");
	memcpy(thread.rank, r->rank, sizeof(thread.rank));
	return thread;
}

static void add_threads(struct job *j, const struct job_rank *r, const json_t *row)
{
	const json_t *others = json_object_get(row, "other_threads"), *thread;
	const struct job_thread other = thread_of(others, r);
	size_t i;

	json_array_foreach(json_object_get(row, "threads"), i, thread)
	{
		const struct job_thread t = thread_of(thread, r);

		insert_thread(&j->threads, &t);
	}
	sum_thread(&j->threads, &other, json__positive(others, "threads"));
	j->threads.has_more |= json_is_true(json_object_get(others, "more"));
}

static void add_rank(struct job *j, const struct job_rank *r)
{
	j->rank_cnt++;
	j->step_s = fmax(j->step_s, r->step_s);
	j->cpus = j->cpus < 0 || r->cpus < 0 ? -1 : j->cpus + r->cpus;
	j->gpus = j->gpus < 0 || r->gpus < 0 ? -1 : j->gpus + r->gpus;
	j->sampled += r->sampled;
	j->windows += r->windows;
}

static void take_devices(struct job_rank *r, const json_t *row)
{
	json_t *devices = json_object_get(row, "devices"), *value;
	const char *name;

	take_text(r->device_times, sizeof(r->device_times), row, "device_times");
	take_text(r->device_refused, sizeof(r->device_refused), row, "device_times_refused");
	json_object_foreach(devices, name, value)
	{
		struct job_figure *f = figure_of(r->devices, &r->device_cnt, JOB_DEVICES, name);

		if (f)
			f->value = number(value, 1, 0);
	}
	r->gpus = r->device_cnt ? 0 : -1;
	for (size_t i = 0; i < r->device_cnt; i++)
		r->gpus += r->devices[i].value;
}

static void take_rank(struct job_rank *r, const json_t *row)
{
	take_text(r->key.name, sizeof(r->key.name), row, "job_name");
	take_text(r->key.container, sizeof(r->key.container), row, "container_id");
	take_text(r->key.pod, sizeof(r->key.pod), row, "pod_uid");
	r->key.uid = (int64_t)json__positive(row, "uid");
	take_text(r->rank, sizeof(r->rank), row, "rank");
	take_text(r->state, sizeof(r->state), row, "state");
	take_text(r->framework, sizeof(r->framework), row, "framework");
	take_text(r->version, sizeof(r->version), row, "framework_version");
	take_text(r->step_rule, sizeof(r->step_rule), row, "step_rule");
	take_text(r->regression, sizeof(r->regression), row, "regression");
	take_text(r->file, sizeof(r->file), row, "latest_recording");
	r->pid = (int64_t)json__positive(row, "pid");
	r->steps = json__positive(row, "steps");
	r->sampled = json__positive(row, "sampled_steps");
	r->windows = json__positive(row, "windows");
	r->step_s = number(json_object_get(row, "step_seconds"), SECONDS_MAX, 0);
	r->cpus = number(json_object_get(row, "cpus"), 1e6, -1);
	take_devices(r, row);
}

/* ---- the list ---- */

/* Sorts "9" before "10". */
static int by_number(const char *a, const char *b)
{
	const size_t a_len = strspn(a, "0123456789"), b_len = strspn(b, "0123456789");

	if (a_len != b_len && !a[a_len] && !b[b_len])
		return a_len < b_len ? -1 : 1;
	return strcmp(a, b);
}

static int by_key(const struct job_identity *a, const struct job_identity *b)
{
	int order = strcmp(a->name, b->name);

	if (!order)
		order = (a->uid > b->uid) - (a->uid < b->uid);
	if (!order)
		order = strcmp(a->container, b->container);
	return order ? order : strcmp(a->pod, b->pod);
}

struct indexed_rank {
	struct job_rank rank;
	json_t *row;
};

static int by_job_and_rank(const void *a, const void *b)
{
	const struct indexed_rank *x = a, *y = b;
	const int order = by_key(&x->rank.key, &y->rank.key);

	return order ? order : by_number(x->rank.rank, y->rank.rank);
}

static int by_value(const void *a, const void *b)
{
	const struct job_figure *x = a, *y = b;

	return (x->value < y->value) - (x->value > y->value);
}

static void group(struct job_list *l, const struct indexed_rank *sorted)
{
	for (size_t i = 0; i < l->rank_cnt; i++) {
		const struct job_rank *r = &sorted[i].rank;
		struct job *j = l->cnt ? &l->jobs[l->cnt - 1] : NULL;

		l->ranks[i] = *r;
		if (!j || !job_identity__is(&j->key, &r->key)) {
			j = &l->jobs[l->cnt++];
			j->key = r->key;
			j->ranks = &l->ranks[i];
		}
		add_rank(j, r);
		add_figures(j, sorted[i].row);
		add_threads(j, r, sorted[i].row);
	}
	for (size_t i = 0; i < l->cnt; i++) {
		struct job *j = &l->jobs[i];

		qsort(j->operators, j->operator_cnt, sizeof(*j->operators), by_value);
		qsort(j->findings, j->finding_cnt, sizeof(*j->findings), by_value);
	}
}

static size_t count_jobs(const struct indexed_rank *sorted, size_t cnt)
{
	size_t jobs = 0;

	for (size_t i = 0; i < cnt; i++)
		jobs += !i || !job_identity__is(&sorted[i - 1].rank.key, &sorted[i].rank.key);
	return jobs;
}

static int fill(struct job_list *l, const json_t *rows)
{
	const size_t cnt = json_array_size(rows);
	auto_free struct indexed_rank *sorted = NULL;

	l->rank_cnt = cnt < JOB_RANKS ? cnt : JOB_RANKS;
	l->left_out = cnt - l->rank_cnt;
	sorted = calloc(l->rank_cnt + 1, sizeof(*sorted));
	l->ranks = calloc(l->rank_cnt + 1, sizeof(*l->ranks));
	if (!sorted || !l->ranks)
		return -ENOMEM;
	for (size_t i = 0; i < l->rank_cnt; i++) {
		sorted[i].row = json_array_get(rows, i);
		take_rank(&sorted[i].rank, sorted[i].row);
	}
	qsort(sorted, l->rank_cnt, sizeof(*sorted), by_job_and_rank);
	l->jobs = calloc(count_jobs(sorted, l->rank_cnt) + 1, sizeof(*l->jobs));
	if (!l->jobs)
		return -ENOMEM;
	group(l, sorted);
	return 0;
}

int job_list__parse(const char *text, size_t len, struct job_list **out)
{
	json_t *all = NULL;
	int err = json_memory__parse(text, len, &all);
	struct job_list *l = calloc(1, sizeof(*l));
	const json_t *rows = json_object_get(all, "ranks");

	*out = NULL;
	if (!err && !l)
		err = -ENOMEM;
	if (!err && !json_is_array(rows))
		err = -EBADMSG;
	if (!err)
		err = fill(l, rows);
	json_decref(all);
	if (err)
		job_list__free(l);
	else
		*out = l;
	return err;
}

static int by_name(const void *a, const void *b)
{
	const struct job *x = a, *y = b;

	return by_key(&x->key, &y->key);
}

static int by_step(const void *a, const void *b)
{
	const struct job *x = a, *y = b;
	const int order = (x->step_s < y->step_s) - (x->step_s > y->step_s);

	return order ? order : by_name(a, b);
}

static int by_findings(const void *a, const void *b)
{
	const struct job *x = a, *y = b;
	const int order = (x->finding_cnt < y->finding_cnt) - (x->finding_cnt > y->finding_cnt);

	return order ? order : by_name(a, b);
}

void job_list__sort(struct job_list *l, enum job_order order)
{
	static int (*const compare[ORDER_CNT])(const void *, const void *) = {by_name, by_step,
									      by_findings};

	qsort(l->jobs, l->cnt, sizeof(*l->jobs), compare[order]);
}

double job__phase_sum(const struct job *j)
{
	double sum = 0;

	for (size_t i = 0; i < PHASE_CNT; i++)
		sum += j->phases[i];
	return sum;
}

static size_t count_in(const struct job *j, const char *state)
{
	size_t cnt = 0;

	for (size_t i = 0; i < j->rank_cnt; i++)
		cnt += !strcmp(j->ranks[i].state, state);
	return cnt;
}

bool job__is(const struct job *j, const char *state)
{
	return count_in(j, state) == j->rank_cnt;
}

bool job__has(const struct job *j, const char *state)
{
	return count_in(j, state) > 0;
}

void job_list__free(struct job_list *l)
{
	if (!l)
		return;
	free(l->jobs);
	free(l->ranks);
	free(l);
}

/* ---- history ---- */

struct job_past {
	struct job_identity key;
	uint64_t windows;
	double recent[JOB_RECENT];
	size_t cnt;
};

static void append(struct job_past *p, double step_s)
{
	if (p->cnt == JOB_RECENT)
		memmove(p->recent, p->recent + 1, (--p->cnt) * sizeof(*p->recent));
	p->recent[p->cnt++] = step_s;
}

int job_history__note(struct job_history *h, struct job_list *l)
{
	struct job_past *now = calloc(l->cnt + 1, sizeof(*now));

	if (!now)
		return -ENOMEM;
	for (size_t i = 0; i < l->cnt; i++) {
		struct job *j = &l->jobs[i];

		now[i].key = j->key;
		for (size_t k = 0; k < h->cnt; k++)
			if (job_identity__is(&h->items[k].key, &j->key))
				now[i] = h->items[k];
		if (j->step_s > 0 && (now[i].windows != j->windows || !now[i].cnt))
			append(&now[i], j->step_s);
		now[i].windows = j->windows;
		j->recent_cnt = now[i].cnt;
		memcpy(j->recent, now[i].recent, sizeof(j->recent));
	}
	free(h->items);
	h->items = now;
	h->cnt = l->cnt;
	return 0;
}

void job_history__free(struct job_history *h)
{
	free(h->items);
	*h = (struct job_history){0};
}
