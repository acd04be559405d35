/* SPDX-License-Identifier: BSD-2-Clause */
/* Which thread may become the tracee, and whether it may be where it was stopped. */
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
	char why_not[160]; /* of the last refusal, for the message at the end */
};

/*
 * The threads worth a try, the best first. First come those in a system call that continues after a
 * stop as if there had been none. Next come those whose wait we must mend, then those that run.
 * Read from /proc without stopping any. Caller frees *tids; 0 or a negative errno.
 */
int safe_point__candidates(const struct safe_point *s, pid_t **tids, size_t *cnt);

/* Opens, while nothing is stopped, what the check of the best candidates will read. */
int safe_point__rehearse(struct safe_point *s);

/* 1: some thread holds a lock of the loader right now; 0: none; -ESRCH. */
int safe_point__loader_is_busy(const struct safe_point *s);

/*
 * 1 if a function of the C library may be called from where h is stopped. That needs 64-bit code, a
 * thread of the C library, and no restartable sequence. It must hold none of the loader's locks
 * (read from the loader's own memory). No signal handler, malloc, fork or loader may be below it on
 * the stack. Also not while another thread has the loader's lock, unless `patient` is over: we
 * would wait for it. 0 and why_not if it may not; negative errno.
 */
int safe_point__check(struct safe_point *s, const struct tracee *h, bool patient);

/* Where a thread is now, in words. */
void safe_point__place(pid_t pid, pid_t tid, char *text, size_t size);

#endif
