// SPDX-License-Identifier: BSD-2-Clause
/*
 * The library's hot path: what CUPTI's callback adds to a call of the CUDA API, beside the two
 * readings of the clock that any tool needs; and how many calls per second go through the shared
 * memory with none lost, from one thread at full speed and at a rate, with one reader that looks as
 * often as proftrace does.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "cupti_shim/shim.h"
#include "common/err.h"
#include "device/shim_link.h"

#define CALLS	  4000000ull
#define POLL_NS	  10000000 /* a turn of the session's loop */
#define LAUNCH_ID 211

/* calls.c has names of functions to hand out; here nobody asks for any. */
bool records__put_name(struct shim_control *c, uint64_t key, const char *text)
{
	(void)c, (void)key, (void)text;
	return true;
}

bool records__put(struct shim_control *c, const struct shim_record *record)
{
	return shim_put(c, record);
}

struct reader {
	struct shim_link *link;
	uint64_t taken;
	bool stop;
};

static int take(void *ctx, size_t ring, uint32_t tid, const struct shim_call *call)
{
	struct reader *r = ctx;

	(void)ring, (void)tid, (void)call;
	r->taken++;
	return 0;
}

static void *read_calls(void *arg)
{
	const struct timespec pause = {.tv_nsec = POLL_NS};
	struct reader *r = arg;
	bool last;

	do {
		last = __atomic_load_n(&r->stop, __ATOMIC_ACQUIRE);
		if (shim_link__calls(r->link, take, r))
			break;
		if (!last)
			nanosleep(&pause, NULL);
	} while (!last);
	return NULL;
}

static void one_call(uint32_t correlation)
{
	uint32_t result = 0;
	struct cupti_callback_data d = {
		.site = CUPTI_ENTER, .correlation = correlation, .result = (void *)&result};

	calls__on_callback(NULL, SHIM_RUNTIME, LAUNCH_ID, &d);
	d.site = CUPTI_EXIT;
	calls__on_callback(NULL, SHIM_RUNTIME, LAUNCH_ID, &d);
}

static double ns_per_clock_pair(void)
{
	uint64_t begin = shim_now(), sum = 0;

	for (uint64_t i = 0; i < CALLS / 2; i++) {
		uint64_t a = shim_now();

		sum += shim_now() - a;
	}
	return sum ? (double)(shim_now() - begin) / (double)(CALLS / 2) : 0;
}

/* In bursts of a sixteenth of the ring; gaps between them make the mean rate. rate 0: no gaps. */
static double ns_per_call(uint64_t calls, double rate)
{
	uint64_t begin = shim_now(), spent = 0;

	for (uint64_t i = 0; i < calls;) {
		uint64_t burst = SHIM_RING_CALLS / 16, from = shim_now();

		for (uint64_t end = i + burst < calls ? i + burst : calls; i < end; i++)
			one_call((uint32_t)i + 1);
		spent += shim_now() - from;
		while (rate > 0 && (double)(shim_now() - begin) < (double)i / rate * 1e9)
			usleep(100);
	}
	return (double)spent / (double)calls;
}

static int measure(struct shim_link *link, struct shim_control *target, uint64_t calls, double rate,
		   double clock_ns)
{
	struct reader reader = {.link = link};
	struct shim_facts before, after;
	pthread_t thread;
	uint64_t begin;
	double ns, seconds;

	shim_link__facts(link, &before);
	if (pthread_create(&thread, NULL, read_calls, &reader))
		return 1;
	calls__connect(target);
	begin = shim_now();
	ns = ns_per_call(calls, rate);
	seconds = (double)(shim_now() - begin) / 1e9;
	__atomic_store_n(&reader.stop, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	shim_link__facts(link, &after);
	printf("| %s | %.2f M/s | %.0f ns | %.1fx | %" PRIu64 " of %" PRIu64 " |\n",
	       rate > 0 ? "at a rate" : "at full speed", (double)calls / seconds / 1e6, ns,
	       ns / clock_ns, after.lost_rings - before.lost_rings, calls);
	return reader.taken + (after.lost_rings - before.lost_rings) != calls;
}

int main(void)
{
	struct shim_link *link;
	struct shim_control *target;
	double clock_ns = ns_per_clock_pair();
	int fd, wrong;

	if (shim_link__create(&link)) {
		fprintf(stderr, "shim_ring: %s\n", err__take(-1));
		return 1;
	}
	fd = open(shim_link__path(link), O_RDWR | O_CLOEXEC);
	target = mmap(NULL, sizeof(*target), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd < 0 || target == MAP_FAILED) {
		perror("shim_ring");
		return 1;
	}
	target = mmap(NULL, target->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	printf("two readings of the clock: %.0f ns\n\n", clock_ns);
	puts("| calls | rate | a call costs | x two clock readings | lost |");
	puts("| --- | ---: | ---: | ---: | ---: |");
	wrong = measure(link, target, CALLS, 0, clock_ns);
	wrong |= measure(link, target, CALLS / 2, 1e6, clock_ns);
	wrong |= measure(link, target, CALLS / 20, 2e5, clock_ns);
	shim_link__free(link);
	if (wrong)
		fputs("shim_ring: calls that were neither read nor counted as lost\n", stderr);
	return wrong;
}
