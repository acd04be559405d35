// SPDX-License-Identifier: BSD-2-Clause
#include "common/util.h"
#include "exporters/chrome/chrome_writer.h"
#include "exporters/parts/facts.h"

#define DEVICE_SORT 5000000 /* as in Kineto: sorts devices after all processes */

static void put_meta(struct chrome_writer *w, const char *kind, uint64_t pid, uint64_t tid,
		     const char *key, const char *value)
{
	text_file__print(w->out,
			 "%s{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%llu,\"tid\":%llu,\"ts\":0,"
			 "\"args\":{\"%s\":%s}}",
			 w->any ? ",\n" : "", kind, (unsigned long long)pid,
			 (unsigned long long)tid, key, value);
	w->any = true;
}

static void put_sort_index(struct chrome_writer *w, const char *kind, uint64_t pid, uint64_t tid,
			   uint64_t index)
{
	char text[24];

	*text__u64(text, index) = '\0';
	put_meta(w, kind, pid, tid, "sort_index", text);
}

static void put_process(struct chrome_writer *w, const struct recording *r,
			const struct chrome_row *row, const char *name)
{
	char label[128] = "\"CPU\"", clock[64];

	if (row->device) {
		facts__clock(r, (int64_t)row->pid, clock, sizeof(clock));
		snprintf(label, sizeof(label), "\"GPU %llu%s\"", (unsigned long long)row->pid,
			 clock);
	}
	put_meta(w, "process_name", row->pid, 0, "name", name);
	put_meta(w, "process_labels", row->pid, 0, "labels", label);
	put_sort_index(w, "process_sort_index", row->pid, 0,
		       row->device ? DEVICE_SORT + row->pid : row->pid);
}

static void put_thread(struct chrome_writer *w, const struct chrome_row *row, const char *name)
{
	put_meta(w, "thread_name", row->pid, row->tid, "name", name);
	put_sort_index(w, "thread_sort_index", row->pid, row->tid, row->tid);
}

static bool is_first_of_process(const struct chrome_rows *rows, uint32_t id)
{
	for (uint32_t before = id; --before;)
		if (rows->main[before].head_len && rows->main[before].pid == rows->main[id].pid &&
		    rows->main[before].device == rows->main[id].device)
			return false;
	return true;
}

static char *thread_name(const struct track *t, const struct chrome_row *row)
{
	auto_free char *text = NULL;
	int len;

	if (row->device && row->stream == STREAM_ALL)
		len = asprintf(&text, "all streams synchronisation");
	else if (row->device)
		len = asprintf(&text, "stream %lld%s", (long long)row->stream,
			       row->tid == (uint64_t)row->stream ? "" : " synchronisation");
	else
		len = asprintf(&text, "thread %u%s%s%s", t->tid, t->name ? " (" : "",
			       t->name ? t->name : "", t->name ? ")" : "");
	if (len < 0) {
		text = NULL;
		return NULL;
	}
	return json__quote(text);
}

int chrome_writer__metadata(struct chrome_writer *w, const struct recording *r)
{
	const json_t *process = json_object_get(recording__meta(r), "process");
	const char *comm = json_string_value(json_object_get(process, "comm"));
	auto_free char *process_name = json__quote(comm ? comm : "process");

	if (!process_name)
		return -ENOMEM;
	for (uint32_t id = 1; id <= w->rows.track_cnt; id++) {
		const struct track *track = recording__track(r, id);
		const bool has_sync = timeline__categories(w->timeline, id) & (1u << CAT_SYNC);

		if (!track)
			continue;
		if (is_first_of_process(&w->rows, id))
			put_process(w, r, &w->rows.main[id], process_name);
		/* waits are the only events on the row of all streams */
		const bool no_main = w->rows.main[id].device && track->stream == STREAM_ALL;

		for (int sync = no_main; sync <= (has_sync && w->rows.main[id].device); sync++) {
			const struct chrome_row *row = chrome_rows__find(&w->rows, id, sync);
			auto_free char *name = thread_name(track, row);

			if (!name)
				return -ENOMEM;
			put_thread(w, row, name);
		}
	}
	return text_file__error(w->out);
}
