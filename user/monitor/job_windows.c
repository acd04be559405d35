// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/job_windows.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "monitor/message_table.h"
#include "common/util.h"
#include "monitor/window_reader.h"

#define CHECK_NS 5000000000ull /* after it opens, by which sessions were told */
#define FEWEST	 2	       /* ranks whose recordings are read together */

static struct job_window *find(struct job_windows *j, uint32_t id)
{
	for (size_t i = 0; i < j->cnt; i++)
		if (j->items[i].id == id)
			return &j->items[i];
	return NULL;
}

bool job_windows__has(const struct job_windows *j, const struct rank_info *rank)
{
	for (size_t i = 0; i < j->cnt; i++)
		if (rank_info__is_same_job(&j->items[i].job, rank))
			return true;
	return false;
}

uint32_t job_windows__plan(struct job_windows *j, const struct rank_info *rank, uint64_t at_ns)
{
	const struct job_window w = {.id = ++j->next_id, .job = *rank, .at_ns = at_ns};

	return ARRAY_PUSH(j->items, j->cnt, j->cap, w) ? 0 : w.id;
}

static void forget(struct job_windows *j, struct job_window *w)
{
	free(w->members);
	*w = j->items[--j->cnt];
}

/* ---- the report ---- */

static void begin_next(struct job_windows *j);

static void finish(struct job_windows *j, int json)
{
	struct job_window *w = find(j, j->reading);

	j->reading = 0;
	j->results[json < 0	? JOB_WINDOW_FAILED
		   : w->missing ? JOB_WINDOW_PARTIAL
				: JOB_WINDOW_OK]++;
	if (json >= 0)
		j->done(j->ctx, w->id, json);
	forget(j, w);
	begin_next(j);
}

static void on_report(void *ctx, int fd)
{
	finish(ctx, fd);
}

static size_t recordings(const struct job_window *w)
{
	size_t cnt = 0;

	for (size_t i = 0; i < w->cnt; i++)
		cnt += *w->members[i].file != '\0';
	return cnt;
}

static int read_together(struct job_windows *j, const struct job_window *w)
{
	static const char *const first[] = {"proftrace", "report", "--quiet", "--format", "json"};
	const size_t cnt = ARRAY_SIZE(first) + recordings(w);
	auto_free const char **argv = calloc(cnt + 1, sizeof(*argv));
	auto_free char *paths = calloc(w->cnt, PATH_MAX);
	size_t n = ARRAY_SIZE(first);

	if (!argv || !paths)
		return err__set(-ENOMEM, MESSAGE_JOB_WINDOW_WITHOUT_MEMORY);
	memcpy(argv, first, sizeof(first));
	for (size_t i = 0; i < w->cnt; i++) {
		char *path = paths + i * PATH_MAX;

		if (!*w->members[i].file)
			continue;
		snprintf(path, PATH_MAX, "%s/%s", j->directory, w->members[i].file);
		argv[n++] = path;
	}
	j->reading = w->id;
	return output_child__start(&j->report, (char *const *)argv, WINDOW_JSON_MAX);
}

static struct job_window *find_complete(struct job_windows *j)
{
	for (size_t i = 0; i < j->cnt; i++)
		if (j->items[i].is_complete)
			return &j->items[i];
	return NULL;
}

static void begin_next(struct job_windows *j)
{
	struct job_window *w = j->reading ? NULL : find_complete(j);
	int err = w ? read_together(j, w) : 0;

	if (!err)
		return;
	log__warn(MESSAGE_JOB_WINDOW_NOT_READ, w->job.key.name, err__take(err));
	j->reading = w->id;
	finish(j, -1);
}

void job_windows__init(struct job_windows *j, struct event_loop *loop)
{
	j->report = (struct output_child){.loop = loop, .done = on_report, .ctx = j};
}

/* ---- its ranks ---- */

bool job_windows__add(struct job_windows *j, uint32_t id, uint32_t watch)
{
	struct job_window *w = find(j, id);

	return w && !ARRAY_PUSH(w->members, w->cnt, w->cap, (struct job_member){.watch = watch});
}

void job_windows__miss(struct job_windows *j, uint32_t id, enum job_missing why)
{
	struct job_window *w = find(j, id);

	if (!w)
		return;
	w->missing++;
	j->missing[why]++;
}

static bool is_decided(const struct job_window *w)
{
	for (size_t i = 0; i < w->cnt; i++)
		if (!w->members[i].is_decided)
			return false;
	return true;
}

static void complete(struct job_windows *j, struct job_window *w)
{
	if (recordings(w) < FEWEST) {
		j->results[JOB_WINDOW_FAILED]++;
		forget(j, w);
		return;
	}
	w->is_complete = true;
	begin_next(j);
}

void job_windows__decide(struct job_windows *j, uint32_t id, uint32_t watch, const char *file,
			 enum job_missing why)
{
	struct job_window *w = find(j, id);

	for (size_t i = 0; w && i < w->cnt; i++) {
		struct job_member *member = &w->members[i];

		if (member->watch != watch || member->is_decided)
			continue;
		member->is_decided = true;
		if (file)
			snprintf(member->file, sizeof(member->file), "%s", file);
		else
			job_windows__miss(j, id, why);
		if (is_decided(w))
			complete(j, w);
		return;
	}
}

/* ---- time ---- */

uint64_t job_windows__due(const struct job_windows *j)
{
	uint64_t due = output_child__due(&j->report);

	for (size_t i = 0; i < j->cnt; i++)
		if (!j->items[i].is_checked)
			due = earlier(due, j->items[i].at_ns + CHECK_NS);
	return due;
}

/* A window may end with its last rank: nothing of it is used afterwards. */
static void check(struct job_windows *j, const struct job_window *w)
{
	const uint32_t id = w->id;

	for (size_t i = 0; (w = find(j, id)) && i < w->cnt; i++)
		if (!j->takes_part(j->ctx, w->members[i].watch, id))
			job_windows__decide(j, id, w->members[i].watch, NULL, JOB_MISSING_BUSY);
}

void job_windows__tick(struct job_windows *j, uint64_t now_ns)
{
	output_child__tick(&j->report, now_ns);
	for (size_t i = j->cnt; i-- > 0;) {
		struct job_window *w = &j->items[i];

		if (w->is_checked || now_ns < w->at_ns + CHECK_NS)
			continue;
		w->is_checked = true;
		check(j, w);
	}
}

void job_windows__stop(struct job_windows *j)
{
	output_child__stop(&j->report);
	while (j->cnt)
		forget(j, &j->items[j->cnt - 1]);
	free(j->items);
	j->items = NULL;
}
