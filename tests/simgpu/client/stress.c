// SPDX-License-Identifier: BSD-2-Clause
/*
 * Threads that launch, copy, wait and capture on streams of their own, while CUPTI comes and goes
 * as an injected profiler would have it: subscribe, enable, disable, flush, and finalize in an API
 * exit.
 */
#include "client.h"
#include <cupti.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#define THREADS	   4
#define CYCLES	   10
#define WINDOW_US  10000
#define DEADLINE_S 20

static char stub;
static atomic_bool stop, finalize_wanted, finalized;
static atomic_ulong launched, recorded, lent;

static void requested(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
	*bytes = 64 << 10;
	*max_records = 0;
	*buffer = aligned_alloc(8, *bytes);
	lent++;
}

static void completed(CUcontext context, uint32_t id, uint8_t *buffer, size_t bytes, size_t valid)
{
	CUpti_Activity *record = NULL;

	while (!cuptiActivityGetNextRecord(buffer, valid, &record))
		recorded += record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
	free(buffer);
	lent--;
}

static void called(void *userdata, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
		   const void *callback_data)
{
	const CUpti_CallbackData *data = callback_data;

	if (data->callbackSite == CUPTI_API_EXIT && atomic_exchange(&finalize_wanted, false)) {
		OK(cuptiFinalize());
		finalized = true;
	}
}

static void host_function(void *argument)
{
	(*(atomic_ulong *)argument)++;
}

static void *work(void *argument)
{
	atomic_ulong calls = 0;
	unsigned long rounds = 0;
	cudaGraphExec_t exec;
	cudaGraph_t graph;
	cudaStream_t s;
	cudaEvent_t e;
	void *p;

	(void)argument;
	OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	OK(cudaMalloc(&p, 4096));
	for (; !stop; rounds++) {
		OK(cudaEventCreate(&e));
		for (int i = 0; i < 20; i++)
			kernel_launch(&stub, 1, s);
		OK(cudaEventRecord(e, s));
		OK(cudaMemsetAsync(p, 1, 4096, s));
		OK(cudaLaunchHostFunc(s, host_function, &calls));
		OK(cudaEventSynchronize(e));
		OK(cudaEventDestroy(e));
		OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
		kernel_launch(&stub, 1, s);
		OK(cudaStreamEndCapture(s, &graph));
		OK(cudaGraphInstantiate(&exec, graph, 0));
		OK(cudaGraphLaunch(exec, s));
		OK(cudaStreamSynchronize(s));
		OK(cudaGraphExecDestroy(exec));
		OK(cudaGraphDestroy(graph));
		launched += 21;
	}
	CHECK(calls == rounds);
	OK(cudaFree(p));
	OK(cudaStreamDestroy(s));
	return NULL;
}

static void cycle(void)
{
	CUpti_SubscriberHandle subscriber;

	OK(cuptiSubscribe(&subscriber, (CUpti_CallbackFunc)called, NULL));
	OK(cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API));
	OK(cuptiActivityRegisterCallbacks(requested, completed));
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME));
	usleep(WINDOW_US);
	OK(cuptiActivityFlushAll(0));
	OK(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	OK(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_RUNTIME));
	OK(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
	finalized = false;
	finalize_wanted = true;
	while (!finalized)
		usleep(100);
	usleep(WINDOW_US);
	/* A buffer may be on its way back, on a thread that already had it. */
	for (int i = 0; i < 2000 && lent; i++)
		usleep(1000);
	CHECK(lent == 0);
}

int main(void)
{
	pthread_t threads[THREADS];

	alarm(DEADLINE_S);
	kernel_register(&stub, "_Z6kernelv");
	for (int i = 0; i < THREADS; i++)
		OK(pthread_create(&threads[i], NULL, work, NULL));
	for (int i = 0; i < CYCLES; i++)
		cycle();
	stop = true;
	for (int i = 0; i < THREADS; i++)
		OK(pthread_join(threads[i], NULL));
	CHECK(recorded > 0 && recorded < launched);
	printf("stress: ok\n");
	return 0;
}
