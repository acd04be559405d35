// SPDX-License-Identifier: BSD-2-Clause
/*
 * Threads, each with a stream of its own, that launch kernels and graphs which end about when the
 * next one is submitted. What they did is in the truth log, for others to judge.
 *
 *     order [ROUNDS]
 */
#include "client.h"
#include <pthread.h>

#define THREADS	    4
#define MAX_KERNELS 4 /* up to this many kernels come before a graph */
#define SYNC_ROUNDS 64
#define SET_BYTES   256

static char stub_kernel, stub_node;
static long rounds = 3000;

static cudaGraphExec_t capture(cudaStream_t s)
{
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
	kernel_launch(&stub_node, 1, s);
	kernel_launch(&stub_node, 1, s);
	OK(cudaStreamEndCapture(s, &graph));
	OK(cudaGraphInstantiate(&exec, graph, 0));
	OK(cudaGraphDestroy(graph));
	return exec;
}

/* The first thread uses the null stream. The second one's stream is ordered with the null stream,
 * the others' are not. */
static void *work(void *argument)
{
	long thread = (long)argument;
	cudaStream_t own, s;
	cudaGraphExec_t exec;
	void *p;

	OK(cudaStreamCreateWithFlags(&own, thread < 2 ? cudaStreamDefault : cudaStreamNonBlocking));
	OK(cudaMalloc(&p, SET_BYTES));
	exec = capture(own);
	s = thread ? own : NULL;
	for (long i = 0; i < rounds; i++) {
		for (long k = 0; k < i % MAX_KERNELS; k++)
			kernel_launch(&stub_kernel, 1, s);
		OK(cudaGraphLaunch(exec, s));
		if (i % 3 == 0)
			OK(cudaMemsetAsync(p, 0, SET_BYTES, s));
		if (i % SYNC_ROUNDS == 0)
			OK(cudaStreamSynchronize(s));
	}
	OK(cudaStreamSynchronize(s));
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	if (argc > 1)
		rounds = atol(argv[1]);
	kernel_register(&stub_kernel, "_Z6kernelv");
	kernel_register(&stub_node, "_Z4nodev");
	for (long i = 0; i < THREADS; i++)
		OK(pthread_create(&threads[i], NULL, work, (void *)i));
	for (long i = 0; i < THREADS; i++)
		OK(pthread_join(threads[i], NULL));
	OK(cudaDeviceSynchronize());
	return 0;
}
