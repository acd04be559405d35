// SPDX-License-Identifier: BSD-2-Clause
/*
 * The library in the target under ThreadSanitizer: threads that launch, copy and wait on the
 * simulated GPU, and some that live for one call, while windows open and close beside them. Its two
 * sides map their file at two places, so order between them is not what this sees.
 */
#include "device/shim_link.h"
#include "cupti_shim/shim.h"
#include "tests/simgpu/client/client.h"
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#define THREADS 4
#define WINDOWS 6
#define BYTES	4096

static char stub;
static atomic_bool stop;
static atomic_ulong calls, activities;

static void *work(void *unused)
{
	cudaStream_t stream;
	cudaEvent_t done;
	void *device, *host = malloc(BYTES);

	OK(cudaStreamCreate(&stream));
	OK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
	OK(cudaMalloc(&device, BYTES));
	while (!stop) {
		kernel_launch(&stub, 1, stream);
		OK(cudaMemcpyAsync(device, host, BYTES, cudaMemcpyHostToDevice, stream));
		OK(cudaEventRecord(done, stream));
		OK(cudaStreamWaitEvent(stream, done, 0));
		OK(cudaStreamSynchronize(stream));
		usleep(2000);
	}
	OK(cudaFree(device));
	OK(cudaStreamDestroy(stream));
	free(host);
	return unused;
}

static void *wait_once(void *stream)
{
	OK(cudaStreamSynchronize(stream));
	return NULL;
}

/* Their rings are taken over by id alone, so short lives matter. */
static void *short_lives(void *unused)
{
	cudaStream_t stream;
	pthread_t thread;

	OK(cudaStreamCreate(&stream));
	while (!stop) {
		CHECK(!pthread_create(&thread, NULL, wait_once, stream));
		pthread_join(thread, NULL);
		usleep(20000);
	}
	return unused;
}

static int on_call(void *ctx, size_t ring, uint32_t tid, const struct shim_call *call)
{
	calls++;
	return 0;
}

static int on_record(void *ctx, const struct shim_record *r)
{
	activities += r->kind == SHIM_REC_KERNEL || r->kind == SHIM_REC_COPY;
	return 0;
}

static void drain(struct shim_link *l, unsigned int ms)
{
	for (unsigned int i = 0; i < ms / 5; i++) {
		shim_link__beat(l);
		CHECK(!shim_link__activities(l, on_record, NULL));
		CHECK(!shim_link__calls(l, on_call, NULL));
		usleep(5000);
	}
}

static void command(struct shim_link *l, enum shim_command what)
{
	uint32_t seq = shim_link__command(l, what);

	for (int i = 0; i < 4000 && !shim_link__is_done(l, seq); i++)
		drain(l, 5);
	if (!shim_link__is_done(l, seq))
		fprintf(stderr, "command %d is not done, state %d\n", (int)what,
			(int)shim_link__state(l));
	else if (shim_link__error(l))
		fprintf(stderr, "command %d: %s\n", (int)what, shim_link__error(l));
	CHECK(shim_link__is_done(l, seq) && !shim_link__error(l));
}

static void window(const char *cupti)
{
	struct shim_link *l;
	int err;

	CHECK(!shim_link__create(&l));
	shim_link__set_cupti(l, cupti, 0);
	for (int i = 0; i < 1000 && (err = proftrace_cupti_attach(shim_link__path(l))) == -EBUSY;
	     i++)
		usleep(1000); /* the one before is leaving */
	CHECK(!err);
	command(l, SHIM_RECORD);
	drain(l, 100);
	command(l, SHIM_FLUSH);
	drain(l, 100);
	command(l, SHIM_PARK);
	drain(l, 20);
	command(l, SHIM_LEAVE);
	shim_link__free(l);
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS + 1];

	CHECK(argc == 2);
	kernel_register(&stub, "_Z6kernelv");
	for (int i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, work, NULL));
	CHECK(!pthread_create(&threads[THREADS], NULL, short_lives, NULL));
	for (int i = 0; i < WINDOWS; i++)
		window(argv[1]);
	stop = true;
	for (int i = 0; i <= THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("tsan: %lu calls, %lu activities in %d windows\n", calls, activities, WINDOWS);
	CHECK(calls > 500 && activities > 200);
	return 0;
}
