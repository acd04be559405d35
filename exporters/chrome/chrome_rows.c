// SPDX-License-Identifier: BSD-2-Clause
#include "exporters/chrome/chrome_rows.h"
#include "common/util.h"

#define SYNC_TID                                                                                   \
	1000000			/* as in Kineto: row of a stream's synchronisations = stream +     \
				   this */
#define LANE_TID	5000000 /* above any thread id (kernel: PID_MAX_LIMIT is 4194304) */
#define LANES_MAX	256
#define COLLECTIVES_TID 6000000

/* Only kernels and copies have thousandths. HTA rounds times inwards, so a span below a microsecond
 * might last -1. So calls and synchronisations are in whole microseconds. */
static void row__set(struct chrome_row *row, uint64_t pid, uint64_t tid, bool device,
		     int64_t stream)
{
	row->pid = pid;
	row->tid = tid;
	row->device = device;
	row->thousandths = device && stream != STREAM_ALL;
	row->stream = stream;
	row->head_len =
		(size_t)snprintf(row->head, sizeof(row->head),
				 ",\"pid\":%llu,\"tid\":%llu,\"ts\":", (unsigned long long)pid,
				 (unsigned long long)tid);
}

int chrome_rows__make(const struct recording *r, struct chrome_rows *out)
{
	*out = (struct chrome_rows){.track_cnt = recording__track_cnt(r)};
	out->main = calloc((size_t)out->track_cnt + 1, sizeof(*out->main));
	out->sync = calloc((size_t)out->track_cnt + 1, sizeof(*out->sync));
	if (!out->main || !out->sync) {
		chrome_rows__free(out);
		return -ENOMEM;
	}
	for (uint32_t id = 1; id <= out->track_cnt; id++) {
		const struct track *t = recording__track(r, id);

		if (!t)
			continue;
		if (t->kind == TRACK_DEVICE) {
			const uint64_t device = t->device < 0 ? 0 : (uint64_t)t->device;
			const int64_t stream =
				t->stream == STREAM_ALL ? STREAM_ALL : t->stream & INT32_MAX;
			const uint64_t tid = stream == STREAM_ALL ? 0 : (uint64_t)stream;

			row__set(&out->main[id], device, tid, true, stream);
			row__set(&out->sync[id], device, tid + SYNC_TID, true, stream);
			out->sync[id].thousandths = false;
		} else {
			row__set(&out->main[id], t->pid, t->tid, false, 0);
		}
	}
	return 0;
}

void chrome_rows__free(struct chrome_rows *rows)
{
	for (uint32_t id = 0; rows->main && rows->sync && id <= rows->track_cnt; id++) {
		free(rows->main[id].open);
		free(rows->sync[id].open);
	}
	for (size_t i = 0; i < rows->lane_cnt; i++) {
		free(rows->lanes[i]->open);
		free(rows->lanes[i]);
	}
	for (size_t i = 0; i < rows->collective_cnt; i++) {
		free(rows->collectives[i]->open);
		free(rows->collectives[i]);
	}
	free(rows->collectives);
	free(rows->main);
	free(rows->sync);
	free(rows->lanes);
	*rows = (struct chrome_rows){0};
}

struct chrome_row *chrome_rows__find(struct chrome_rows *rows, uint32_t track, bool sync)
{
	if (!track || track > rows->track_cnt || !rows->main[track].head_len)
		return NULL;
	return sync && rows->main[track].device ? &rows->sync[track] : &rows->main[track];
}

static bool row__is_free(const struct chrome_row *row, uint64_t ts_ns)
{
	return !row->open_cnt || row->open[0].end_ns <= ts_ns;
}

struct chrome_row *chrome_rows__lane(struct chrome_rows *rows, uint64_t pid, uint64_t ts_ns,
				     bool *fresh)
{
	struct chrome_row *row;
	size_t i;

	*fresh = false;
	for (i = 0; i < rows->lane_cnt; i++)
		if (rows->lanes[i]->pid == pid && row__is_free(rows->lanes[i], ts_ns))
			return rows->lanes[i];
	if (rows->lane_cnt == LANES_MAX)
		return rows->lanes[LANES_MAX - 1];
	row = calloc(1, sizeof(*row));
	if (!row || ARRAY_PUSH(rows->lanes, rows->lane_cnt, rows->lane_cap, row)) {
		free(row);
		return NULL;
	}
	row__set(row, pid, LANE_TID + i, false, 0);
	*fresh = true;
	return row;
}

struct chrome_row *chrome_rows__collectives(struct chrome_rows *rows, uint64_t pid, bool *fresh)
{
	struct chrome_row *row;

	*fresh = false;
	for (size_t i = 0; i < rows->collective_cnt; i++)
		if (rows->collectives[i]->pid == pid)
			return rows->collectives[i];
	row = calloc(1, sizeof(*row));
	if (!row ||
	    ARRAY_PUSH(rows->collectives, rows->collective_cnt, rows->collective_cap, row)) {
		free(row);
		return NULL;
	}
	row__set(row, pid, COLLECTIVES_TID, false, 0);
	*fresh = true;
	return row;
}

static void row__leave(struct chrome_row *row, uint64_t ts_ns)
{
	while (row->open_cnt && row->open[row->open_cnt - 1].end_ns <= ts_ns)
		row->open_cnt--;
}

uint64_t chrome_row__later_begin(struct chrome_row *row, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t parent_end_ns;

	row__leave(row, begin_ns);
	if (!row->open_cnt)
		return begin_ns;
	parent_end_ns = row->open[row->open_cnt - 1].end_ns;
	if (end_ns <= parent_end_ns || end_ns - parent_end_ns <= parent_end_ns - begin_ns)
		return begin_ns;
	return parent_end_ns;
}

struct chrome_open *chrome_row__enter(struct chrome_row *row, uint64_t *begin_ns, uint64_t *end_ns)
{
	struct chrome_open o = {.operator_id = CHROME_NO_ID, .correlation = CHROME_NO_ID};

	if (*begin_ns < row->last_ns)
		*begin_ns = row->last_ns;
	row->last_ns = *begin_ns;
	if (*end_ns < *begin_ns)
		*end_ns = *begin_ns;
	row__leave(row, *begin_ns);
	if (row->open_cnt) {
		o = row->open[row->open_cnt - 1];
		if (*end_ns > o.end_ns)
			*end_ns = o.end_ns;
	}
	o.end_ns = *end_ns;
	if (ARRAY_PUSH(row->open, row->open_cnt, row->open_cap, o))
		return NULL;
	return &row->open[row->open_cnt - 1];
}
