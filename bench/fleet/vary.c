// SPDX-License-Identifier: BSD-2-Clause
/*
 * vary: copies recordings with other times. Each line of standard input is an order, a JSON object:
 *   in, out        paths
 *   meta, summary  objects that are merged into those of the recording
 *   time           factor of all times
 *   loader         factor of the time in the data loader; what comes after it is later
 *   collective     factor of the spans of collectives, which end as before
 *   kernel         [name, factor] of the device time of one kernel, which begins as before */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "recording/recording.h"

#define LOADER_CNT 256

struct vary {
	struct recording *r;
	struct recording_writer *w;
	uint32_t *names, *tracks;
	double time, loader, collective, kernel;
	const char *kernel_name;
	uint64_t base_ns; /* stays where it is */
	struct {
		uint64_t begin_ns, end_ns;
	} loaders[LOADER_CNT];
	size_t loader_cnt;
};

static void check(int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "vary: %s: %s\n", what, strerror(-err));
	exit(1);
}

static double factor_of(const json_t *order, const char *key)
{
	const json_t *value = json_object_get(order, key);

	return value ? json_number_value(value) : 1;
}

/* Where a time comes to lie. It grows with the time, so what nests still nests. */
static uint64_t later(const struct vary *v, uint64_t t)
{
	double ns = (double)t - (double)v->base_ns;

	for (size_t i = 0; i < v->loader_cnt; i++) {
		const uint64_t end = t < v->loaders[i].end_ns ? t : v->loaders[i].end_ns;

		if (end > v->loaders[i].begin_ns)
			ns += (v->loader - 1) * (double)(end - v->loaders[i].begin_ns);
	}
	return v->base_ns + (uint64_t)(int64_t)(ns * v->time);
}

static void find_loaders(struct vary *v)
{
	struct recording_cursor *c;
	struct event e;

	check(recording_cursor__open(v->r, &c), "cursor");
	while (recording_cursor__next(c, &e) > 0) {
		if (e.type != EVENT_SPAN || recording__category(v->r, e.name) != CAT_DATALOADER ||
		    v->loader_cnt == LOADER_CNT)
			continue;
		v->loaders[v->loader_cnt].begin_ns = e.ts_ns;
		v->loaders[v->loader_cnt++].end_ns = e.ts_ns + e.dur_ns;
	}
	recording_cursor__close(c);
}

static void copy_names(struct vary *v)
{
	v->names = calloc((size_t)recording__name_cnt(v->r) + 1, sizeof(*v->names));
	v->tracks = calloc((size_t)recording__track_cnt(v->r) + 1, sizeof(*v->tracks));
	check(v->names && v->tracks ? 0 : -ENOMEM, "names");
	for (uint32_t id = 1; id <= recording__name_cnt(v->r); id++) {
		const struct name *n = recording__name(v->r, id);

		if (n)
			v->names[id] =
				recording_writer__name(v->w, n->category, n->text, n->schema);
	}
	for (uint32_t id = 1; id <= recording__track_cnt(v->r); id++) {
		const struct track *t = recording__track(v->r, id);

		if (t)
			v->tracks[id] = recording_writer__track(v->w, t);
	}
}

static void copy_event(const struct vary *v, struct event e)
{
	const struct name *name = recording__name(v->r, e.name);
	const enum span_category category = recording__category(v->r, e.name);
	const uint64_t begin = later(v, e.ts_ns), end = later(v, e.ts_ns + e.dur_ns);

	e.ts_ns = begin;
	e.dur_ns = end - begin;
	if (category == CAT_COMMUNICATION && e.type == EVENT_ASYNC) {
		e.dur_ns = (uint64_t)((double)e.dur_ns * v->collective);
		e.ts_ns = end - e.dur_ns;
	} else if (e.type == EVENT_DEVICE && name && v->kernel_name &&
		   !strcmp(name->text, v->kernel_name)) {
		e.dur_ns = (uint64_t)((double)e.dur_ns * v->kernel);
	}
	e.name = v->names[e.name];
	e.track = v->tracks[e.track];
	e.stack = 0;
	check(recording_writer__event(v->w, &e), "event");
}

static void copy_events(const struct vary *v)
{
	struct recording_cursor *c;
	struct event e;

	check(recording_cursor__open(v->r, &c), "cursor");
	while (recording_cursor__next(c, &e) > 0)
		copy_event(v, e);
	recording_cursor__close(c);
}

static void copy_sched(const struct vary *v)
{
	const struct sched_row *rows;
	const size_t cnt = recording__sched(v->r, &rows);

	for (size_t i = 0; i < cnt; i++) {
		struct sched_row row = rows[i];

		row.track = v->tracks[row.track];
		row.reason = v->names[row.reason];
		row.ns = (uint64_t)((double)row.ns * v->time);
		check(recording_writer__sched(v->w, &row), "sched");
	}
}

static json_t *merged(const json_t *object, const json_t *order, const char *key)
{
	json_t *copy = json_deep_copy(object), *other = json_object_get(order, key);

	if (other)
		check(json_object_update_recursive(copy, other) ? -EINVAL : 0, key);
	return copy;
}

static void vary(const json_t *order)
{
	struct vary v = {.time = factor_of(order, "time"),
			 .loader = factor_of(order, "loader"),
			 .collective = factor_of(order, "collective")};
	const char *in = json_string_value(json_object_get(order, "in"));
	const char *out = json_string_value(json_object_get(order, "out"));
	const json_t *kernel = json_object_get(order, "kernel");
	json_t *meta, *summary, *window;

	check(in && out ? 0 : -EINVAL, "order");
	v.kernel_name = json_string_value(json_array_get(kernel, 0));
	v.kernel = json_number_value(json_array_get(kernel, 1));
	check(recording__open(in, &v.r), in);
	meta = merged(recording__meta(v.r), order, "meta");
	summary = merged(recording__summary(v.r), order, "summary");
	check(recording_writer__create(out, meta, &v.w), out);
	window = json_array_get(json_object_get(summary, "windows"), 0);
	v.base_ns = (uint64_t)json_integer_value(json_object_get(window, "begin_ns"));
	if (v.loader != 1)
		find_loaders(&v);
	json_object_set_new(
		window, "end_ns",
		json_integer((json_int_t)later(
			&v, (uint64_t)json_integer_value(json_object_get(window, "end_ns")))));
	copy_names(&v);
	copy_events(&v);
	copy_sched(&v);
	check(recording_writer__close(v.w, summary), out);
	json_decref(summary);
	json_decref(meta);
	free(v.names);
	free(v.tracks);
	recording__close(v.r);
}

int main(void)
{
	char *line = NULL;
	size_t size = 0;

	while (getline(&line, &size, stdin) > 0) {
		json_t *order = json_loads(line, 0, NULL);

		check(order ? 0 : -EINVAL, "order");
		vary(order);
		json_decref(order);
	}
	free(line);
	return 0;
}
