// SPDX-License-Identifier: BSD-2-Clause
/* anonymize IN OUT: copies a recording without what it says of the machine and its paths. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "recording/recording.h"

static void check(int err)
{
	if (!err)
		return;
	fprintf(stderr, "anonymize: %s\n", strerror(-err));
	exit(1);
}

static json_t *meta_of(const struct recording *r)
{
	json_t *meta = json_deep_copy(recording__meta(r));
	json_t *process = json_object_get(meta, "process");

	json_object_set_new(process, "exe", json_string("/usr/bin/python3"));
	json_object_set_new(process, "argv", json_pack("[s, s]", "python", "train.py"));
	json_object_set_new(meta, "host", json_pack("{s:s}", "name", "host"));
	json_object_set_new(json_object_get(meta, "runtime"), "why", json_string("its maps"));
	json_object_del(meta, "command");
	return meta;
}

static uint32_t *copy_names(const struct recording *r, struct recording_writer *w)
{
	uint32_t *ids = calloc((size_t)recording__name_cnt(r) + 1, sizeof(*ids));

	for (uint32_t id = 1; ids && id <= recording__name_cnt(r); id++) {
		const struct name *n = recording__name(r, id);

		if (n)
			ids[id] = recording_writer__name(w, n->category, n->text, n->schema);
	}
	return ids;
}

static uint32_t *copy_tracks(const struct recording *r, struct recording_writer *w)
{
	uint32_t *ids = calloc((size_t)recording__track_cnt(r) + 1, sizeof(*ids));

	for (uint32_t id = 1; ids && id <= recording__track_cnt(r); id++) {
		const struct track *t = recording__track(r, id);

		if (t)
			ids[id] = recording_writer__track(w, t);
	}
	return ids;
}

/* Where a file is installed says nothing of the job. */
static const char *plain_path(const char *file)
{
	const char *installed = strstr(file, "/site-packages/"), *base = strrchr(file, '/');

	return installed ? installed + 1 : base ? base + 1 : file;
}

static uint32_t *copy_frames(const struct recording *r, struct recording_writer *w)
{
	uint32_t *ids = calloc((size_t)recording__frame_cnt(r) + 1, sizeof(*ids));

	for (uint32_t id = 1; ids && id <= recording__frame_cnt(r); id++) {
		const struct code_frame *f = recording__frame(r, id);
		const struct code *c = f ? recording__code(r, f->code) : NULL;
		const uint32_t code = c ? recording_writer__code(w, plain_path(c->file),
								 c->function, c->first_line)
					: 0;

		if (f)
			ids[id] = recording_writer__frame(w, ids[f->parent], code, f->line);
	}
	return ids;
}

static void copy_events(const struct recording *r, struct recording_writer *w,
			const uint32_t *names, const uint32_t *tracks, const uint32_t *frames)
{
	struct recording_cursor *c;
	struct event e;
	int err;

	check(recording_cursor__open(r, &c));
	while ((err = recording_cursor__next(c, &e)) > 0) {
		e.name = names[e.name];
		e.track = tracks[e.track];
		e.stack = frames[e.stack];
		check(recording_writer__event(w, &e));
	}
	check(err);
	recording_cursor__close(c);
}

static void copy_rows(const struct sched_row *rows, size_t cnt, struct recording_writer *w,
		      int (*write)(struct recording_writer *w, const struct sched_row *row),
		      const uint32_t *names, const uint32_t *tracks)
{
	for (size_t i = 0; i < cnt; i++) {
		struct sched_row row = rows[i];

		row.track = tracks[row.track];
		row.reason = names[row.reason];
		check(write(w, &row));
	}
}

int main(int argc, char **argv)
{
	const struct sched_row *rows;
	size_t cnt;
	struct recording_writer *w;
	uint32_t *names, *tracks, *frames;
	struct recording *r;
	json_t *meta, *summary;

	if (argc != 3)
		return 2;
	check(recording__open(argv[1], &r));
	meta = meta_of(r);
	check(recording_writer__create(argv[2], meta, &w));
	names = copy_names(r, w);
	tracks = copy_tracks(r, w);
	frames = copy_frames(r, w);
	if (!names || !tracks || !frames)
		check(-ENOMEM);
	copy_events(r, w, names, tracks, frames);
	cnt = recording__sched(r, &rows);
	copy_rows(rows, cnt, w, recording_writer__sched, names, tracks);
	cnt = recording__entries(r, &rows);
	copy_rows(rows, cnt, w, recording_writer__entry, names, tracks);
	summary = json_deep_copy(recording__summary(r));
	check(recording_writer__close(w, summary));
	json_decref(summary);
	json_decref(meta);
	free(names);
	free(tracks);
	free(frames);
	recording__close(r);
	return 0;
}
