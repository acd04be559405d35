// SPDX-License-Identifier: BSD-2-Clause
/* The engine's promises, one by one. Kernels last 100 us here: run sets SIMGPU_KERNEL_NS and the
 * like. */
#include "client.h"
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define KERNEL_MS 0.1f

static char stub_a, stub_b, stub_hang;
static cudaStream_t s1, s2;
static cudaEvent_t begin, end;

static float elapsed_ms(void)
{
	float ms;

	OK(cudaEventSynchronize(end));
	OK(cudaEventElapsedTime(&ms, begin, end));
	return ms;
}

static int near(float ms, float expected)
{
	return ms > expected * 0.99f && ms < expected * 1.01f;
}

static void data_goes_round(void)
{
	char in[64] = "sixty-four bytes", out[64] = "";
	void *p, *pinned;

	OK(cudaMalloc(&p, sizeof(in)));
	OK(cudaHostAlloc(&pinned, sizeof(in), 0));
	OK(cudaMemcpy(p, in, sizeof(in), cudaMemcpyHostToDevice));
	OK(cudaMemcpy(out, p, sizeof(in), cudaMemcpyDeviceToHost));
	CHECK(!memcmp(in, out, sizeof(in)));
	/* a pageable source may change at once; the destination has the old bytes */
	OK(cudaMemcpyAsync(p, in, sizeof(in), cudaMemcpyHostToDevice, s1));
	in[0] = 'S';
	OK(cudaMemcpyAsync(pinned, p, sizeof(in), cudaMemcpyDeviceToHost, s1));
	OK(cudaStreamSynchronize(s1));
	CHECK(!strcmp(pinned, "sixty-four bytes"));
	OK(cudaMemset(p, 7, sizeof(in)));
	OK(cudaMemcpy(out, p, sizeof(in), cudaMemcpyDeviceToHost));
	CHECK(out[0] == 7 && out[63] == 7);
	OK(cudaFree(p));
	OK(cudaFreeHost(pinned));
	CHECK(cudaFree(p) == cudaErrorInvalidValue);
	CHECK(cudaGetLastError() == cudaErrorInvalidValue && cudaGetLastError() == cudaSuccess);
}

static void a_stream_is_in_order(void)
{
	OK(cudaEventRecord(begin, s1));
	for (int i = 0; i < 10; i++)
		kernel_launch(&stub_a, 1, s1);
	OK(cudaEventRecord(end, s1));
	CHECK(cudaEventQuery(end) == cudaErrorNotReady);
	CHECK(cudaStreamQuery(s1) == cudaErrorNotReady);
	CHECK(near(elapsed_ms(), 10 * KERNEL_MS) || elapsed_ms() > 10 * KERNEL_MS);
	CHECK(elapsed_ms() < 11 * KERNEL_MS);
	OK(cudaStreamSynchronize(s1));
	OK(cudaStreamQuery(s1));
}

/* Small kernels of two streams run side by side, kernels that fill the device do not. */
static void streams_share_the_device(void)
{
	for (int full = 0; full < 2; full++) {
		float expected = full ? 20 * KERNEL_MS : 10 * KERNEL_MS;
		unsigned int blocks = full ? 132 * 16 : 1;

		OK(cudaDeviceSynchronize());
		OK(cudaEventRecord(begin, s1));
		OK(cudaStreamWaitEvent(s2, begin, 0));
		for (int i = 0; i < 10; i++) {
			kernel_launch(&stub_a, blocks, s1);
			kernel_launch(&stub_b, blocks, s2);
		}
		OK(cudaEventRecord(end, s2));
		OK(cudaStreamWaitEvent(s1, end, 0));
		OK(cudaEventRecord(end, s1));
		CHECK(elapsed_ms() >= expected && elapsed_ms() < expected + 3 * KERNEL_MS);
	}
}

static void the_legacy_stream_is_a_barrier(void)
{
	cudaStream_t free_running;

	OK(cudaStreamCreateWithFlags(&free_running, cudaStreamNonBlocking));
	OK(cudaEventRecord(begin, s1));
	kernel_launch(&stub_a, 1, s1);
	kernel_launch(&stub_a, 1, 0);
	kernel_launch(&stub_a, 1, s2);
	OK(cudaEventRecord(end, s2));
	CHECK(elapsed_ms() >= 3 * KERNEL_MS);
	kernel_launch(&stub_a, 1, 0);
	OK(cudaEventRecord(begin, free_running));
	OK(cudaEventSynchronize(begin));
	CHECK(cudaStreamQuery(0) == cudaErrorNotReady);
	OK(cudaStreamDestroy(free_running));
	CHECK(cudaStreamSynchronize(free_running) == cudaErrorInvalidResourceHandle);
}

static atomic_int calls;

static void slow_call(void *argument)
{
	usleep(20000);
	calls++;
}

/* A host function holds up its own stream while it runs, and no other stream. */
static void a_host_function_holds_its_stream(void)
{
	OK(cudaLaunchHostFunc(s1, slow_call, NULL));
	OK(cudaEventRecord(end, s1));
	kernel_launch(&stub_b, 1, s2);
	OK(cudaStreamSynchronize(s2));
	CHECK(calls == 0 && cudaEventQuery(end) == cudaErrorNotReady);
	OK(cudaEventSynchronize(end));
	CHECK(calls == 1);
}

static void a_graph_keeps_its_branches(void)
{
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	size_t cnt;

	OK(cudaStreamBeginCapture(s1, cudaStreamCaptureModeGlobal));
	CHECK(cudaStreamSynchronize(s1) == cudaErrorStreamCaptureUnsupported);
	CHECK(cudaStreamEndCapture(s1, &graph) == cudaErrorStreamCaptureInvalidated);
	OK(cudaStreamBeginCapture(s1, cudaStreamCaptureModeGlobal));
	kernel_launch(&stub_a, 1, s1);
	OK(cudaEventRecord(begin, s1));
	OK(cudaStreamWaitEvent(s2, begin, 0));
	for (int i = 0; i < 4; i++) {
		kernel_launch(&stub_a, 1, s1);
		kernel_launch(&stub_b, 1, s2);
	}
	OK(cudaEventRecord(end, s2));
	OK(cudaStreamWaitEvent(s1, end, 0));
	kernel_launch(&stub_a, 1, s1);
	OK(cudaStreamEndCapture(s1, &graph));
	OK(cudaGraphGetNodes(graph, NULL, &cnt));
	CHECK(cnt == 10);
	OK(cudaGraphInstantiate(&exec, graph, 0));
	OK(cudaGraphDestroy(graph));
	OK(cudaEventRecord(begin, s1));
	OK(cudaGraphLaunch(exec, s1));
	OK(cudaGraphLaunch(exec, s1));
	OK(cudaEventRecord(end, s1));
	/* 1 + 4 side by side + 1, twice */
	CHECK(elapsed_ms() >= 12 * KERNEL_MS && elapsed_ms() < 14 * KERNEL_MS);
	OK(cudaGraphExecDestroy(exec));
}

static void devices_are_apart(void)
{
	struct cudaDeviceProp properties;
	char text[16] = "to the other";
	void *p, *q;
	int cnt;

	OK(cudaGetDeviceCount(&cnt));
	CHECK(cnt == 2);
	OK(cudaGetDeviceProperties(&properties, 1));
	CHECK(properties.multiProcessorCount == 132);
	CHECK(cudaSetDevice(2) == cudaErrorInvalidDevice);
	OK(cudaMalloc(&p, 16));
	OK(cudaMemcpy(p, text, 16, cudaMemcpyHostToDevice));
	kernel_launch(&stub_a, 1, 0);
	OK(cudaSetDevice(1));
	OK(cudaDeviceSynchronize());
	OK(cudaMalloc(&q, 16));
	OK(cudaMemcpyPeer(q, 1, p, 0, 16));
	memset(text, 0, 16);
	OK(cudaMemcpy(text, q, 16, cudaMemcpyDeviceToHost));
	CHECK(!strcmp(text, "to the other"));
	CHECK(cudaMalloc(&q, (size_t)1 << 40) == cudaErrorMemoryAllocation);
	OK(cudaSetDevice(0));
}

/* A rule makes stub_hang's kernel run for ever. Its stream waits, and others do not. */
static void a_hang_hangs_alone(void)
{
	kernel_launch(&stub_hang, 1, s1);
	OK(cudaEventRecord(end, s1));
	kernel_launch(&stub_b, 1, s2);
	OK(cudaStreamSynchronize(s2));
	usleep(5000);
	CHECK(cudaEventQuery(end) == cudaErrorNotReady);
}

static void a_pool_counts_what_it_gave(void)
{
	uint64_t before, during, after, most;
	cudaMemPool_t pool;
	void *block;

	OK(cudaDeviceGetDefaultMemPool(&pool, 0));
	OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &before));
	OK(cudaMallocAsync(&block, 1 << 20, s1));
	OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &during));
	OK(cudaFreeAsync(block, s1));
	OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &after));
	OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &most));
	CHECK(during == before + (1 << 20) && after == before && most == during);
	CHECK(cudaMemPoolTrimTo(NULL, 0) == cudaErrorInvalidValue);
}

int main(void)
{
	kernel_register(&stub_a, "_Z8kernel_av");
	kernel_register(&stub_b, "_Z8kernel_bPf");
	kernel_register(&stub_hang, "_Z10kernel_hangi");
	OK(cudaStreamCreate(&s1));
	OK(cudaStreamCreate(&s2));
	OK(cudaEventCreate(&begin));
	OK(cudaEventCreate(&end));
	data_goes_round();
	a_stream_is_in_order();
	streams_share_the_device();
	the_legacy_stream_is_a_barrier();
	a_host_function_holds_its_stream();
	a_graph_keeps_its_branches();
	devices_are_apart();
	a_pool_counts_what_it_gave();
	a_hang_hangs_alone();
	puts("engine: ok");
	return 0;
}
