// SPDX-License-Identifier: BSD-2-Clause
#include "capture/steps/call_log.h"
#include "bpf/probe_cfg.h"
#include "bpf/thread_state.h"
#include "common/util.h"
#include <stdlib.h>
#include <string.h>

static int take_spans(struct call_log *log, const struct pt_rec_spans *r, size_t size)
{
	int err = 0;

	if (size < offsetof(struct pt_rec_spans, spans) ||
	    r->cnt > (size - offsetof(struct pt_rec_spans, spans)) / sizeof(r->spans[0]))
		return 0;
	for (uint32_t i = 0; i < r->cnt && !err; i++) {
		const struct pt_span *span = &r->spans[i];
		struct step_call call = {span->probe, r->h.tid, span->ts_ns, span->end_ns};

		if (span->kind == PT_KIND_STATIC)
			err = ARRAY_PUSH(log->calls, log->cnt, log->cap, call);
	}
	return err;
}

static uint32_t find_op(const struct call_log *log, const struct named_op *op)
{
	uint32_t i = 0;

	while (i < log->op_cnt &&
	       (log->ops[i].row != op->row || strcmp(log->ops[i].name, op->name)))
		i++;
	return i;
}

static int take_named(struct call_log *log, const struct pt_rec_named *r, size_t size)
{
	struct named_op op = {.row = r->h.probe};
	struct step_call call = {.tid = r->h.tid};
	uint32_t i;
	int err = 0;

	if (size < sizeof(*r))
		return 0;
	call.ts_ns = r->ts_ns;
	call.end_ns = r->end_ns;
	memcpy(op.name, r->name.text, sizeof(op.name) - 1);
	i = find_op(log, &op);
	call.op = PT_MAX_PROBES + i;
	if (i == log->op_cnt)
		err = ARRAY_PUSH(log->ops, log->op_cnt, log->op_cap, op);
	return err ? err : ARRAY_PUSH(log->calls, log->cnt, log->cap, call);
}

int call_log__take(struct call_log *log, const void *record, size_t size)
{
	const struct pt_rec *h = record;

	if (size < sizeof(*h) || h->pid != log->pid)
		return 0;
	if (h->kind == PT_REC_SPANS)
		return take_spans(log, record, size);
	if (h->kind == PT_REC_NAMED_SPAN)
		return take_named(log, record, size);
	return 0;
}

void call_log__forget(struct call_log *log, uint32_t row)
{
	size_t kept = 0;

	for (size_t i = 0; i < log->cnt; i++) {
		const struct named_op *named = call_log__named(log, log->calls[i].op);

		if ((named ? named->row : log->calls[i].op) != row)
			log->calls[kept++] = log->calls[i];
	}
	log->cnt = kept;
}

struct leaders {
	uint32_t *tids;
	size_t cnt, cap;
};

static bool is_leader(const struct leaders *l, uint32_t tid)
{
	for (size_t i = 0; i < l->cnt; i++)
		if (l->tids[i] == tid)
			return true;
	return false;
}

static void keep_calls_of(struct call_log *log, const struct leaders *l)
{
	size_t kept = 0;

	for (size_t i = 0; i < log->cnt; i++)
		if (is_leader(l, log->calls[i].tid))
			log->calls[kept++] = log->calls[i];
	log->cnt = kept;
}

int call_log__keep_leaders(struct call_log *log, const bool *leads)
{
	struct leaders l = {0};
	int err = 0;

	for (size_t i = 0; i < log->cnt && !err; i++) {
		const struct step_call *call = &log->calls[i];
		const struct named_op *named = call_log__named(log, call->op);

		if (leads[named ? named->row : call->op] && !is_leader(&l, call->tid))
			err = ARRAY_PUSH(l.tids, l.cnt, l.cap, call->tid);
	}
	if (!err && l.cnt)
		keep_calls_of(log, &l);
	free(l.tids);
	return err;
}

#define KEPT_MAX 400000

static uint64_t latest_end(const struct step_call *calls, size_t cnt)
{
	uint64_t end_ns = 0;

	for (size_t i = 0; i < cnt; i++)
		if (calls[i].end_ns > end_ns)
			end_ns = calls[i].end_ns;
	return end_ns;
}

static uint64_t first_begin(const struct step_call *calls, size_t cnt)
{
	uint64_t begin_ns = UINT64_MAX;

	for (size_t i = 0; i < cnt; i++)
		if (calls[i].ts_ns < begin_ns)
			begin_ns = calls[i].ts_ns;
	return begin_ns;
}

int call_log__keep(struct call_log *log)
{
	uint64_t gap_ns;
	int err = 0;

	if (log->kept_cnt > KEPT_MAX)
		log->kept_cnt = 0;
	gap_ns = log->kept_cnt
			 ? first_begin(log->calls, log->cnt) - latest_end(log->kept, log->kept_cnt)
			 : 0;
	for (size_t i = 0; i < log->cnt && !err; i++) {
		struct step_call call = log->calls[i];

		call.ts_ns -= gap_ns;
		call.end_ns -= gap_ns;
		err = ARRAY_PUSH(log->kept, log->kept_cnt, log->kept_cap, call);
	}
	log->cnt = 0;
	log->pid = 0;
	return err;
}

const struct named_op *call_log__named(const struct call_log *log, uint32_t op)
{
	if (op < PT_MAX_PROBES || op - PT_MAX_PROBES >= log->op_cnt)
		return NULL;
	return &log->ops[op - PT_MAX_PROBES];
}

void call_log__free(struct call_log *log)
{
	free(log->calls);
	free(log->ops);
	free(log->kept);
	memset(log, 0, sizeof(*log));
}
