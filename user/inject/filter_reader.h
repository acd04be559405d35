/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the seccomp filters of a thread. The kernel shows them only to a process without a filter,
 * and a session has one (privilege/session_filter.h). So a process forked earlier stops the thread
 * and copies the filters. It does not interpret them, opens no file and can write to none.
 */
#ifndef PROFTRACE_FILTER_READER_H
#define PROFTRACE_FILTER_READER_H

#include <linux/filter.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Forks that process. 0, or a negative errno with err__set. It ends when all who can ask it ended
 * or called filter_reader__end. */
int filter_reader__start(void);
void filter_reader__end(void);

#define FILTERS_MAX 64

struct filters {
	struct sock_filter *insns[FILTERS_MAX];
	size_t lens[FILTERS_MAX];
	size_t cnt;
	unsigned int stops;  /* how often the thread was stopped for reading */
	uint64_t stopped_ns; /* total time */
};

/*
 * Reads the filters of a thread that nobody traces, the oldest first. 0; -ESRCH, -EAGAIN (it did
 * not stop) or -EACCES with err__set. Call filters__clear() after either.
 */
int filter_reader__read(pid_t pid, pid_t tid, struct filters *out);
void filters__clear(struct filters *f);

#endif
