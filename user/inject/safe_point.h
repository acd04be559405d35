/* SPDX-License-Identifier: BSD-2-Clause */
/* Which thread can become the tracee, and whether the place where it stopped is safe. */
#ifndef PROFTRACE_INJECT_SAFE_POINT_H
#define PROFTRACE_INJECT_SAFE_POINT_H

#include <sys/types.h>
#include "inject/calls.h"
#include "inject/frames.h"
#include "inject/tracee.h"

struct safe_point {
	struct target *target;
	const struct maps *maps;
	const struct libc_calls *calls;
	struct frames *frames;
	char why_not[160]; /* reason of the last refusal, for the final message */
};

/*
 * Lists the threads that are worth trying, the best first. First come threads in a system call that
 * continues after a stop as if nothing happened. Next come threads whose wait needs mending, then
 * running ones. Reads /proc and stops none. Caller frees *tids. 0 or a negative errno.
 */
int safe_point__candidates(const struct safe_point *s, pid_t **tids, size_t *cnt);

/* Opens in advance, while nothing is stopped, what the check of the best candidates reads. */
int safe_point__rehearse(struct safe_point *s);

/* 1: some thread holds a lock of the loader now; 0: none does; or -ESRCH. */
int safe_point__loader_is_busy(const struct safe_point *s);

/*
 * 1 if h may call a function of the C library where it is stopped. That needs 64-bit code, a thread
 * of the C library, and no restartable sequence. The thread must hold no lock of the loader (read
 * from the loader's memory). Below it on the stack must be no signal handler, malloc, fork or
 * loader. No other thread may have the loader's lock, as h would wait for it; after the time of
 * `patient` this does not count. 0 and why_not if h may not; or a negative errno.
 */
int safe_point__check(struct safe_point *s, const struct tracee *h, bool patient);

/* Describes where a thread is now. */
void safe_point__place(pid_t pid, pid_t tid, char *text, size_t size);

#endif
