/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Data breakpoints: a BPF program runs when a thread of the process reads or writes an address. The
 * processor watches, so nothing is written to the process, and what is not touched costs nothing; it has four
 * places, shared with debuggers. They die with the process that holds them.
 */
#ifndef PROFTRACE_ATTACH_WATCHPOINT_H
#define PROFTRACE_ATTACH_WATCHPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct bpf_program;

#define WATCHPOINTS_MAX 4

struct watch_point {
	uint64_t address; /* in the process; one byte is watched */
	struct bpf_program *prog; /* of type perf_event */
	bool writes_alone; /* reading it is no event */
	pid_t tid; /* the thread alone that is watched, 0: all. Switching to and from one costs time */
};

struct watchpoints;

/*
 * On each of the threads, and on those that they make, or on one of them. If a thread refuses: a
 * negative errno with err__set, and nothing is attached. -ENOSPC: another tool has taken the
 * places. -EOPNOTSUPP and others: the machine has none.
 */
int watchpoints__attach(const struct watch_point *points, size_t cnt, const pid_t *tids,
			size_t tid_cnt, struct watchpoints **out);
void watchpoints__free(struct watchpoints *w); /* NULL is allowed */

/* Measured here, with a program that finds nothing to do; 0: unknown. */
struct watchpoint_cost {
	uint64_t hit_ns; /* of a hit */
	double slows;	 /* while one is set that is not hit, filling 16 KiB takes so many times as long */
};
struct watchpoint_cost watchpoint__cost(struct bpf_program *prog);

#endif
