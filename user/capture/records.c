// SPDX-License-Identifier: BSD-2-Clause
/* A record of the ring, to whom it belongs. */
#include "capture/session.h"
#include "bpf/skeleton.h"
#include "capture/decode/long_names.h"
#include "capture/processes/follow.h"
#include "capture/step_end.h"
#include "capture/steps/optimizer_step.h"
#include "common/util.h"
#include <bpf/libbpf.h>

/* A window opens or closes here: that takes files, and other processes. */
static bool is_edge(const struct session *s, const struct pt_rec_step *r)
{
	const bool ends = r->prev_state == PT_STATE_RECORD, begins = r->state == PT_STATE_RECORD;

	return ends != begins || (begins && !s->window.writer);
}

static int on_step(struct session *s, const struct pt_rec_step *r)
{
	if (!is_edge(s, r))
		return step_end__of(s, r);
	s->records.edge = *r;
	return RING_PAUSED;
}

static int on_task(struct session *s, const struct pt_rec_task *r)
{
	bool main_target = r->h.pid == (uint32_t)s->target->pid;
	int err = 0;

	/* What it was in the middle of ends with it. */
	if (r->event == PT_TASK_EXIT && s->window.writer && !s->windows.ending)
		err = decoder__ended_thread(s->records.decoder,
					    bpf_map__fd(s->probes.skel->maps.threads), r->h.tid,
					    s->windows.opened, s->window.open_ns, r->ts_ns);
	if (r->event == PT_TASK_EXIT)
		bpf_map__delete_elem(s->probes.skel->maps.threads, &r->h.tid, sizeof(r->h.tid), 0);
	if (r->event == PT_TASK_EXIT && r->last) {
		s->children.unfollowed += follow__forget(s, (pid_t)r->h.pid);
		follow__exited(s, (pid_t)r->h.pid);
	}
	if (r->event == PT_TASK_EXEC && !main_target)
		follow__execed(s, (pid_t)r->h.pid, r->ts_ns);
	if (main_target && ((r->event == PT_TASK_EXIT && r->last) || r->event == PT_TASK_EXEC))
		s->target_gone = true;
	if (main_target && r->event == PT_TASK_EXEC)
		s->target_execed = true;
	if (r->event == PT_TASK_FORK)
		follow__forked(s, (pid_t)r->h.pid, r->ts_ns);
	return err;
}

int session__on_record(void *ctx, void *data, size_t size)
{
	struct session *s = ctx;
	const struct pt_rec *h = data;
	int err;

	if (size >= sizeof(struct pt_rec_step) && h->kind == PT_REC_STEP)
		err = on_step(s, data);
	else if (size >= sizeof(struct pt_rec_task) && h->kind == PT_REC_TASK)
		err = on_task(s, data);
	else if (optimizer_step__is_stack(data, size))
		err = optimizer_step__take_stack(s, data, size);
	else if (size >= sizeof(*h) && h->kind == PT_REC_STACK)
		err = decoder__stack(s->records.decoder, data, size);
	else if (s->records.log.pid)
		err = call_log__take(&s->records.log, data, size);
	else
		err = decoder__record(s->records.decoder, data, size);
	if (err < 0 && !s->records.err)
		s->records.err = err;
	return err;
}

static void window_open(struct session *s)
{
	decoder__set_writer(s->records.decoder, s->window.writer);
}

static int write_open_spans(struct session *s, json_t *summary)
{
	(void)summary;
	return decoder__open_spans(s->records.decoder, bpf_map__fd(s->probes.skel->maps.threads),
				   s->windows.opened, s->window.open_ns, s->window.close_ns);
}

/* What comes from now on is of no window. */
static void end_writing(struct session *s, json_t *summary)
{
	(void)summary;
	decoder__set_writer(s->records.decoder, NULL);
}

const struct component component_records = {
	.name = "records",
	.window_open = window_open,
	.window_finish = write_open_spans,
};

/* The decoder's counts of a window go with its writer. */
const struct component component_writing = {
	.name = "end of writing",
	.describe = end_writing,
};

static int read_long_names(struct session *s, uint64_t *next_ns)
{
	(void)next_ns;
	return long_names__drain(s->records.long_names);
}

const struct component component_long_names = {
	.name = "long names",
	.poll = read_long_names,
	.every_ms = 200,
};

static int flush(struct session *s, uint64_t *next_ns)
{
	(void)next_ns;
	return s->window.writer ? recording_writer__flush(s->window.writer) : 0;
}

/* proftrace may be killed: what was written by then can be read. */
const struct component component_file = {
	.name = "recording file",
	.poll = flush,
	.every_ms = 1000,
};
