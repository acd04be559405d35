// SPDX-License-Identifier: BSD-2-Clause
#include "capture/processes/hold.h"
#include "common/util.h"
#include "inject/hijack.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#define STOP_NS 200000000ull
#define HOLD_S	10

/* Whoever traces a thread is the one that stopped it: a thread of ours, for this alone. */
struct hold {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool tried, release;
	struct hijack hijack;
	pid_t pid;
};

static void wait_for_release(struct hold *h)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += HOLD_S;
	while (!h->release && !pthread_cond_timedwait(&h->changed, &h->lock, &until))
		;
}

static void *hold_thread(void *arg)
{
	struct hold *h = arg;
	const int err = hijack__stop(&h->hijack, h->pid, h->pid, clock__monotonic_ns() + STOP_NS);

	pthread_mutex_lock(&h->lock);
	h->tried = true;
	pthread_cond_signal(&h->changed);
	if (!err)
		wait_for_release(h);
	pthread_mutex_unlock(&h->lock);
	if (!err)
		hijack__let_go(&h->hijack);
	return NULL;
}

struct hold *hold__begin(pid_t pid)
{
	struct hold *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->pid = pid;
	pthread_mutex_init(&h->lock, NULL);
	pthread_cond_init(&h->changed, NULL);
	if (pthread_create(&h->thread, NULL, hold_thread, h)) {
		free(h);
		return NULL;
	}
	pthread_mutex_lock(&h->lock);
	while (!h->tried)
		pthread_cond_wait(&h->changed, &h->lock);
	pthread_mutex_unlock(&h->lock);
	return h;
}

uint64_t hold__end(struct hold *h)
{
	uint64_t stopped_ns;

	if (!h)
		return 0;
	pthread_mutex_lock(&h->lock);
	h->release = true;
	pthread_cond_signal(&h->changed);
	pthread_mutex_unlock(&h->lock);
	pthread_join(h->thread, NULL);
	stopped_ns = h->hijack.stopped_ns;
	pthread_cond_destroy(&h->changed);
	pthread_mutex_destroy(&h->lock);
	free(h);
	return stopped_ns;
}
