/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the seccomp filters of a thread. The kernel shows them to a process without a filter alone,
 * and a session has one (privilege/session_filter.h). So a process of its own, forked before, stops
 * the thread and copies them. It understands no byte of them, opens no file and can write to none.
 */
#ifndef PROFTRACE_FILTER_READER_H
#define PROFTRACE_FILTER_READER_H

#include <linux/filter.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Forks that process. 0, or a negative errno with err__set. It ends when all who can ask it have ended
 * or called filter_reader__end. */
int filter_reader__start(void);
void filter_reader__end(void);

#define FILTERS_MAX 64

struct filters {
	struct sock_filter *insns[FILTERS_MAX];
	size_t lens[FILTERS_MAX];
	size_t cnt;
	unsigned int stops;  /* of the thread, to read them */
	uint64_t stopped_ns; /* in all */
};

/*
 * Of a thread that nobody traces, the first one put on first. 0; -ESRCH, -EAGAIN (it did not stop) or
 * -EACCES with err__set. filters__clear() in any case.
 */
int filter_reader__read(pid_t pid, pid_t tid, struct filters *out);
void filters__clear(struct filters *f);

#endif
