/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Data breakpoints: a BPF program runs when a thread of the process reads or writes an address. The
 * processor watches the address, so the process is not changed, and other accesses cost nothing.
 * There are four of them, shared with debuggers. They end with the process that holds them.
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
	bool writes_alone; /* only writes count */
	pid_t tid; /* the only thread that is watched, 0: all. Context switches of a watched
		      thread cost time */
};

struct watchpoints;

/*
 * Attaches to each thread, and to the threads that they start, or to one thread. If one refuses: a
 * negative errno with err__set, and nothing is attached. -ENOSPC: another tool uses the data
 * breakpoints. -EOPNOTSUPP and others: the machine has none.
 */
int watchpoints__attach(const struct watch_point *points, size_t cnt, const pid_t *tids,
			size_t tid_cnt, struct watchpoints **out);
void watchpoints__free(struct watchpoints *w); /* NULL is allowed */

/* Measured here, with a program that does nothing; 0: unknown. */
struct watchpoint_cost {
	uint64_t hit_ns; /* of a hit */
	double slows;	 /* filling 16 KiB takes so many times as long while a watchpoint is set
			    and not hit */
};
struct watchpoint_cost watchpoint__cost(struct bpf_program *prog);

#endif
