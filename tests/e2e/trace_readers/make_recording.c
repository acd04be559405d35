// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes a made-up recording for the checks with real trace readers, through the writer's door:
 *   make_recording cpu FILE STEPS            training on a CPU, with workers, shapes and memory
 *   make_recording gpu FILE STEPS RANK WORLD data-parallel training on one device
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "recording/recording.h"

#define US 1000ull

struct gen {
	struct recording_writer *w;
	uint64_t now_ns, device_free_ns, comm_free_ns;
	uint64_t seq, correlation, address;
	uint32_t main, worker, stream, comm_stream;
	bool gpu;
};

static void die(const char *what)
{
	fprintf(stderr, "make_recording: %s failed\n", what);
	exit(1);
}

static uint32_t name(struct gen *g, enum span_category c, const char *text, const char *schema)
{
	const uint32_t id = recording_writer__name(g->w, c, text, schema);

	if (!id)
		die("name");
	return id;
}

static void put(struct gen *g, const struct event *e)
{
	if (recording_writer__event(g->w, e))
		die("event");
}

static void span(struct gen *g, uint32_t track, uint32_t id, uint64_t begin_ns, uint64_t event_id)
{
	put(g, &(struct event){.type = EVENT_SPAN,
			       .track = track,
			       .name = id,
			       .ts_ns = begin_ns,
			       .dur_ns = g->now_ns - begin_ns,
			       .id = event_id});
}

/* Adds a device span after the earlier work of its stream. */
static void device(struct gen *g, uint32_t track, uint64_t *free_ns, enum span_category c,
		   const char *text, uint64_t dur_ns, int64_t bytes)
{
	const uint64_t begin_ns = (*free_ns > g->now_ns ? *free_ns : g->now_ns) + 1234;

	*free_ns = begin_ns + dur_ns;
	put(g, &(struct event){.type = EVENT_DEVICE,
			       .track = track,
			       .name = name(g, c, text, NULL),
			       .ts_ns = begin_ns,
			       .dur_ns = dur_ns,
			       .id = g->correlation,
			       .value = bytes});
}

/* cudaLaunchKernel around cuLaunchKernel. Both have the same correlation id, as in CUPTI. */
static void launch(struct gen *g, const char *kernel, uint64_t dur_ns, bool comm)
{
	const uint64_t begin_ns = g->now_ns;

	g->correlation++;
	g->now_ns += 700;
	span(g, g->main, name(g, CAT_DRIVER, "cuLaunchKernel", NULL), begin_ns + 300,
	     g->correlation);
	g->now_ns += 1100;
	span(g, g->main, name(g, CAT_RUNTIME, "cudaLaunchKernel_v7000", NULL), begin_ns,
	     g->correlation);
	device(g, comm ? g->comm_stream : g->stream, comm ? &g->comm_free_ns : &g->device_free_ns,
	       CAT_KERNEL, kernel, dur_ns, 0);
}

static void copy_in(struct gen *g)
{
	const uint64_t begin_ns = g->now_ns + 800;

	g->correlation++;
	g->now_ns += 4 * US;
	span(g, g->main, name(g, CAT_RUNTIME, "cudaMemcpyAsync", NULL), begin_ns, g->correlation);
	device(g, g->stream, &g->device_free_ns, CAT_MEMCPY, "Memcpy HtoD (Pinned -> Device)",
	       9 * US + 17, 1 << 20);
	g->now_ns += 500;
	span(g, g->main, name(g, CAT_OPERATOR, "aten::copy_", NULL), begin_ns - 800, EVENT_NO_ID);
}

static void synchronize(struct gen *g)
{
	const uint64_t begin_ns = g->now_ns + 300;

	g->correlation++;
	if (g->device_free_ns > g->now_ns)
		g->now_ns = g->device_free_ns;
	g->now_ns += 2 * US;
	span(g, g->main, name(g, CAT_RUNTIME, "cudaStreamSynchronize", NULL), begin_ns,
	     g->correlation);
	put(g, &(struct event){.type = EVENT_DEVICE,
			       .track = g->stream,
			       .name = name(g, CAT_SYNC, "Stream Sync", NULL),
			       .ts_ns = begin_ns + 200,
			       .dur_ns = g->now_ns - begin_ns - 400,
			       .id = g->correlation});
	span(g, g->main, name(g, CAT_OPERATOR, "aten::_local_scalar_dense", NULL), begin_ns - 300,
	     EVENT_NO_ID);
}

/* Each call begins in the microsecond in which the previous one ends. */
static void launch_at_ends(struct gen *g)
{
	for (uint64_t us = 1; us < 20; us++) {
		const uint64_t begin_ns = g->now_ns = g->now_ns / US * US + US;

		g->now_ns += us * US + 100;
		span(g, g->main, name(g, CAT_RUNTIME, "cudaEventRecord", NULL), begin_ns,
		     ++g->correlation);
		g->correlation++;
		g->now_ns += us * US;
		span(g, g->main, name(g, CAT_RUNTIME, "cudaLaunchKernel", NULL),
		     g->now_ns - us * US, g->correlation);
		device(g, g->stream, &g->device_free_ns, CAT_KERNEL, "at_an_end", 2 * US, 0);
	}
}

static void memory(struct gen *g, uint64_t address, int64_t bytes)
{
	const struct event_memory m = {UINT64_MAX, UINT64_MAX, 0, -1};

	put(g, &(struct event){.type = EVENT_MEMORY,
			       .track = g->main,
			       .ts_ns = g->now_ns,
			       .id = address,
			       .value = bytes,
			       .args = &m,
			       .args_len = sizeof(m)});
}

/* aten::linear around aten::addmm, with shapes. */
static void linear(struct gen *g)
{
	static const char outer[] =
		"aten::linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor";
	static const char inner[] = "aten::addmm(Tensor self, Tensor mat1, Tensor mat2, *, "
				    "Scalar beta=1, Scalar alpha=1) -> Tensor";
	const uint64_t begin_ns = g->now_ns;
	struct __attribute__((packed)) {
		struct event_tensor a;
		int64_t a_dims[1];
		struct event_tensor b;
		int64_t b_dims[2];
	} args = {{.arg = 0, .dtype = 1, .ndim = 1},
		  {64},
		  {.arg = 1, .dtype = 1, .ndim = 2},
		  {32, 64}};

	g->now_ns += 900;
	g->seq++;
	if (!g->gpu)
		memory(g, g->address += 4096, 8192);
	if (g->gpu)
		launch(g, "ampere_sgemm_64x32_sliced1x4_tn", 21 * US + 333, false);
	g->now_ns += 5 * US;
	put(g, &(struct event){.type = EVENT_SPAN,
			       .track = g->main,
			       .name = name(g, CAT_OPERATOR, "aten::addmm", inner),
			       .ts_ns = begin_ns + 400,
			       .dur_ns = g->now_ns - begin_ns - 400,
			       .id = g->seq,
			       .args = &args,
			       .args_len = sizeof(args)});
	g->now_ns += 600;
	put(g, &(struct event){.type = EVENT_SPAN,
			       .track = g->main,
			       .name = name(g, CAT_OPERATOR, "aten::linear", outer),
			       .ts_ns = begin_ns,
			       .dur_ns = g->now_ns - begin_ns,
			       .id = g->seq,
			       .args = &args,
			       .args_len = sizeof(args)});
	if (!g->gpu)
		memory(g, g->address, -8192);
}

static void backward_node(struct gen *g, uint64_t seq)
{
	const uint64_t begin_ns = g->now_ns;
	uint64_t op_ns = begin_ns + 500;

	g->now_ns += 1 * US;
	for (int i = 0; i < 2; i++) {
		if (g->gpu)
			launch(g, "ampere_sgemm_32x32_sliced1x4_nn", 14 * US + 41, false);
		g->now_ns += 3 * US;
		span(g, g->main,
		     name(g, CAT_OPERATOR, "aten::mm",
			  "aten::mm(Tensor self, Tensor mat2) -> Tensor"),
		     op_ns, EVENT_NO_ID);
		op_ns = g->now_ns;
	}
	put(g, &(struct event){.type = EVENT_SPAN,
			       .track = g->main,
			       .end = END_INFERRED,
			       .name = name(g, CAT_BACKWARD_NODE,
					    "autograd::engine::evaluate_function: AddmmBackward0",
					    NULL),
			       .ts_ns = begin_ns,
			       .dur_ns = g->now_ns - begin_ns,
			       .id = seq});
}

static void all_reduce(struct gen *g)
{
	const uint64_t begin_ns = g->now_ns;

	launch(g, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
	       60 * US, true);
	g->now_ns += 2 * US;
	span(g, g->main, name(g, CAT_OPERATOR, "c10d::allreduce_", NULL), begin_ns, EVENT_NO_ID);
	g->now_ns += 1 * US;
	span(g, g->main, name(g, CAT_COMMUNICATION, "nccl:all_reduce", NULL), begin_ns - 200,
	     EVENT_NO_ID);
	put(g, &(struct event){.type = EVENT_ASYNC,
			       .track = g->main,
			       .name = name(g, CAT_COMMUNICATION, "work of all_reduce", NULL),
			       .ts_ns = begin_ns,
			       .dur_ns = 80 * US,
			       .id = 1,
			       .value = 1 << 22});
}

static void load_batch(struct gen *g, uint64_t step)
{
	const uint64_t begin_ns = g->now_ns;

	g->now_ns += 30 * US;
	span(g, g->worker,
	     name(g, CAT_OPERATOR, "aten::stack",
		  "aten::stack(Tensor[] tensors, int dim=0) "
		  "-> Tensor"),
	     begin_ns + 5 * US, EVENT_NO_ID);
	put(g, &(struct event){.type = EVENT_COUNTER,
			       .track = g->main,
			       .ts_ns = g->now_ns,
			       .name = name(g, CAT_NONE, "queue \"depth\"", NULL),
			       .value = (int64_t)(step % 3)});
	span(g, g->main,
	     name(g, CAT_DATALOADER,
		  "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", NULL),
	     begin_ns, EVENT_NO_ID);
}

static void step(struct gen *g, uint64_t index)
{
	const uint64_t begin_ns = g->now_ns;
	uint64_t first_seq, part_ns;

	load_batch(g, index);
	part_ns = g->now_ns;
	if (g->gpu)
		copy_in(g);
	first_seq = g->seq + 1;
	for (int i = 0; i < 4; i++)
		linear(g);
	span(g, g->main, name(g, CAT_USER, "forward \"pass\" \\ \x01", NULL), part_ns, EVENT_NO_ID);
	part_ns = g->now_ns;
	for (uint64_t seq = g->seq; seq >= first_seq; seq--)
		backward_node(g, seq);
	if (g->gpu)
		all_reduce(g);
	span(g, g->main, name(g, CAT_BACKWARD, "backward", NULL), part_ns, EVENT_NO_ID);
	part_ns = g->now_ns;
	for (int i = 0; g->gpu && i < 3; i++)
		launch(g, "void at::native::multi_tensor_apply_kernel<SGD>(float)",
		       i ? 5 * US : 700, false);
	g->now_ns += 20 * US;
	span(g, g->main, name(g, CAT_OPERATOR, "aten::_foreach_add_", NULL), part_ns, EVENT_NO_ID);
	if (g->gpu) {
		launch_at_ends(g);
		synchronize(g);
	}
	span(g, g->main, name(g, CAT_OPTIMIZER, "Optimizer.step#SGD.step", NULL), part_ns,
	     EVENT_NO_ID);
	put(g, &(struct event){.type = EVENT_STEP,
			       .track = g->main,
			       .ts_ns = begin_ns,
			       .dur_ns = g->now_ns - begin_ns,
			       .id = index});
	/* a range that crosses the step's edge, so its shorter part is lost */
	g->now_ns += 1 * US;
	span(g, g->main, name(g, CAT_USER, "iteration", NULL), begin_ns + 2, EVENT_NO_ID);
}

static void tracks(struct gen *g, int rank)
{
	const uint32_t pid = 4200 + (uint32_t)rank * 10;
	struct track t = {.kind = TRACK_THREAD, .pid = pid, .tid = pid, .name = "python"};

	g->main = recording_writer__track(g->w, &t);
	t.pid = t.tid = pid + 1;
	t.name = "pt_data_worker";
	g->worker = recording_writer__track(g->w, &t);
	if (g->gpu) {
		t = (struct track){.kind = TRACK_DEVICE, .device = rank, .stream = 7};
		g->stream = recording_writer__track(g->w, &t);
		t.stream = 20;
		g->comm_stream = recording_writer__track(g->w, &t);
	}
}

static json_t *properties(int rank)
{
	json_t *list = json_array();

	for (int id = 0; id <= rank; id++)
		json_array_append_new(list, json_pack("{s:i,s:s,s:I,s:i,s:i,s:i}", "id", id, "name",
						      "Synthetic GPU", "memory_bytes",
						      (json_int_t)80 << 30, "major", 9, "minor", 0,
						      "multiprocessors", 132));
	return json_pack("{s:{s:o}}", "device", "devices", list);
}

static json_t *metadata(const struct gen *g, int rank, int world)
{
	json_t *meta = json_pack("{s:{s:s},s:{s:i,s:s},s:{s:I,s:I},s:[s,s,s]}", "host", "name",
				 "node.example", "process", "pid", 4200 + rank * 10, "comm",
				 "python", "clock", "monotonic_ns", (json_int_t)1000000000,
				 "realtime_ns", (json_int_t)1790000000000000000, "dtypes",
				 "unsigned char", "float", "long int");

	if (g->gpu) {
		json_object_set_new(meta, "rank",
				    json_pack("{s:i,s:i,s:i}", "rank", rank, "local_rank", rank,
					      "world_size", world));
	}
	return meta;
}

int main(int argc, char **argv)
{
	const int rank = argc > 4 ? atoi(argv[4]) : 0, world = argc > 5 ? atoi(argv[5]) : 1;
	struct gen g = {.now_ns = 5000000789ull, .gpu = argc > 1 && !strcmp(argv[1], "gpu")};
	json_t *meta;
	uint64_t steps;

	if (argc < 4) {
		fprintf(stderr, "usage: make_recording cpu|gpu FILE STEPS [RANK WORLD]\n");
		return 2;
	}
	steps = strtoull(argv[3], NULL, 10);
	meta = metadata(&g, rank, world);
	if (recording_writer__create(argv[2], meta, &g.w))
		die("create");
	json_decref(meta);
	tracks(&g, rank);
	for (uint64_t i = 0; i < steps; i++)
		step(&g, i);
	meta = g.gpu ? properties(rank) : json_object();
	if (recording_writer__close(g.w, meta))
		die("close");
	json_decref(meta);
	return 0;
}
