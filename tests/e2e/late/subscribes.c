// SPDX-License-Identifier: BSD-2-Clause
/*
 * subscribes: sets memory of the device until SIGTERM, as many times as it says in the end. At
 * SIGUSR1 it subscribes to CUPTI, once, and says what came of it: a tool that does without if it is
 * refused.
 */
#include <cuda_runtime_api.h>
#include <cupti.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile sig_atomic_t asked, begins;
static int called;

static void on_signal(int number)
{
	if (number == SIGTERM)
		asked = 1;
	else
		begins = 1;
}

static void CUPTIAPI on_callback(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
				 const void *data)
{
	(void)user, (void)domain, (void)id, (void)data;
	called++;
}

static void subscribe(void)
{
	CUpti_SubscriberHandle subscriber;
	CUptiResult result = cuptiSubscribe(&subscriber, on_callback, NULL);

	if (!result)
		result = cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API);
	printf("subscribed %d\n", result);
	fflush(stdout);
}

int main(void)
{
	void *memory;

	signal(SIGTERM, on_signal);
	signal(SIGUSR1, on_signal);
	if (cudaMalloc(&memory, 4096))
		return 1;
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	while (!asked) {
		if (begins == 1)
			subscribe();
		begins = begins ? 2 : 0;
		cudaMemset(memory, 1, 4096);
		usleep(2000);
	}
	printf("called %d\n", called);
	return cudaDeviceSynchronize() != cudaSuccess;
}
