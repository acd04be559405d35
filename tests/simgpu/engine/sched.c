// SPDX-License-Identifier: BSD-2-Clause
/* When operations start and end: a discrete-event simulation, replayed up to now by whoever looks.
 */
#include "engine.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SPIN_NS	       30000	 /* a sleep ends late by about this much */
#define FLUSH_NS       100000000 /* a process that is killed loses no more than this of its truth */
#define URGENT_TICK_NS 50000	 /* while another process or a host function waits for us */

enum what { READY, END };
struct due {
	uint64_t ns, order;
	enum what what;
	struct sim_op *op;
};

struct queue {
	struct sim_op *head, *tail;
	uint32_t free_shares;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct {
	struct due *heap;
	size_t cnt, cap;
	uint64_t order;
	struct queue units[SIM_MAX_DEVICES][SIM_UNIT_CNT];
	bool started;
	uint32_t urgent;     /* operations with an effect outside the simulation, not ended */
	pthread_cond_t wake; /* for waiters */
	uint32_t waiters;
	uint64_t wake_ns;    /* when the first waiter wakes by itself */
	pthread_cond_t work; /* for the thread */
	bool idle;	     /* the thread sleeps until told */
	uint64_t thread_ns;  /* or until this */
} sched;

void sim_lock(void)
{
	pthread_mutex_lock(&mutex);
}

void sim_unlock(void)
{
	pthread_mutex_unlock(&mutex);
}

uint64_t sim_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ---- the heap of what is due ---- */

static bool sooner(const struct due *a, const struct due *b)
{
	return a->ns != b->ns ? a->ns < b->ns : a->order < b->order;
}

static void heap_push(struct due due)
{
	size_t i = sched.cnt++;

	if (sched.cnt > sched.cap) {
		sched.cap = sched.cap ? sched.cap * 2 : 1024;
		sched.heap = realloc(sched.heap, sched.cap * sizeof(*sched.heap));
		if (!sched.heap)
			abort();
	}
	for (; i && sooner(&due, &sched.heap[(i - 1) / 2]); i = (i - 1) / 2)
		sched.heap[i] = sched.heap[(i - 1) / 2];
	sched.heap[i] = due;
}

static struct due heap_pop(void)
{
	struct due top = sched.heap[0], last = sched.heap[--sched.cnt];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < sched.cnt) {
		if (child + 1 < sched.cnt && sooner(&sched.heap[child + 1], &sched.heap[child]))
			child++;
		if (!sooner(&sched.heap[child], &last))
			break;
		sched.heap[i] = sched.heap[child];
		i = child;
	}
	sched.heap[i] = last;
	return top;
}

static void due_at(struct sim_op *op, enum what what, uint64_t ns)
{
	heap_push((struct due){ns, sched.order++, what, op});
	if (sched.waiters && ns < sched.wake_ns)
		pthread_cond_broadcast(&sched.wake);
	if (sched.idle || (sched.urgent && ns + URGENT_TICK_NS < sched.thread_ns))
		pthread_cond_signal(&sched.work);
}

/* ---- operations ---- */

struct sim_op *sim_op_new(enum sim_kind kind)
{
	const struct sim_thread *t = sim_thread();
	struct sim_op *op = calloc(1, sizeof(*op));

	if (!op)
		abort();
	op->kind = kind;
	op->dev = op->src_dev = op->dst_dev = t->dev;
	op->correlation = t->correlation;
	op->api = t->api;
	op->tid = t->tid;
	op->submit_ns = sim_now();
	return op;
}

void sim_op_after(struct sim_op *b, struct sim_op *a)
{
	if (!a || a == b)
		return;
	if (a->dependent_cnt == a->dependent_cap) {
		a->dependent_cap = a->dependent_cap ? a->dependent_cap * 2 : 4;
		a->dependents = realloc(a->dependents, a->dependent_cap * sizeof(struct sim_op *));
		if (!a->dependents)
			abort();
	}
	a->dependents[a->dependent_cnt++] = b;
	b->waits++;
}

static void ready(struct sim_op *op)
{
	due_at(op, READY, op->ready_ns);
}

void sim_op_submit(struct sim_op *op, uint64_t not_before_ns)
{
	if (op->kind == SIM_HOST || op->on_start)
		sched.urgent++;
	if (op->ready_ns < not_before_ns)
		op->ready_ns = not_before_ns;
	if (!op->waits)
		ready(op);
}

static void start(struct sim_op *op, uint64_t now)
{
	op->start_ns = now;
	op->duration_ns = sim_duration(op);
	if (op->hangs)
		return;
	if (op->on_start)
		op->on_start(op);
	if (op->kind == SIM_HOST)
		sim_host_queue(op);
	else if (op->duration_ns != SIM_OPEN)
		due_at(op, END, now + op->duration_ns);
}

static void start_or_queue(struct sim_op *op, uint64_t now)
{
	struct queue *q = &sched.units[op->dev][op->unit];

	if (op->unit == SIM_UNIT_NONE || (!q->head && q->free_shares >= op->shares)) {
		if (op->unit != SIM_UNIT_NONE)
			q->free_shares -= op->shares;
		start(op, now);
		return;
	}
	op->next = NULL;
	if (q->head)
		q->tail->next = op;
	else
		q->head = op;
	q->tail = op;
}

static void release_unit(struct sim_op *op, uint64_t now)
{
	struct queue *q = &sched.units[op->dev][op->unit];

	if (op->unit == SIM_UNIT_NONE)
		return;
	q->free_shares += op->shares;
	while (q->head && q->head->shares <= q->free_shares) {
		struct sim_op *first = q->head;

		q->head = first->next;
		q->free_shares -= first->shares;
		start(first, first->ready_ns > now ? first->ready_ns : now);
	}
}

/* What a copy or a set does to memory, when it ends: a host function after it must see it. */
static void effect(struct sim_op *op)
{
	const void *src = op->staged ? op->staged : op->src;

	if (op->bytes <= sim_config.copy_max_bytes && op->kind == SIM_COPY) {
		memmove(op->dst, src, op->bytes);
	} else if (op->bytes <= sim_config.copy_max_bytes && op->kind == SIM_SET) {
		if (op->value_bytes == 1)
			memset(op->dst, (int)op->value, op->bytes);
		else
			for (size_t i = 0; i < op->bytes; i += op->value_bytes)
				memcpy((char *)op->dst + i, &op->value, op->value_bytes);
	}
	free(op->staged);
}

static void end(struct sim_op *op, uint64_t now)
{
	op->end_ns = now;
	if (op->kind == SIM_HOST || op->on_start)
		sched.urgent--;
	effect(op);
	if (op->on_end)
		op->on_end(op);
	if (op->event) {
		if (op->event->op == op) {
			op->event->op = NULL;
			op->event->end_ns = now;
		}
		sim_event_put(op->event);
	}
	if (op->stream) {
		op->stream->pending--;
		if (op->stream->last == op)
			op->stream->last = NULL;
	}
	release_unit(op, now);
	if (op->kind != SIM_MARK)
		sim_truth_op(op);
	if (op->tool_ended)
		op->tool_ended(op);
	for (uint32_t i = 0; i < op->dependent_cnt; i++) {
		struct sim_op *next = op->dependents[i];

		if (next->ready_ns < now)
			next->ready_ns = now;
		if (!--next->waits)
			ready(next);
	}
	free(op->dependents);
	free(op);
}

void sim_advance_locked(void)
{
	uint64_t now = sim_now();

	while (sched.cnt && sched.heap[0].ns <= now) {
		struct due due = heap_pop();

		if (due.what == READY)
			start_or_queue(due.op, due.ns);
		else
			end(due.op, due.ns);
	}
}

void sim_advance(void)
{
	sim_lock();
	sim_advance_locked();
	sim_unlock();
}

void sim_op_finish(struct sim_op *op, uint64_t end_ns)
{
	sim_lock();
	sim_advance_locked();
	due_at(op, END, end_ns < op->start_ns ? op->start_ns : end_ns);
	sim_advance_locked();
	sim_wake();
	sim_unlock();
}

/* ---- waiting ---- */

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
}

void sim_wake(void)
{
	pthread_cond_broadcast(&sched.wake);
	pthread_cond_signal(&sched.work);
}

static void sleep_until_due(uint64_t now)
{
	uint64_t due = sched.cnt ? sched.heap[0].ns : UINT64_MAX;
	struct timespec at;

	if (due != UINT64_MAX && due < now + SPIN_NS) {
		sim_unlock();
		while (sim_now() < due)
			sched_yield();
		sim_lock();
		return;
	}
	sched.waiters++;
	if (due < sched.wake_ns)
		sched.wake_ns = due;
	if (due == UINT64_MAX) {
		pthread_cond_wait(&sched.wake, &mutex);
	} else {
		at = timespec_of(due - SPIN_NS);
		pthread_cond_timedwait(&sched.wake, &mutex, &at);
	}
	/* No longer known: others that still sleep are woken for nothing at worst. */
	sched.wake_ns = UINT64_MAX;
	sched.waiters--;
}

void sim_wait(bool (*done)(void *argument), void *argument)
{
	sim_lock();
	for (;;) {
		sim_advance_locked();
		if (done(argument))
			break;
		sleep_until_due(sim_now());
	}
	sim_unlock();
}

/* ---- the thread: what must happen although no host thread looks ---- */

static void *thread_main(void *unused)
{
	uint64_t flushed_ns = 0, order = 0;
	struct timespec at;

	pthread_setname_np(pthread_self(), "simgpu-engine");
	sim_lock();
	for (;;) {
		uint64_t now = sim_now();

		sim_advance_locked();
		if (!sched.cnt || now - flushed_ns > FLUSH_NS) {
			sim_truth_flush();
			flushed_ns = now;
		}
		/* Sleeps only if nothing is left to do: a real GPU needs no thread that each launch
		 * wakes. */
		if (!sched.cnt && sched.order == order) {
			sched.idle = true;
			pthread_cond_wait(&sched.work, &mutex);
			sched.idle = false;
			continue;
		}
		order = sched.order;
		sched.thread_ns = now + (sched.urgent ? URGENT_TICK_NS : sim_config.tick_ns);
		if (sched.cnt && sched.thread_ns < sched.heap[0].ns)
			sched.thread_ns = sched.heap[0].ns;
		at = timespec_of(sched.thread_ns);
		pthread_cond_timedwait(&sched.work, &mutex, &at);
	}
	return unused;
}

/* With all signals blocked: they are the program's. */
static void start_thread(void)
{
	sigset_t all, before;
	pthread_t thread;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (!pthread_create(&thread, NULL, thread_main, NULL))
		pthread_detach(thread);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void sim_sched_init(void)
{
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&sched.wake, &monotonic);
	pthread_cond_init(&sched.work, &monotonic);
	sched.wake_ns = UINT64_MAX;
	for (int dev = 0; dev < SIM_MAX_DEVICES; dev++) {
		for (int unit = 0; unit < SIM_UNIT_CNT; unit++)
			sched.units[dev][unit].free_shares =
				unit == SIM_UNIT_SM ? SIM_SM_SHARES : 1;
	}
}

void sim_sched_run(void)
{
	if (!sched.started) {
		sched.started = true;
		start_thread();
	}
}

void sim_sched_forked(void)
{
	pthread_mutex_init(&mutex, NULL);
}
