// SPDX-License-Identifier: BSD-2-Clause
#include "board.h"
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LATENCY_NS 8000
#define POLL_MS	   100 /* a rank that died never posts: look for an abort now and then */

void board_wake(struct board *board)
{
	board->events++;
	syscall(SYS_futex, &board->events, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void board_sleep(struct board *board, uint32_t seen)
{
	struct timespec limit = {0, POLL_MS * 1000000};

	syscall(SYS_futex, &board->events, FUTEX_WAIT, seen, &limit, NULL, 0);
}

/* ---- posting ---- */

static void post(struct place *place, uint64_t number, uint64_t start_ns, const void *data,
		 size_t bytes)
{
	place->start_ns = start_ns;
	if (data && bytes <= DATA_BYTES)
		memcpy(place->data, data, bytes);
	place->stamp = number + 1;
}

static size_t sent_bytes(const struct communicator *comm, const struct part *part)
{
	bool all = part->kind == REDUCE_SCATTER || part->kind == ALL_TO_ALL;

	return all ? part->bytes * (size_t)comm->size : part->bytes;
}

void board_post(struct sim_op *op)
{
	struct work *work = op->argument;
	struct communicator *comm = work->comm;
	struct board *b = comm->board;

	work->op = op;
	for (size_t i = 0; i < work->cnt; i++) {
		const struct part *p = &work->parts[i];

		if (p->kind == SEND)
			post(&b->sent[comm->rank][p->peer], p->number, op->start_ns, p->src,
			     p->bytes);
		else if (p->kind == RECV)
			post(&b->received[p->peer][comm->rank], p->number, op->start_ns, NULL, 0);
		else
			post(&b->collective[p->number % SLOTS][comm->rank], p->number, op->start_ns,
			     p->src, sent_bytes(comm, p));
	}
	pthread_mutex_lock(&comm->mutex);
	work->next = NULL;
	*comm->started_end = work;
	comm->started_end = &work->next;
	pthread_mutex_unlock(&comm->mutex);
	board_wake(b);
}

/* ---- ending ---- */

static bool posted(const struct place *place, uint64_t number, uint64_t *last_ns)
{
	if (place->stamp <= number)
		return false;
	if (place->start_ns > *last_ns)
		*last_ns = place->start_ns;
	return true;
}

/* True if all ranks have posted this part. *last_ns is then when the last rank started. */
static bool part_met(const struct communicator *comm, const struct part *p, uint64_t *last_ns)
{
	const struct board *b = comm->board;

	if (p->kind == SEND)
		return posted(&b->received[comm->rank][p->peer], p->number, last_ns);
	if (p->kind == RECV)
		return posted(&b->sent[p->peer][comm->rank], p->number, last_ns);
	for (int rank = 0; rank < comm->size; rank++)
		if (!posted(&b->collective[p->number % SLOTS][rank], p->number, last_ns))
			return false;
	return true;
}

static bool try_to_end(struct work *work)
{
	uint64_t last_ns = work->op->start_ns;
	double bytes = 0;

	for (size_t i = 0; i < work->cnt; i++)
		if (!part_met(work->comm, &work->parts[i], &last_ns))
			return false;
	for (size_t i = 0; i < work->cnt; i++) {
		bytes += (double)sent_bytes(work->comm, &work->parts[i]);
		part_apply(work->comm, &work->parts[i]);
	}
	sim_op_finish(work->op, last_ns + LATENCY_NS + (uint64_t)(bytes / sim_config.nvlink_gbs));
	return true;
}

static struct work *first_started(struct communicator *comm)
{
	struct work *work;

	pthread_mutex_lock(&comm->mutex);
	work = comm->started;
	pthread_mutex_unlock(&comm->mutex);
	return work;
}

static void forget_first(struct communicator *comm)
{
	struct work *work = comm->started;

	pthread_mutex_lock(&comm->mutex);
	comm->started = work->next;
	if (!comm->started)
		comm->started_end = &comm->started;
	pthread_mutex_unlock(&comm->mutex);
	free(work->parts);
	free(work);
}

static void *thread_main(void *argument)
{
	struct communicator *comm = argument;

	pthread_setname_np(pthread_self(), "simgpu-nccl");
	while (!comm->closing) {
		uint32_t seen = comm->board->events;
		struct work *work = first_started(comm);

		if (work && comm->aborted)
			sim_op_finish(work->op, sim_now());
		else if (!work || !try_to_end(work)) {
			board_sleep(comm->board, seen);
			continue;
		}
		forget_first(comm);
	}
	return NULL;
}

/* ---- life ---- */

static struct board *board_open(const char *name)
{
	int fd = shm_open(name, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	void *p = MAP_FAILED;

	if (fd < 0)
		return NULL;
	if (!ftruncate(fd, sizeof(struct board)))
		p = mmap(NULL, sizeof(struct board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return p == MAP_FAILED ? NULL : p;
}

static bool start_thread(struct communicator *comm)
{
	sigset_t all, before;
	bool started;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	started = !pthread_create(&comm->thread, NULL, thread_main, comm);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return started;
}

struct communicator *board_join(const char *name, int size, int rank, bool wait)
{
	struct communicator *comm = calloc(1, sizeof(*comm));

	if (!comm)
		return NULL;
	*comm = (struct communicator){
		.board = board_open(name), .size = size, .rank = rank, .dev = sim_thread()->dev};
	pthread_mutex_init(&comm->mutex, NULL);
	comm->started_end = &comm->started;
	if (!comm->board || !start_thread(comm)) {
		free(comm);
		return NULL;
	}
	/* the last rank to join removes the name, because nobody needs it any more */
	if (++comm->board->joined == (uint32_t)size)
		shm_unlink(name);
	board_wake(comm->board);
	while (wait && comm->board->joined < (uint32_t)size)
		board_sleep(comm->board, comm->board->events);
	return comm;
}

void board_leave(struct communicator *comm)
{
	comm->closing = true;
	board_wake(comm->board);
	pthread_join(comm->thread, NULL);
	munmap(comm->board, sizeof(*comm->board));
	free(comm);
}
