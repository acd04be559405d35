// SPDX-License-Identifier: BSD-2-Clause
/*
 * A job without a framework, for tests of a second: steps of launches in every form, copies, sets,
 * synchronisations, over some devices and streams, and what it did printed at the end.
 *
 *     train [STEPS [SLEEP_US [DEVICES [STREAMS [GRAPHS]]]]]   STEPS 0: until SIGTERM; GRAPHS 0:
 * none
 */
#include "client.h"
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define PARAMETERS  65536
#define MAX_STREAMS 8

static char stub_forward, stub_loss, stub_backward, stub_update;
static const struct {
	const char *stub, *name;
} kernels[] = {
	{&stub_forward, "_Z7forwardPKfS0_Pfi"},
	{&stub_loss, "_Z4lossPKfPf"},
	{&stub_backward, "_Z8backwardPKfS0_Pfi"},
	{&stub_update, "_Z6updatePfPKff"},
};

static volatile sig_atomic_t stop;
static struct {
	void *parameters, *gradient, *batch;
	cudaStream_t streams[MAX_STREAMS];
	cudaEvent_t done;
	cudaGraphExec_t update;
} devices[16];
static unsigned long kernel_cnt, copy_cnt, set_cnt;

static void on_term(int signal_)
{
	stop = signal_;
}

static void launch_all_forms(cudaStream_t stream)
{
	dim3 grid = {64, 1, 1}, block = {256, 1, 1};
	cudaLaunchConfig_t config = {
		.gridDim = grid, .blockDim = block, .dynamicSmemBytes = 1024, .stream = stream};
	cudaFunction_t function;
	cudaKernel_t kernel;

	OK(__cudaGetKernel(&kernel, &stub_forward));
	OK(__cudaLaunchKernel(kernel, grid, block, NULL, 0, stream));
	OK(cudaLaunchKernel(&stub_forward, grid, block, NULL, 0, stream));
	OK(cudaLaunchKernelExC(&config, &stub_loss, NULL));
	OK(cudaGetFuncBySymbol(&function, &stub_backward));
	OK(cuLaunchKernel((CUfunction)function, 64, 1, 1, 256, 1, 1, 0, stream, NULL, NULL));
	kernel_cnt += 4;
}

static void capture(int dev)
{
	cudaGraph_t graph;

	OK(cudaStreamBeginCapture(devices[dev].streams[0], cudaStreamCaptureModeGlobal));
	kernel_launch(&stub_update, 16, devices[dev].streams[0]);
	kernel_launch(&stub_update, 16, devices[dev].streams[0]);
	OK(cudaStreamEndCapture(devices[dev].streams[0], &graph));
	OK(cudaGraphInstantiate(&devices[dev].update, graph, 0));
	OK(cudaGraphDestroy(graph));
}

static void setup(int dev, int stream_cnt)
{
	OK(cudaSetDevice(dev));
	OK(cudaMalloc(&devices[dev].parameters, PARAMETERS));
	OK(cudaMalloc(&devices[dev].gradient, PARAMETERS));
	OK(cudaMallocHost(&devices[dev].batch, PARAMETERS));
	OK(cudaEventCreateWithFlags(&devices[dev].done, cudaEventDisableTiming));
	for (int i = 0; i < stream_cnt; i++)
		OK(cudaStreamCreateWithFlags(&devices[dev].streams[i], cudaStreamNonBlocking));
}

static void step(int dev, int stream_cnt)
{
	float loss;

	OK(cudaSetDevice(dev));
	OK(cudaMemcpyAsync(devices[dev].parameters, devices[dev].batch, PARAMETERS,
			   cudaMemcpyHostToDevice, devices[dev].streams[0]));
	OK(cudaMemsetAsync(devices[dev].gradient, 0, PARAMETERS, devices[dev].streams[0]));
	for (int i = 0; i < stream_cnt; i++) {
		OK(cudaEventRecord(devices[dev].done, devices[dev].streams[0]));
		OK(cudaStreamWaitEvent(devices[dev].streams[i], devices[dev].done, 0));
		launch_all_forms(devices[dev].streams[i]);
	}
	if (devices[dev].update) {
		OK(cudaGraphLaunch(devices[dev].update, devices[dev].streams[0]));
		kernel_cnt += 2;
	}
	OK(cudaMemcpyAsync(&loss, devices[dev].parameters, sizeof(loss), cudaMemcpyDeviceToHost,
			   devices[dev].streams[0]));
	OK(cudaStreamSynchronize(devices[dev].streams[0]));
	OK(cudaDeviceSynchronize());
	copy_cnt += 2;
	set_cnt++;
}

int main(int argc, char **argv)
{
	long steps = argc > 1 ? atol(argv[1]) : 10, sleep_us = argc > 2 ? atol(argv[2]) : 0;
	int device_cnt = argc > 3 ? atoi(argv[3]) : 1, stream_cnt = argc > 4 ? atoi(argv[4]) : 2;

	bool with_graphs = argc <= 5 || atoi(argv[5]);

	CHECK(device_cnt > 0 && device_cnt <= 16 && stream_cnt > 0 && stream_cnt <= MAX_STREAMS);
	signal(SIGTERM, on_term);
	for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); i++)
		kernel_register(kernels[i].stub, kernels[i].name);
	for (int dev = 0; dev < device_cnt; dev++) {
		setup(dev, stream_cnt);
		if (with_graphs)
			capture(dev);
	}
	printf("ready %d\n", getpid());
	fflush(stdout);
	for (long i = 0; (!steps || i < steps) && !stop; i++) {
		for (int dev = 0; dev < device_cnt; dev++)
			step(dev, stream_cnt);
		if (sleep_us)
			usleep((useconds_t)sleep_us);
	}
	printf("kernels %lu copies %lu sets %lu\n", kernel_cnt, copy_cnt, set_cnt);
	return 0;
}
