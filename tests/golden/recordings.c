// SPDX-License-Identifier: BSD-2-Clause
/* Writes the recordings of the golden reports: recordings DIRECTORY. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "recording/recording.h"

#define US 1000ull

struct scene {
	struct recording_writer *w;
	uint32_t main, backward, worker, stream;
	uint64_t t; /* begin of the step */
};

static void check(int err)
{
	if (!err)
		return;
	fprintf(stderr, "recordings: %s\n", strerror(-err));
	exit(1);
}

static struct event event(struct scene *s, uint32_t track, enum span_category cat, const char *name,
			  double begin_us, double end_us)
{
	return (struct event){
		.ts_ns = s->t + (uint64_t)(begin_us * 1000),
		.dur_ns = (uint64_t)((end_us - begin_us) * 1000),
		.id = EVENT_NO_ID,
		.track = track,
		.name = recording_writer__name(s->w, cat, name, NULL),
		.type = EVENT_SPAN,
	};
}

static void span(struct scene *s, uint32_t track, enum span_category cat, const char *name,
		 double begin_us, double end_us)
{
	struct event e = event(s, track, cat, name, begin_us, end_us);

	check(recording_writer__event(s->w, &e));
}

static void memory(struct scene *s, uint64_t addr, int64_t bytes, double us)
{
	const struct event_memory args = {UINT64_MAX, UINT64_MAX, 0, 0};
	const struct event e = {.ts_ns = s->t + (uint64_t)(us * 1000),
				.id = addr,
				.value = bytes,
				.track = s->main,
				.type = EVENT_MEMORY,
				.args = &args,
				.args_len = sizeof(args)};

	check(recording_writer__event(s->w, &e));
}

static void launch(struct scene *s, uint32_t track, uint64_t id, double begin_us)
{
	struct event e = event(s, track, CAT_RUNTIME, "cudaLaunchKernel", begin_us, begin_us + 4);

	e.id = id;
	check(recording_writer__event(s->w, &e));
}

static void device(struct scene *s, enum span_category cat, const char *name, uint64_t id,
		   double begin_us, double end_us)
{
	struct event e = event(s, s->stream, cat, name, begin_us, end_us);

	e.type = EVENT_DEVICE;
	e.id = id;
	check(recording_writer__event(s->w, &e));
}

static void step(struct scene *s, uint64_t index, double us)
{
	const struct event e = {.ts_ns = s->t,
				.dur_ns = (uint64_t)(us * 1000),
				.id = index,
				.track = s->main,
				.type = EVENT_STEP};

	check(recording_writer__event(s->w, &e));
	s->t += e.dur_ns;
}

static void sched(struct scene *s, uint64_t index, const char *reason, enum sched_state state,
		  uint64_t us)
{
	const struct sched_row row = {
		.track = s->main,
		.reason = reason ? recording_writer__name(s->w, CAT_NONE, reason, NULL) : 0,
		.step = index,
		.ns = us * US,
		.cnt = 3,
		.state = state,
	};

	check(recording_writer__sched(s->w, &row));
}

static void entry(struct scene *s, uint32_t track, uint64_t index, const char *what,
		  enum kernel_entry state, uint64_t cnt, uint64_t us)
{
	const struct sched_row row = {
		.track = track,
		.reason = recording_writer__name(s->w, CAT_NONE, what, NULL),
		.step = index,
		.ns = us * US,
		.cnt = cnt,
		.state = state,
	};

	check(recording_writer__entry(s->w, &row));
}

static uint32_t thread(struct scene *s, uint32_t pid, uint32_t tid, const char *name)
{
	const struct track t = {.kind = TRACK_THREAD, .pid = pid, .tid = tid, .name = name};

	return recording_writer__track(s->w, &t);
}

static struct scene begin(const char *dir, const char *name)
{
	struct scene s = {.t = 1000000 * US};
	json_t *meta = json_pack(
		"{s:{s:i, s:s, s:[s, s]}, s:{s:s}, s:{s:s, s:s, s:s}, s:s, s:{s:i, s:i}, s:{s:i}}",
		"process", "pid", 4242, "comm", "python", "argv", "python", "train.py", "host",
		"name", "node7", "runtime", "framework", "pytorch", "title", "PyTorch", "version",
		"2.15.0+cpu", "detail", "operator", "probe_cost", "span_inside_ns", 300,
		"span_total_ns", 900, "rank", "rank", 1);
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s.ptrec", dir, name);
	check(recording_writer__create(path, meta, &s.w));
	json_decref(meta);
	s.main = thread(&s, 4242, 4242, "python");
	s.backward = thread(&s, 4242, 4250, "pt_autograd_0");
	return s;
}

static void end(struct scene *s)
{
	json_t *summary = json_pack(
		"{s:{s:I, s:I, s:I, s:I}, s:{s:i, s:i, s:b}, s:{s:s, s:s},"
		" s:{s:i, s:i, s:I}, s:[{s:s, s:f, s:f, s:i}], s:[s]}",
		"cpu", "wall_ns", (json_int_t)3000000, "process_ns", (json_int_t)3300000, "busy_ns",
		(json_int_t)4000000, "idle_ns", (json_int_t)2000000, "loss", "ring", 0, "depth", 2,
		"target_gone", 0, "steps", "source", "optimizer", "explain",
		"the last Optimizer.step before the data loader ends a step", "cost", "hits", 120,
		"probe_ns", 54000, "loader_cpu_ns", (json_int_t)12000000, "dropped_probes", "name",
		"Tensor.size", "calls_per_step", 210.0, "avg_ns", 85.0, "steps", 2, "missing",
		"c10::cuda allocator: no CUDA memory events");

	check(recording_writer__close(s->w, summary));
	json_decref(summary);
}

static void cpu_step(struct scene *s, uint64_t index, double slow)
{
	span(s, s->main, CAT_DATALOADER,
	     "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 0, 120 + slow);
	span(s, s->main, CAT_ZERO_GRAD, "Optimizer.zero_grad#SGD.zero_grad", 125 + slow,
	     135 + slow);
	memory(s, 0x1000 + index, 4096, 150 + slow);
	span(s, s->main, CAT_OPERATOR, "aten::addmm", 148 + slow, 170 + slow);
	span(s, s->main, CAT_OPERATOR, "aten::linear", 145 + slow, 175 + slow);
	span(s, s->main, CAT_OPERATOR, "aten::relu", 180 + slow, 190 + slow);
	span(s, s->main, CAT_USER, "layer with a long name that does not fit in a narrow terminal",
	     140 + slow, 200 + slow);
	span(s, s->worker, CAT_OPERATOR, "aten::stack", 150, 190);
	span(s, s->main, CAT_OPERATOR, "aten::mm", 310 + slow, 330 + slow);
	span(s, s->main, CAT_BACKWARD_NODE, "AddmmBackward0", 305 + slow, 345 + slow);
	memory(s, 0x1000 + index, 0, 350 + slow);
	span(s, s->main, CAT_BACKWARD, "backward", 300 + slow, 400 + slow);
	span(s, s->main, CAT_OPTIMIZER, "Optimizer.step#SGD.step", 420 + slow, 480 + slow);
	sched(s, index, NULL, SCHED_RUN, 400);
	sched(s, index, NULL, SCHED_RUNNABLE, 10);
	sched(s, index, "futex", SCHED_BLOCKED, 60 + (uint64_t)slow);
	sched(s, index, "poll", SCHED_BLOCKED, 30);
	entry(s, s->main, index, "futex", ENTRY_SYSCALL, 3, 61 + (uint64_t)slow);
	entry(s, s->main, index, "munmap", ENTRY_SYSCALL, 2, 12);
	entry(s, s->main, index, FAULT_ANONYMOUS, ENTRY_FAULT, 40, 22);
	entry(s, s->worker, index, "read", ENTRY_SYSCALL, 8, 300);
	step(s, index, 500 + slow);
}

static void write_cpu(const char *dir)
{
	struct scene s = begin(dir, "cpu");
	struct event e;

	s.worker = thread(&s, 4300, 4300, "pt_data_worker");
	e = event(&s, s.main, CAT_PYTHON_OP, "MyFunction", 0, 0);
	e.flags = EVENT_CUT_BEGIN;
	check(recording_writer__event(s.w, &e));
	for (uint64_t i = 2; i < 6; i++)
		cpu_step(&s, i, i == 4 ? 700 : 0);
	end(&s);
}

static void write_gpu(const char *dir)
{
	const struct track stream = {.kind = TRACK_DEVICE, .pid = 4242, .device = 0, .stream = 7};
	struct scene s = begin(dir, "gpu");

	s.stream = recording_writer__track(s.w, &stream);
	for (uint64_t i = 0; i < 2; i++) {
		uint64_t id = 10 * i;

		span(&s, s.main, CAT_DATALOADER, "next", 0, 20);
		launch(&s, s.main, id + 1, 35);
		launch(&s, s.main, id + 2, 42);
		span(&s, s.main, CAT_OPERATOR, "aten::addmm", 32, 50);
		span(&s, s.main, CAT_OPERATOR, "aten::linear", 30, 52);
		span(&s, s.main, CAT_BACKWARD, "backward", 60, 120);
		launch(&s, s.backward, id + 3, 70);
		span(&s, s.backward, CAT_BACKWARD_NODE, "AddmmBackward0", 65, 110);
		span(&s, s.main, CAT_OPTIMIZER, "Optimizer.step#Adam.step", 125, 140);
		device(&s, CAT_MEMCPY, "Memcpy HtoD (Pageable -> Device)", id + 1, 40, 48);
		device(&s, CAT_KERNEL, "ampere_sgemm_128x64_tn", id + 2, 50, 90);
		device(&s, CAT_KERNEL, "ampere_sgemm_64x64_nt", id + 3, 90, 145);
		step(&s, i, 150);
	}
	end(&s);
}

static void row(struct scene *s, enum event_type type, enum span_category cat, const char *name,
		double us, int64_t value)
{
	const struct event e = {
		.ts_ns = s->t + (uint64_t)(us * 1000),
		.id = type == EVENT_INSTANT ? SCOPE_PROCESS : EVENT_NO_ID,
		.value = value,
		.track = s->main,
		.name = recording_writer__name(s->w, cat, name, cat == CAT_USER ? NULL : "16"),
		.type = type,
	};

	check(recording_writer__event(s->w, &e));
}

static void collective(struct scene *s, uint64_t id, const char *name, int64_t bytes,
		       double begin_us, double end_us)
{
	struct event e = event(s, s->main, CAT_COMMUNICATION, name, begin_us, end_us);

	e.type = EVENT_ASYNC;
	e.id = id;
	e.value = bytes;
	check(recording_writer__event(s->w, &e));
}

/* What tables of their own are for: collectives of the host, a data pipeline, counters and marks.
 */
static void write_more(const char *dir)
{
	struct scene s = begin(dir, "more");

	s.worker = thread(&s, 4242, 4260, "MapOp");
	for (uint64_t i = 0; i < 3; i++) {
		row(&s, EVENT_COUNTER, CAT_QUEUE_EMPTY, "BatchOp(ID:0)::queue of 16", 5,
		    (int64_t)i);
		span(&s, s.main, CAT_QUEUE_EMPTY, "BatchOp(ID:0)::queue empty", 5, i ? 9 : 45);
		span(&s, s.worker, CAT_PIPELINE, "MapOp(ID:1)::WorkerProcess", 10, 70);
		row(&s, EVENT_COUNTER, CAT_QUEUE_FULL, "MapOp(ID:1)::queue of 16, before put", 75,
		    16);
		span(&s, s.worker, CAT_QUEUE_FULL, "MapOp(ID:1)::queue full", 75, 90);
		row(&s, EVENT_COUNTER, CAT_USER, "loss, in thousandths", 60,
		    900 - 100 * (int64_t)i);
		row(&s, EVENT_INSTANT, CAT_USER, "checkpoint", 65, 0);
		collective(&s, 2 * i + 1, "gloo:all_reduce", 4096, 100, 130);
		collective(&s, 2 * i + 2, "gloo:barrier", 0, 140, 145);
		step(&s, i, 150);
	}
	end(&s);
}

/* Interrupted: no summary, and a span that nothing ended. */
static void write_cut(const char *dir)
{
	struct scene s = begin(dir, "cut");
	struct event e;

	s.worker = s.main;
	cpu_step(&s, 0, 0);
	e = event(&s, s.main, CAT_OPERATOR, "aten::conv2d", 10, 90);
	e.flags = EVENT_CUT_END;
	check(recording_writer__event(s.w, &e));
	check(recording_writer__close(s.w, NULL));
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	write_cpu(argv[1]);
	write_gpu(argv[1]);
	write_more(argv[1]);
	write_cut(argv[1]);
	return 0;
}
