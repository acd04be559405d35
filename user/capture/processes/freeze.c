// SPDX-License-Identifier: BSD-2-Clause
#include "capture/processes/freeze.h"
#include "common/capability.h"
#include "common/capability_set.h"
#include "common/util.h"
#include "inject/tracee.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#define STOP_NS	    200000000ull
#define HOLD_S	    10
#define THREADS_MAX 64

/* Only the thread that traces another thread may continue it. So we have a thread of our own for
 * that. */
struct freeze {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool tried, release;
	struct tracee *threads[THREADS_MAX];
	size_t cnt;
	bool all;
	pid_t pid;
	uint64_t stopped_ns;
};

static int stop_thread(void *ctx, pid_t tid)
{
	struct freeze *h = ctx;
	struct tracee *thread;

	for (size_t i = 0; i < h->cnt; i++)
		if (h->threads[i]->tid == tid)
			return 0;
	if (h->cnt == THREADS_MAX || (!h->all && tid != h->pid))
		return 0;
	thread = calloc(1, sizeof(*thread));
	if (!thread || tracee__stop(thread, h->pid, tid, clock__monotonic_ns() + STOP_NS))
		free(thread);
	else
		h->threads[h->cnt++] = thread;
	return 0;
}

/* Repeats until no thread is left that could start another one. */
static void stop_threads(struct freeze *h)
{
	size_t before;

	do {
		before = h->cnt;
		proc__each_task(h->pid, stop_thread, h);
	} while (h->all && h->cnt > before);
}

static void let_go(struct freeze *h)
{
	for (size_t i = 0; i < h->cnt; i++) {
		tracee__let_go(h->threads[i]);
		if (!i)
			h->stopped_ns = h->threads[i]->stopped_ns;
		free(h->threads[i]);
	}
}

static void wait_for_release(struct freeze *h)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += HOLD_S;
	while (!h->release && !pthread_cond_timedwait(&h->changed, &h->lock, &until))
		;
}

/* This thread starts before the session gives up rights, and each thread has its own rights.
 * Without CAP_SYS_PTRACE, as for root in a container, tracing needs all rights of the target, so it
 * keeps all. */
static void give_up_rights(void)
{
	const uint64_t to_trace = CAPABILITY(CAP_SYS_PTRACE);

	if (capability_set__permitted() & to_trace)
		capability_set__keep(to_trace | CAPABILITY(CAP_KILL));
}

static void *freeze_thread(void *arg)
{
	struct freeze *h = arg;

	give_up_rights();
	stop_threads(h);
	pthread_mutex_lock(&h->lock);
	h->tried = true;
	pthread_cond_signal(&h->changed);
	if (h->cnt)
		wait_for_release(h);
	pthread_mutex_unlock(&h->lock);
	let_go(h);
	return NULL;
}

struct freeze *freeze__begin(pid_t pid, bool all)
{
	struct freeze *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->pid = pid;
	h->all = all;
	pthread_mutex_init(&h->lock, NULL);
	pthread_cond_init(&h->changed, NULL);
	if (pthread_create(&h->thread, NULL, freeze_thread, h)) {
		free(h);
		return NULL;
	}
	pthread_mutex_lock(&h->lock);
	while (!h->tried)
		pthread_cond_wait(&h->changed, &h->lock);
	pthread_mutex_unlock(&h->lock);
	return h;
}

uint64_t freeze__thaw(struct freeze *h)
{
	uint64_t stopped_ns;

	if (!h)
		return 0;
	pthread_mutex_lock(&h->lock);
	h->release = true;
	pthread_cond_signal(&h->changed);
	pthread_mutex_unlock(&h->lock);
	pthread_join(h->thread, NULL);
	stopped_ns = h->stopped_ns;
	pthread_cond_destroy(&h->changed);
	pthread_mutex_destroy(&h->lock);
	free(h);
	return stopped_ns;
}
