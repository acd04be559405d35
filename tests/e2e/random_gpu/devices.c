// SPDX-License-Identifier: BSD-2-Clause
/* A random job's requests to its devices: kernels, copies, sets, graphs, collectives, waits. */
#include "job.h"
#include "tests/simgpu/client/client.h"
#include <fcntl.h>
#include <nccl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define KERNELS 6
#define PENDING 1024 /* steps that the host may be ahead and be waited for */
#define RANKS	8
#define GRACE	64 /* steps that ranks make before they see that they are to end */

static char stubs[KERNELS];
static const char *const names[KERNELS] = {
	"_Z7forwardPKfS0_Pfi",
	"_Z8backwardPKfS0_Pfi",
	"_Z6updatePfPKff",
	"_Z4lossPKfPf",
	"_ZN6engine5gemmTILi128ELb0EEEvPKfS2_Pfi",
	"_Z9elementwiIfEvPT_i",
};

static struct device {
	void *memory, *other; /* of BYTES each */
	void *pinned;
	cudaStream_t streams[MAX_STREAMS];
	cudaEvent_t order, steps[PENDING];
} devices[MAX_DEVICES];
static void *pageable;
static cudaGraphExec_t graphs[MAX_GRAPHS];
static const struct description *job;
static ncclComm_t communicator;

/* Shared by all ranks. */
static struct place {
	_Atomic uint64_t steps[RANKS], stop_at; /* 0: not known yet */
} *place;

/* Stream -1 is the null stream. */
static cudaStream_t stream_of(int dev, int stream)
{
	CHECK(dev >= 0 && dev < job->device_cnt && stream >= -1 && stream < job->stream_cnt);
	return stream < 0 ? NULL : devices[dev].streams[stream];
}

/* DEVICE STREAM KERNEL BLOCKS FORM: launches a kernel; FORM chooses the function of CUDA. */
static void launch(const int *arg)
{
	cudaStream_t stream = stream_of(arg[0], arg[1]);
	const char *stub = &stubs[arg[2] % KERNELS];
	dim3 grid = {(unsigned int)arg[3], 1, 1}, block = {128, 1, 1};
	cudaLaunchConfig_t config = {.gridDim = grid, .blockDim = block, .stream = stream};
	cudaFunction_t function;
	cudaKernel_t kernel;

	switch (arg[4]) {
	case 1:
		OK(__cudaGetKernel(&kernel, stub));
		OK(__cudaLaunchKernel(kernel, grid, block, NULL, 0, stream));
		break;
	case 2:
		OK(cudaLaunchKernelExC(&config, stub, NULL));
		break;
	case 3:
		OK(cudaGetFuncBySymbol(&function, stub));
		OK(cuLaunchKernel((CUfunction)function, grid.x, 1, 1, 128, 1, 1, 0, stream, NULL,
				  NULL));
		break;
	default:
		OK(cudaLaunchKernel(stub, grid, block, NULL, 0, stream));
	}
}

enum { COPY_IN, COPY_OUT, COPY_WITHIN, COPY_ACROSS, COPY_IN_PAGEABLE, COPY_OUT_PAGEABLE };

/* DEVICE STREAM KIND BYTES ASYNC */
static void copy(const int *arg)
{
	const struct device *dev = &devices[arg[0]],
			    *next = &devices[(arg[0] + 1) % job->device_cnt];
	void *host = arg[2] >= COPY_IN_PAGEABLE ? pageable : dev->pinned;
	void *to = dev->memory, *from = host;
	cudaStream_t stream = stream_of(arg[0], arg[1]);

	if (arg[2] == COPY_OUT || arg[2] == COPY_OUT_PAGEABLE)
		to = host, from = dev->memory;
	else if (arg[2] == COPY_WITHIN)
		from = dev->other;
	else if (arg[2] == COPY_ACROSS)
		from = next->other;
	if (arg[4])
		OK(cudaMemcpyAsync(to, from, (size_t)arg[3], cudaMemcpyDefault, stream));
	else
		OK(cudaMemcpy(to, from, (size_t)arg[3], cudaMemcpyDefault));
}

/* DEVICE STREAM BYTES ASYNC */
static void set(const int *arg)
{
	if (arg[3])
		OK(cudaMemsetAsync(devices[arg[0]].memory, 0, (size_t)arg[2],
				   stream_of(arg[0], arg[1])));
	else
		OK(cudaMemset(devices[arg[0]].memory, 0, (size_t)arg[2]));
}

/* DEVICE STREAM STREAM: the second stream waits for the first one's work. */
static void order(const int *arg)
{
	struct device *dev = &devices[arg[0]];

	OK(cudaEventRecord(dev->order, stream_of(arg[0], arg[1])));
	OK(cudaStreamWaitEvent(stream_of(arg[0], arg[2]), dev->order, 0));
}

/* DEVICE STREAM COUNT [ROOT] */
static void collective(const struct action *a)
{
	void *memory = devices[a->arg[0]].memory;
	cudaStream_t stream = stream_of(a->arg[0], a->arg[1]);

	if (a->kind == ACTION_REDUCE)
		OK(ncclAllReduce(memory, memory, (size_t)a->arg[2], ncclFloat, ncclSum,
				 communicator, stream));
	else
		OK(ncclBcast(memory, (size_t)a->arg[2], ncclFloat, a->arg[3], communicator,
			     stream));
}

void devices__do(const struct action *a)
{
	if (a->kind != ACTION_GRAPH)
		OK(cudaSetDevice(a->arg[0]));
	switch (a->kind) {
	case ACTION_KERNEL:
		return launch(a->arg);
	case ACTION_COPY:
		return copy(a->arg);
	case ACTION_SET:
		return set(a->arg);
	case ACTION_GRAPH: /* GRAPH DEVICE STREAM */
		OK(cudaSetDevice(a->arg[1]));
		OK(cudaGraphLaunch(graphs[a->arg[0]], stream_of(a->arg[1], a->arg[2])));
		return;
	case ACTION_SYNC:
		OK(cudaStreamSynchronize(stream_of(a->arg[0], a->arg[1])));
		return;
	case ACTION_SYNC_DEVICE:
		OK(cudaDeviceSynchronize());
		return;
	case ACTION_ORDER:
		return order(a->arg);
	default:
		return collective(a);
	}
}

/* On the first action's device and stream. */
static void capture(int number)
{
	const struct program *p = &job->graphs[number];
	const int *first = p->actions[0].arg;
	cudaStream_t stream = stream_of(first[0], first[1]);
	cudaGraph_t graph;

	OK(cudaSetDevice(first[0]));
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	for (size_t i = 0; i < p->cnt; i++)
		devices__do(&p->actions[i]);
	OK(cudaStreamEndCapture(stream, &graph));
	OK(cudaGraphInstantiate(&graphs[number], graph, 0));
	OK(cudaGraphDestroy(graph));
}

static void open_device(struct device *dev)
{
	OK(cudaMalloc(&dev->memory, BYTES));
	OK(cudaMalloc(&dev->other, BYTES));
	OK(cudaMallocHost(&dev->pinned, BYTES));
	OK(cudaEventCreateWithFlags(&dev->order, cudaEventDisableTiming));
	for (int i = 0; i < job->stream_cnt; i++)
		OK(cudaStreamCreateWithFlags(&dev->streams[i], cudaStreamNonBlocking));
	for (int i = 0; job->depth > 0 && i <= job->depth; i++)
		OK(cudaEventCreateWithFlags(&dev->steps[i], cudaEventDisableTiming));
}

static void share(const struct description *d)
{
	char path[600];
	int fd;

	snprintf(path, sizeof(path), "%s.place", d->id_path);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	CHECK(fd >= 0 && !ftruncate(fd, sizeof(*place)));
	place = mmap(NULL, sizeof(*place), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(place != MAP_FAILED && d->rank < RANKS);
	close(fd);
}

/* The first rank writes the communicator's id. The others wait for that. */
static void join(const struct description *d)
{
	char path[600];
	ncclUniqueId id;
	FILE *f;

	snprintf(path, sizeof(path), "%s.new", d->id_path);
	if (!d->rank) {
		OK(ncclGetUniqueId(&id));
		f = fopen(path, "w");
		CHECK(f && fwrite(&id, sizeof(id), 1, f) == 1 && !fclose(f));
		CHECK(!rename(path, d->id_path));
	}
	while (!(f = fopen(d->id_path, "r")))
		usleep(1000);
	CHECK(fread(&id, sizeof(id), 1, f) == 1);
	fclose(f);
	OK(cudaSetDevice(d->rank % d->device_cnt));
	OK(ncclCommInitRank(&communicator, d->rank_cnt, id, d->rank));
}

void devices__open(const struct description *d)
{
	job = d;
	CHECK(d->depth < PENDING);
	for (int i = 0; i < KERNELS; i++)
		kernel_register(&stubs[i], names[i]);
	pageable = calloc(1, BYTES);
	CHECK(pageable);
	for (int dev = 0; dev < d->device_cnt; dev++) {
		OK(cudaSetDevice(dev));
		open_device(&devices[dev]);
	}
	if (d->rank_cnt) {
		share(d);
		join(d);
	}
	for (int i = 0; i < d->graph_cnt; i++)
		capture(i);
}

/* Stream 0 records the event after all streams' work so far. */
static void record_step(struct device *dev, cudaEvent_t done)
{
	for (int i = 1; i < job->stream_cnt; i++) {
		OK(cudaEventRecord(dev->order, dev->streams[i]));
		OK(cudaStreamWaitEvent(dev->streams[0], dev->order, 0));
	}
	OK(cudaEventRecord(done, dev->streams[0]));
}

static void wait_all(void)
{
	for (int dev = 0; dev < job->device_cnt; dev++) {
		OK(cudaSetDevice(dev));
		OK(cudaDeviceSynchronize());
	}
}

void devices__end_step(const struct description *d, uint64_t number)
{
	const size_t slots = (size_t)d->depth + 1;

	if (!d->depth || (d->every && number % (uint64_t)d->every == 0)) {
		wait_all();
		return;
	}
	for (int i = 0; d->depth > 0 && i < d->device_cnt; i++) {
		struct device *dev = &devices[i];

		OK(cudaSetDevice(i));
		record_step(dev, dev->steps[number % slots]);
		if (number >= (uint64_t)d->depth)
			OK(cudaEventSynchronize(dev->steps[(number + 1) % slots]));
	}
}

bool devices__all_stop(uint64_t number, bool asked)
{
	uint64_t most = number, none = 0;

	if (!place)
		return asked;
	place->steps[job->rank] = number;
	for (int i = 0; i < RANKS; i++)
		most = place->steps[i] > most ? place->steps[i] : most;
	if (asked)
		atomic_compare_exchange_strong(&place->stop_at, &none, most + GRACE);
	return place->stop_at && number >= place->stop_at;
}

void devices__close(void)
{
	wait_all();
	if (communicator)
		OK(ncclCommDestroy(communicator));
}
