// SPDX-License-Identifier: BSD-2-Clause
/* A window of a session, from its opening to its summary. */
#include "capture/session.h"
#include "attach/shield.h"
#include "bpf/skeleton.h"
#include "capture/arming/probeless.h"
#include "capture/arming/steps_only.h"
#include "capture/arming/window_cost.h"
#include "capture/decode/python_stacks.h"
#include "capture/device/device_calls.h"
#include "capture/device/device_time.h"
#include "capture/processes/await.h"
#include "capture/processes/follow.h"
#include "capture/steps/optimizer_step.h"
#include "capture/window_notes.h"
#include "common/counted.h"
#include "common/err.h"
#include "common/out_file.h"
#include "common/util.h"
#include <bpf/libbpf.h>
#include <string.h>

#define MS 1000000ull

#define END_LOST_NS (1000 * MS) /* what is in the ring is read by then */

static uint64_t own_cpu_ns(void)
{
	return clock__ns(CLOCK_PROCESS_CPUTIME_ID) + shield__cpu_ns();
}

/* The thread's that makes the steps; none where there are none. */
static struct fault_count training_faults(const struct session *s)
{
	const uint32_t tid = s->probes.ctl->step_tid;

	return tid ? fault_count__read(s->opts->pid, (pid_t)tid) : (struct fault_count){0};
}

static const char *late_for(const struct session *s)
{
	if (!s->cupti.awaited)
		return "the probes were not attached in time";
	if (s->windows.opened > 1)
		return "our library in the process ends one window before it begins the next; "
		       "leave more steps between them";
	return "our library in the process was not ready in time";
}

/* By how much it is late, more than windows before it were already. */
static void describe_shift(struct session *s)
{
	const uint64_t shifted = s->probes.ctl->shifted;

	s->windows.shift = shifted - s->windows.shifted_before;
	s->windows.shifted_before = shifted;
	if (!s->windows.shift)
		return;
	session__progress_end(s);
	s->windows.late_for = late_for(s);
	/* `ctl start` asks for no step in particular. */
	(s->probes.ctl->hold != PT_HOLD_NONE ? log__info : log__warn)(
		"the window opens %s later than asked: %s",
		counted(s->windows.shift, "step", "steps").s, s->windows.late_for);
}

int session__window_open(struct session *s, uint64_t first_step, uint64_t open_ns)
{
	int err;

	s->facts.device_source =
		s->device && !s->cupti.functions_alone && !s->calls_on ? "CUPTI" : NULL;
	probeless__describe(s);
	steps_only__describe(s);
	err = window__open(&s->window, &s->facts, (uint32_t)s->windows.written);
	if (err)
		return err;
	s->window.first_step = s->window.end_step = first_step;
	s->window.open_ns = open_ns;
	s->windows.ending = false;
	s->windows.opened++;
	describe_shift(s);
	s->before.cpu_ns = own_cpu_ns();
	s->before.faults = training_faults(s);
	step_cost__window_open(s);
	s->faults = (struct fault_count){0};
	s->children.followed = s->children.late_ns = s->children.unfollowed = s->start.held_ns = 0;
	window_cost__open(s);
	decoder__set_writer(s->records.decoder, s->window.writer);
	device_time__window_open(s);
	return 0;
}

void session__window_close(struct session *s, uint64_t close_ns)
{
	s->window.close_ns = close_ns;
	s->windows.ending = true;
	s->windows.closes_seen = s->probes.ctl->closes;
	s->faults = training_faults(s);
	step_cost__window_close(s);
	device_time__window_close(s);
}

void session__find_end(struct session *s)
{
	const struct pt_ctl *ctl = s->probes.ctl;
	const uint64_t now = clock__monotonic_ns();

	if (ctl->closes == s->windows.closes_seen)
		s->windows.unseen_since_ns = 0;
	else if (!s->windows.unseen_since_ns)
		s->windows.unseen_since_ns = now;
	if (!s->windows.unseen_since_ns || now - s->windows.unseen_since_ns < END_LOST_NS)
		return;
	if (!s->window.writer || s->windows.ending) {
		s->windows.closes_seen = ctl->closes;
		return;
	}
	s->window.end_step = s->boundary.step;
	session__window_close(s, ctl->window_close_ns);
}

static uint32_t sched_track(void *ctx, uint32_t pid, uint32_t tid, const char *comm)
{
	return decoder__named_track(ctx, pid, tid, *comm ? comm : NULL);
}

static json_t *cpu_summary(struct session *s, int *err)
{
	struct sched_sink sink = {
		.writer = s->window.writer, .track = sched_track, .ctx = s->records.decoder};
	struct sched_totals totals = {0};
	json_t *cpu;

	if (!s->sched)
		return NULL;
	*err = sched_source__drain(s->sched, s->window.open_ns, s->window.close_ns, sched_sink__row,
				   &sink, &totals);
	if (*err)
		return NULL;
	cpu = sched_totals__json(&totals);
	sched_totals__free(&totals);
	return cpu;
}

struct losses session__losses(const struct session *s)
{
	const struct pt_ctl *ctl = s->probes.ctl;

	return (struct losses){
		.ring = ctl->lost_ring - s->boundary.recovered_cnt,
		.depth = ctl->lost_depth,
		.storage = ctl->lost_storage + ctl->lost_targets,
		.decode = decoder__malformed(s->records.decoder),
		.ends = ctl->lost_ends,
		.sched = s->probes.skel ? sched_source__lost(s->probes.skel) : 0,
	};
}

struct stack_counts session__stack_counts(const struct session *s)
{
	const struct pt_ctl *ctl = s->probes.ctl;

	return (struct stack_counts){
		.read = ctl->stack_cnt,
		.ns = ctl->stack_ns,
		.cut = ctl->stacks_cut,
		.unread = ctl->stacks_unread,
		.full = ctl->stacks_full,
		.unknown_functions =
			s->records.stacks ? python_stacks__unread(s->records.stacks) : 0,
	};
}

/* NULL: none were asked for, or none can be read. */
static json_t *stacks_summary(const struct session *s, const struct stack_counts *now)
{
	const struct stack_counts *before = &s->before.stacks;

	if (!s->records.stacks)
		return NULL;
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "read",
			 (json_int_t)(now->read - before->read), "ns",
			 (json_int_t)(now->ns - before->ns), "cut",
			 (json_int_t)(now->cut - before->cut), "unread",
			 (json_int_t)(now->unread - before->unread), "full",
			 (json_int_t)(now->full - before->full), "unknown_functions",
			 (json_int_t)(now->unknown_functions - before->unknown_functions));
}

static json_t *loss_summary(const struct session *s, const struct losses *now)
{
	const struct losses *before = &s->before.lost;

	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:b}", "ring",
			 (json_int_t)(now->ring - before->ring), "depth",
			 (json_int_t)(now->depth - before->depth), "storage",
			 (json_int_t)(now->storage - before->storage), "decode",
			 (json_int_t)(now->decode - before->decode), "unended",
			 (json_int_t)(now->ends - before->ends), "scheduler",
			 (json_int_t)(now->sched - before->sched), "target_gone",
			 (int)s->target_gone, "target_execed", (int)s->target_execed);
}

uint64_t session__paid_ns(const struct session *s)
{
	return s->step_length.run_ns ? s->step_length.run_ns : s->step_length.ns;
}

void session__count_anew(struct session *s)
{
	s->before.callee_ends = s->probes.ctl->callee_ends;
	s->before.endless = s->probes.ctl->optimizer_step.endless;
	s->before.beside = s->probes.ctl->aside_beside;
	s->before.cut_names = decoder__cut_names(s->records.decoder);
	s->before.not_ended = decoder__not_ended(s->records.decoder);
	s->before.enclosing_hits = s->probes.ctl->optimizer_step.enclosing_hits;
	s->before.sched_ns = sched_source__own_ns(s->probes.skel);
}

/* How many steps all threads began in the window, for each of those that count. */
static double begun_by_all(const struct session *s)
{
	const uint64_t steps = s->window.end_step - s->window.first_step;
	const uint64_t beside = s->probes.ctl->aside_beside - s->before.beside;

	return steps ? (double)(steps + beside) / (double)steps : 1;
}

/* How long the process ran in the window; if it has ended, by what it ran before. */
static double run_seconds(const struct session *s)
{
	const double window_ns = (double)(s->window.close_ns - s->window.open_ns);

	return (s->step_cost.run_ns ? (double)s->step_cost.run_ns
				    : window_ns * s->pruned.timed.run_share) /
	       1e9;
}

/* What a step has, or without steps what the whole window is expected to have had. */
static json_t *pruned_json(const struct session *s, const struct pruned_probe *drop)
{
	const bool by_time = s->pruned.timed.ns;
	const double units = by_time ? run_seconds(s) : begun_by_all(s);

	return json_pack("{s:s, s:b, s:b, s:f, s:f, s:f, s:f, s:I}", "name", drop->name, "is_node",
			 drop->kind == PRUNED_NODE, "is_call", drop->kind == PRUNED_CALL,
			 by_time ? "calls" : "calls_per_step", drop->per_step * units, "avg_ns",
			 drop->avg_ns, by_time ? "inner_calls" : "inner_calls_per_step",
			 drop->inner_per_step * units, "inner_avg_ns", drop->inner_avg_ns,
			 by_time ? "measured_ns" : "steps",
			 (json_int_t)(by_time ? s->pruned.timed.ns : drop->steps));
}

/* Calls of the device's interface are told by others while they are not seen by probes. */
static json_t *pruned_summary(const struct session *s)
{
	json_t *array = json_array();

	for (size_t i = 0; i < s->pruned.cnt; i++)
		if (s->pruned.list[i].kind != PRUNED_CALL || s->calls_on)
			json_array_append_new(array, pruned_json(s, &s->pruned.list[i]));
	return array;
}

/* Writes what is still open, the scheduler's rows and the summary, and closes the file. */
int session__window_finish(struct session *s)
{
	struct window *w = &s->window;
	struct stack_counts stacks;
	struct losses lost;
	json_t *summary, *cpu;
	int err, close_err;
	bool kept;

	err = decoder__open_spans(s->records.decoder, bpf_map__fd(s->probes.skel->maps.threads),
				  s->windows.opened, w->open_ns, w->close_ns);
	cpu = err ? NULL : cpu_summary(s, &err);
	if (!err)
		err = device_time__window_finish(s);
	lost = session__losses(s);
	stacks = session__stack_counts(s);
	summary = json_pack("{s:o*, s:o*, s:o*, s:o, s:o, s:o, s:o, s:o*}", "cpu", cpu, "faults",
			    fault_count__json(&s->before.faults, &s->faults), "stacks",
			    stacks_summary(s, &stacks), "loss", loss_summary(s, &lost), "cost",
			    window_cost__summary(s, own_cpu_ns() - s->before.cpu_ns),
			    "dropped_probes", pruned_summary(s), "notes", window_notes(s),
			    "helpers", helpers__take(&s->children.helpers));
	s->before.lost = lost;
	s->before.stacks = stacks;
	session__count_anew(s);
	device_time__summary(s, summary);
	device_calls__summary(s, summary);
	decoder__set_writer(s->records.decoder, NULL);
	if (!err && s->windows.is_last)
		step_cost__compare(s);
	step_cost__put(s, json_object_get(summary, "cost"));
	s->windows.ending = false;
	/* On a full disk too, what was written is worth its tables. */
	kept = recording_writer__bytes(w->writer) > 0;
	probeless__check(s);
	steps_only__poll(s);
	probeless__describe(s);
	steps_only__describe(s);
	close_err = window__close(w, &s->facts, summary);
	if (s->windows.discard) {
		out_file__remove(w->path);
		kept = s->windows.discard = false;
	}
	if (!err)
		err = close_err;
	if (kept) {
		char *path = strdup(w->path);

		if (!path || ARRAY_PUSH(s->res->paths, s->res->path_cnt, s->res->path_cap, path))
			err = -ENOMEM;
		s->windows.written++;
	}
	return err;
}
