// SPDX-License-Identifier: BSD-2-Clause
/*
 * subscribes: sets memory of the device until SIGTERM. At SIGUSR1 it subscribes to CUPTI, once, and
 * says what came of it: a tool that does without if it is refused. At SIGUSR2 it records
 * activities, by functions of CUPTI's that it asks the loader for. In the end it says how many
 * calls and activities it was told of, and how often it has set memory since it records.
 */
#include <cuda_runtime_api.h>
#include <cupti.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile sig_atomic_t asked, begins;
static int called, recorded, records, sets;

static void on_signal(int number)
{
	if (number == SIGTERM)
		asked = 1;
	else
		begins = number;
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

static void CUPTIAPI on_request(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
	*bytes = 1 << 16;
	*buffer = aligned_alloc(8, *bytes);
	*max_records = 0;
}

static void CUPTIAPI on_complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes,
				 size_t valid)
{
	CUpti_Activity *record = NULL;

	(void)context, (void)stream, (void)bytes;
	while (!cuptiActivityGetNextRecord(buffer, valid, &record))
		recorded += record->kind == CUPTI_ACTIVITY_KIND_MEMSET;
	free(buffer);
}

static void record(void)
{
	/* not by name, because those calls go through this program's own pointers */
	__typeof__(cuptiActivityRegisterCallbacks) *take =
		(__typeof__(take))dlsym(RTLD_DEFAULT, "cuptiActivityRegisterCallbacks");
	__typeof__(cuptiActivityEnable) *enable =
		(__typeof__(enable))dlsym(RTLD_DEFAULT, "cuptiActivityEnable");

	records = !take(on_request, on_complete) && !enable(CUPTI_ACTIVITY_KIND_MEMSET) &&
		  !enable(CUPTI_ACTIVITY_KIND_MEMORY2);
	printf("records %d\n", !records);
	fflush(stdout);
}

int main(void)
{
	void *memory;

	signal(SIGTERM, on_signal);
	signal(SIGUSR1, on_signal);
	signal(SIGUSR2, on_signal);
	if (cudaMalloc(&memory, 4096))
		return 1;
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	while (!asked) {
		if (begins == SIGUSR1)
			subscribe();
		else if (begins == SIGUSR2)
			record();
		begins = 0;
		cudaMemset(memory, 1, 4096);
		sets += records;
		usleep(2000);
	}
	if (cudaDeviceSynchronize())
		return 1;
	cuptiActivityFlushAll(0);
	printf("called %d recorded %d of %d\n", called, recorded, sets);
	return 0;
}
