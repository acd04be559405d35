/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the ranks of a communicator meet: shared memory, and in each process a thread that ends the
 * kernels of collectives when all ranks have started theirs. A rank's kernel says when it started;
 * the last rank's start and the wire's time give the end, the same in all ranks. Nobody's host
 * waits.
 */
#pragma once
#include "engine/engine.h"
#include <pthread.h>

#define MAX_RANKS  16
#define SLOTS	   8 /* a rank can be one ahead of another, and two ahead of its reader */
#define DATA_BYTES 65536 /* of a contribution; larger ones have their time and no data */

enum part_kind {
	ALL_REDUCE,
	BROADCAST,
	REDUCE,
	ALL_GATHER,
	REDUCE_SCATTER,
	ALL_TO_ALL,
	SEND,
	RECV
};

struct place {
	_Atomic uint64_t stamp; /* the operation's number plus one, when the rest is valid */
	uint64_t start_ns;
	uint8_t data[DATA_BYTES];
};

struct board {
	_Atomic uint32_t events; /* futex: something was posted */
	_Atomic uint32_t joined;
	struct place collective[SLOTS][MAX_RANKS];
	struct place sent[MAX_RANKS][MAX_RANKS];     /* from, to */
	struct place received[MAX_RANKS][MAX_RANKS]; /* from, to: without data */
};

/* One collective, or one send or receive of a group. */
struct part {
	enum part_kind kind;
	const void *src;
	void *dst;
	size_t bytes, cnt; /* of one rank's contribution */
	int type, reduction, root, peer;
	uint64_t number;
};

/* The work of one kernel. */
struct work {
	struct communicator *comm;
	struct sim_op *op;
	struct part *parts;
	size_t cnt;
	struct work *next;
};

struct communicator {
	struct board *board;
	int size, rank, dev;
	uint64_t next_collective, next_send[MAX_RANKS], next_recv[MAX_RANKS];
	pthread_mutex_t mutex;
	struct work *started, **started_end;
	pthread_t thread;
	_Atomic bool closing, aborted;
};

struct communicator *board_join(const char *name, int size, int rank, bool wait);
void board_leave(struct communicator *comm);
/* With the engine's lock held: the kernel of this work starts. */
void board_post(struct sim_op *op);
void board_wake(struct board *board);

/* data.c: what a complete part leaves in memory */
void part_apply(const struct communicator *comm, const struct part *part);
size_t nccl_type_bytes(int type);
