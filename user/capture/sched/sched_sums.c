// SPDX-License-Identifier: BSD-2-Clause
#include "capture/sched/sched_sums.h"
#include "common/util.h"
#include "recording/event.h"
#include <string.h>

int sched_sums__boundary(struct sched_sums *s, uint64_t ts_ns, uint64_t step)
{
	struct sched_boundary b = {.ts_ns = ts_ns, .step = step};

	return ARRAY_PUSH(s->boundaries, s->boundary_cnt, s->boundary_cap, b);
}

/* The number of boundaries at or before ts. The last of them opened the step of ts. */
static size_t boundaries_until(const struct sched_sums *s, uint64_t ts)
{
	return COUNT_FIRST(s->boundary_cnt, i, s->boundaries[i].ts_ns <= ts);
}

static void row_set_step(const struct sched_sums *s, struct sched_sum_row *row, uint64_t ts)
{
	size_t idx = boundaries_until(s, ts);

	row->step_ns = idx ? s->boundaries[idx - 1].ts_ns : 0;
	row->step = idx ? s->boundaries[idx - 1].step : EVENT_NO_ID;
}

static int row_push(struct sched_sums *s, const struct sched_sum_row *row, const char comm[16])
{
	struct sched_sum_row copy = *row;

	memcpy(copy.comm, comm, sizeof(copy.comm));
	copy.comm[sizeof(copy.comm) - 1] = '\0';
	return ARRAY_PUSH(s->rows, s->row_cnt, s->row_cap, copy);
}

int sched_sums__entry(struct sched_sums *s, const struct pt_entry_key *key,
		      const struct pt_entry_sum *sum)
{
	const struct sched_sum_row row = {
		.step_ns = key->step_ns,
		.step = EVENT_NO_ID,
		.ns = sum->ns,
		.cnt = sum->cnt,
		.tid = key->tid,
		.tgid = key->tgid,
		.reason = key->reason,
		.state = key->state,
	};

	return row_push(s, &row, sum->comm);
}

int sched_sums__record(struct sched_sums *s, const struct pt_sched_record *record)
{
	const struct pt_sched_step *step = &record->step;
	struct sched_sum_row row = {
		.step_ns = step->step_ns,
		.step = EVENT_NO_ID,
		.ns = step->run_ns,
		.cpu_ns = step->cpu_ns,
		.cnt = step->run_cnt,
		.tid = record->tid,
		.tgid = record->tgid,
		.state = PT_SCHED_RUN,
	};
	int err = row.ns ? row_push(s, &row, record->comm) : 0;

	row.cpu_ns = 0;
	for (size_t i = 0; i < PT_SCHED_PARTS && step->parts[i].ns && !err; i++) {
		const struct pt_sched_part *part = &step->parts[i];

		row.state = part->what >> PT_SCHED_STATE_SHIFT;
		row.reason = part->what & ((1u << PT_SCHED_STATE_SHIFT) - 1);
		row.ns = part->ns;
		row.cnt = part->cnt;
		err = row_push(s, &row, record->comm);
	}
	return err;
}

static int cpu_push(struct sched_sums *s, uint32_t cpu, uint32_t state, uint64_t window_ns,
		    uint64_t ns)
{
	const struct sched_sum_row row = {
		.step_ns = window_ns,
		.step = EVENT_NO_ID,
		.ns = ns,
		.tid = cpu,
		.tgid = PT_SCHED_CPU,
		.state = state,
	};

	return ns ? ARRAY_PUSH(s->rows, s->row_cnt, s->row_cap, row) : 0;
}

int sched_sums__cpu(struct sched_sums *s, uint32_t cpu, const struct pt_sched_cpu_sum *sum)
{
	int err = cpu_push(s, cpu, PT_SCHED_RUN, sum->window_ns, sum->busy_ns);

	return err ? err : cpu_push(s, cpu, PT_SCHED_BLOCKED, sum->window_ns, sum->idle_ns);
}

int sched_sums__interval(struct sched_sums *s, const struct pt_sched_span *span, uint64_t open_ns,
			 uint64_t close_ns)
{
	uint64_t begin = span->begin_ns > open_ns ? span->begin_ns : open_ns;
	uint64_t end = span->end_ns < close_ns ? span->end_ns : close_ns;
	double on_cpu = span->end_ns > span->begin_ns
				? (double)span->cpu_ns / (double)(span->end_ns - span->begin_ns)
				: 0;

	for (uint64_t at = begin, next; at < end; at = next) {
		size_t idx = boundaries_until(s, at);
		struct sched_sum_row row = {
			.cnt = at == begin,
			.tid = span->tid,
			.tgid = span->tgid,
			.reason = span->reason,
			.state = span->state,
		};
		int err;

		next = idx < s->boundary_cnt ? s->boundaries[idx].ts_ns : end;
		if (next > end)
			next = end;
		row_set_step(s, &row, at);
		row.ns = next - at;
		row.cpu_ns = (uint64_t)((double)row.ns * on_cpu);
		err = row_push(s, &row, span->comm);
		if (err)
			return err;
	}
	return 0;
}

#define COMPARE(a, b)                                                                              \
	if ((a) != (b))                                                                            \
	return (a) < (b) ? -1 : 1

static int cut_compare(const void *pa, const void *pb)
{
	const struct sched_cut *a = pa, *b = pb;

	COMPARE(a->tgid, b->tgid);
	COMPARE(a->tid, b->tid);
	COMPARE(a->begin_ns, b->begin_ns);
	COMPARE(a->through_ns, b->through_ns);
	return 0;
}

int sched_sums__cut(struct sched_sums *s, const struct pt_sched_span *spans, size_t cnt,
		    uint64_t open_ns)
{
	int err = 0;

	for (size_t i = 0; i < cnt && !err; i++) {
		struct sched_cut cut = {
			.begin_ns = spans[i].begin_ns,
			.through_ns = spans[i].end_ns,
			.tid = spans[i].tid,
			.tgid = spans[i].tgid,
		};

		err = sched_sums__interval(s, &spans[i], open_ns, spans[i].end_ns);
		if (!err)
			err = ARRAY_PUSH(s->cuts, s->cut_cnt, s->cut_cap, cut);
	}
	if (s->cut_cnt)
		qsort(s->cuts, s->cut_cnt, sizeof(*s->cuts), cut_compare);
	return err;
}

/* The time up to which the interval was counted already. Its begin if it was not. */
static uint64_t counted_through(const struct sched_sums *s, const struct pt_sched_span *span)
{
	struct sched_cut key = {
		.begin_ns = span->begin_ns,
		.through_ns = UINT64_MAX,
		.tid = span->tid,
		.tgid = span->tgid,
	};
	size_t cnt = COUNT_FIRST(s->cut_cnt, i, cut_compare(&s->cuts[i], &key) < 0);

	if (!cnt || s->cuts[cnt - 1].tid != key.tid || s->cuts[cnt - 1].tgid != key.tgid ||
	    s->cuts[cnt - 1].begin_ns != key.begin_ns)
		return span->begin_ns;
	return s->cuts[cnt - 1].through_ns;
}

int sched_sums__span(struct sched_sums *s, const struct pt_sched_span *span)
{
	uint64_t from = counted_through(s, span);
	struct pt_sched_span rest = *span;

	if (from >= span->end_ns)
		return 0;
	rest.cpu_ns = (uint64_t)((double)span->cpu_ns * (double)(span->end_ns - from) /
				 (double)(span->end_ns - span->begin_ns));
	rest.begin_ns = from;
	return ARRAY_PUSH(s->spans, s->span_cnt, s->span_cap, rest);
}

static int row_compare(const void *pa, const void *pb)
{
	const struct sched_sum_row *a = pa, *b = pb;

	COMPARE(a->step_ns, b->step_ns);
	COMPARE(a->tgid, b->tgid);
	COMPARE(a->tid, b->tid);
	COMPARE(a->state, b->state);
	COMPARE(a->reason, b->reason);
	return 0;
}

static void rows_merge(struct sched_sums *s)
{
	size_t out = 0;

	if (!s->row_cnt)
		return;
	qsort(s->rows, s->row_cnt, sizeof(*s->rows), row_compare);
	for (size_t i = 1; i < s->row_cnt; i++) {
		struct sched_sum_row *to = &s->rows[out], *from = &s->rows[i];

		if (row_compare(to, from) != 0) {
			s->rows[++out] = *from;
			continue;
		}
		to->ns += from->ns;
		to->cpu_ns += from->cpu_ns;
		to->cnt += from->cnt;
		if (!to->comm[0])
			memcpy(to->comm, from->comm, sizeof(to->comm));
	}
	s->row_cnt = out + 1;
}

int sched_sums__window(struct sched_sums *s, uint64_t open_ns, uint64_t close_ns, size_t *cnt)
{
	*cnt = 0;
	for (size_t i = 0; i < s->span_cnt; i++) {
		int err = sched_sums__interval(s, &s->spans[i], open_ns, close_ns);

		if (err)
			return err;
	}
	/* The kernel also splits at boundaries that are no steps of ours, from the time when the
	 * rule was learned. */
	for (size_t i = 0; i < s->row_cnt; i++)
		if (s->rows[i].step_ns < close_ns)
			row_set_step(s, &s->rows[i], s->rows[i].step_ns);
	rows_merge(s);
	while (*cnt < s->row_cnt && s->rows[*cnt].step_ns < close_ns)
		(*cnt)++;
	return 0;
}

void sched_sums__forget(struct sched_sums *s, uint64_t close_ns, size_t cnt)
{
	size_t kept = 0, past = boundaries_until(s, close_ns);

	if (cnt) {
		s->row_cnt -= cnt;
		memmove(s->rows, s->rows + cnt, s->row_cnt * sizeof(*s->rows));
	}
	for (size_t i = 0; i < s->span_cnt; i++)
		if (s->spans[i].end_ns > close_ns)
			s->spans[kept++] = s->spans[i];
	s->span_cnt = kept;
	kept = 0;
	for (size_t i = 0; i < s->cut_cnt; i++)
		if (s->cuts[i].through_ns >= close_ns)
			s->cuts[kept++] = s->cuts[i];
	s->cut_cnt = kept;
	/* The step at close_ns continues. */
	if (past > 1) {
		s->boundary_cnt -= past - 1;
		memmove(s->boundaries, s->boundaries + past - 1,
			s->boundary_cnt * sizeof(*s->boundaries));
	}
}

void sched_sums__free(struct sched_sums *s)
{
	free(s->rows);
	free(s->boundaries);
	free(s->spans);
	free(s->cuts);
	memset(s, 0, sizeof(*s));
}
