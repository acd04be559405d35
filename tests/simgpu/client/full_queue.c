// SPDX-License-Identifier: BSD-2-Clause
/*
 * A thread's cudaEventRecord waits for room in a full stream. Until it returns, the event is not
 * recorded: another thread's cudaStreamWaitEvent on that stream waits for nothing.
 */
#include "client.h"
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#define QUEUE_LENGTH 1024  /* of engine/stream.c */
#define LONG_US	     50000 /* by then the thread waits for room */
#define DEADLINE_MS  20000

static char stub;
static cudaStream_t s;
static cudaEvent_t event;
static sem_t held;
static atomic_bool recorded;

static void hold(void *argument)
{
	OK(sem_wait(argument));
}

static void *record(void *unused)
{
	OK(cudaEventRecord(event, s));
	recorded = true;
	return unused;
}

static void wait_until_idle(void)
{
	for (int ms = 0; cudaStreamQuery(s); ms++) {
		CHECK(ms < DEADLINE_MS);
		usleep(1000);
	}
}

int main(void)
{
	pthread_t thread;

	kernel_register(&stub, "_Z6kernelv");
	OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
	OK(sem_init(&held, 0, 0));
	OK(cudaLaunchHostFunc(s, hold, &held));
	for (int i = 1; i < QUEUE_LENGTH; i++)
		kernel_launch(&stub, 1, s);
	OK(pthread_create(&thread, NULL, record, NULL));
	usleep(LONG_US);
	CHECK(!recorded);
	OK(cudaEventQuery(event));
	OK(cudaStreamWaitEvent(s, event, 0));
	OK(sem_post(&held));
	OK(pthread_join(thread, NULL));
	wait_until_idle();
	OK(cudaEventQuery(event));
	puts("full queue: ok");
	return 0;
}
