// SPDX-License-Identifier: BSD-2-Clause
/* The recordings of one side of a comparison. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "analysis/diff/diff_internal.h"
#include "common/err.h"
#include "analysis/message_table.h"
#include "common/file_client.h"
#include "common/util.h"

/* of the steps' time without a processor; the machine was busy if also ... */
#define READY_BUSY 0.05
#define CPU_BUSY   0.95 /* ... so much of its processors was used */

/* Incomplete recordings can be compared, but limits on them cannot be judged. */
static int check_whole(const char *path, const struct recording *r, bool has_limits)
{
	const struct recording_damage *damage = recording__damage(r);
	const char *how = damage->bad_chunks ? "damaged" : "cut off";

	if (!damage->bad_chunks && !damage->truncated)
		return 0;
	if (has_limits)
		return err__set(-EIO, MESSAGE_LIMIT_RECORDING_INCOMPLETE, path, how);
	log__warn(MESSAGE_COMPARED_RECORDING_INCOMPLETE, path, how);
	return 0;
}

static double cpu_busy_of(const struct recording *r)
{
	const json_t *cpu = json_object_get(recording__summary(r), "cpu");
	const double busy = json_number_value(json_object_get(cpu, "busy_ns"));
	const double idle = json_number_value(json_object_get(cpu, "idle_ns"));

	return busy + idle > 0 ? busy / (busy + idle) : -1;
}

static int read_window(struct diff_window *w, const struct diff_opts *opts)
{
	int err = recording__open(w->path, &w->r);

	if (!err)
		err = series_set__read(w->r, opts->raw_times, &w->set);
	if (!err && !w->set.step_cnt)
		err = err__set(-EINVAL, MESSAGE_COMPARED_STEPS_MISSING, w->path);
	if (!err)
		err = left_out__read(w->r, LEFT_OUT_OPERATORS, w->set.step_cnt, &w->estimates);
	if (err)
		return err;
	w->cpu_busy = cpu_busy_of(w->r);
	return check_whole(w->path, w->r, opts->limit_cnt);
}

static int add_window(struct diff_side *s, const char *path, size_t len,
		      const struct diff_opts *opts)
{
	struct diff_window *w = &s->windows[s->cnt];

	w->path = strndup(path, len);
	if (!w->path)
		return -ENOMEM;
	s->cnt++;
	return read_window(w, opts);
}

static bool is_file(const char *path)
{
	auto_close int fd = in_file__open(path);

	return fd >= 0;
}

/* A file whose name has a comma is one file, not a list. */
int diff_side__read(const char *paths, const struct diff_opts *opts, struct diff_side *out)
{
	const bool is_one = !strchr(paths, ',') || is_file(paths);
	size_t cnt = 1;
	int err = 0;

	for (const char *c = paths; *c; c++)
		cnt += *c == ',';
	*out = (struct diff_side){.windows = calloc(cnt, sizeof(*out->windows))};
	if (!out->windows)
		return -ENOMEM;
	for (const char *path = paths, *end; path && !err; path = *end ? end + 1 : NULL) {
		end = is_one ? path + strlen(path) : strchrnul(path, ',');
		err = add_window(out, path, (size_t)(end - path), opts);
	}
	return err;
}

void diff_side__free(struct diff_side *s)
{
	for (size_t i = 0; i < s->cnt; i++) {
		series_set__free(&s->windows[i].set);
		left_out_rows__free(&s->windows[i].estimates);
		recording__close(s->windows[i].r);
		free(s->windows[i].path);
	}
	free(s->windows);
}

uint64_t diff_side__steps(const struct diff_side *s)
{
	uint64_t cnt = 0;

	for (size_t i = 0; i < s->cnt; i++)
		cnt += s->windows[i].set.step_cnt;
	return cnt;
}

bool diff_side__is_timed(const struct diff_side *s)
{
	for (size_t i = 0; i < s->cnt; i++)
		if (s->windows[i].set.timer_only)
			return true;
	return false;
}

bool diff_window__was_busy(const struct diff_window *w)
{
	return w->set.ready_share >= READY_BUSY || w->cpu_busy >= CPU_BUSY;
}

/* ---- what differs beside the times ---- */

static const json_t *fact_of(const struct recording *r, const char *object, const char *key)
{
	const json_t *meta = recording__meta(r);

	return json_object_get(object ? json_object_get(meta, object) : meta, key);
}

/* Does any other window, of either side, have another value than the first? */
static bool differs(const struct diff *d, const char *object, const char *key)
{
	const struct diff_side *sides[] = {&d->a, &d->b};
	const json_t *first = fact_of(d->a.windows[0].r, object, key);

	for (size_t i = 0; i < ARRAY_SIZE(sides); i++)
		for (size_t k = 0; k < sides[i]->cnt; k++) {
			const json_t *fact = fact_of(sides[i]->windows[k].r, object, key);

			if (first && fact && !json_equal(first, fact))
				return true;
		}
	return false;
}

void diff__warn_unlike(const struct diff *d)
{
	static const struct {
		const char *object, *key, *what; /* object: NULL for the metadata itself */
	} facts[] = {
		{"steps", "source", "what tells of steps"},
		{NULL, "detail", "--detail"},
		{NULL, "max_overhead", "--max-overhead"},
		{NULL, "record_shapes", "--record-shapes"},
		{NULL, "with_stack", "--with-stack"},
		{"process", "argv", "the job's command"},
		{"host", "name", "host"},
		{"runtime", "framework", "framework"},
		{"runtime", "version", "version of the framework"},
	};
	char what[160] = "";
	size_t len = 0;

	for (size_t i = 0; i < ARRAY_SIZE(facts); i++)
		if (differs(d, facts[i].object, facts[i].key))
			len += (size_t)snprintf(what + len, sizeof(what) - len, "%s%s",
						len ? ", " : "", facts[i].what);
	if (len)
		log__warn(MESSAGE_RECORDINGS_DIFFER, what);
}
