/* SPDX-License-Identifier: BSD-2-Clause */
/* Declarations for the files of the random job. */
#pragma once
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define MAX_THREADS 4
#define MAX_GRAPHS  8
#define MAX_ACTIONS 256
#define MAX_DEVICES 4
#define MAX_STREAMS 8
#define OPERATORS   6
#define RANGES	    4
#define BYTES	    (1u << 20) /* size of each buffer, and the most that is copied or set */

enum action_kind {
	ACTION_KERNEL,
	ACTION_COPY,
	ACTION_SET,
	ACTION_GRAPH,
	ACTION_OPERATOR, /* reaches to its ACTION_END */
	ACTION_RANGE,	 /* reaches to its ACTION_END */
	ACTION_END,
	ACTION_SLEEP,
	ACTION_SPIN,
	ACTION_SYNC,
	ACTION_SYNC_DEVICE,
	ACTION_ORDER,
	ACTION_REDUCE,
	ACTION_BROADCAST,
	ACTION_CNT,
};

/* One line of a job's description. */
struct action {
	enum action_kind kind;
	int arg[5];
};

/* A thread's actions in each turn, or a graph's content. */
struct program {
	struct action *actions;
	size_t cnt;
};

struct description {
	int device_cnt, stream_cnt;
	int depth; /* steps that the host may be ahead of the devices; -1: any */
	int every; /* waits for all devices every so many steps; 0: never */
	int rank, rank_cnt;
	char id_path[512];
	struct program threads[MAX_THREADS], graphs[MAX_GRAPHS];
	int thread_cnt, graph_cnt;
};
void description__read(const char *path, struct description *d);

/* ---- notes: when a step, an operator or a range began and ended; never by proftrace ---- */
enum note_kind { NOTE_STEP, NOTE_OPERATOR, NOTE_RANGE };
struct note {
	enum note_kind kind;
	int number;
	uint64_t before_ns, begun_ns, ending_ns, ended_ns;
};
/* Begins a note of this thread and fills before_ns. Returns the note's place. */
size_t notes__begin(enum note_kind kind, int number);
struct note *notes__at(size_t at);
void notes__write(const char *path);

static inline uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- the devices ---- */
void devices__open(const struct description *d);
void devices__do(const struct action *a);
/* Notes that step `number` has been launched, and waits as the description says. */
void devices__end_step(const struct description *d, uint64_t number);
/* Asks before step `number` whether to stop, so that all ranks end with the same step. */
bool devices__all_stop(uint64_t number, bool asked);
void devices__close(void);
