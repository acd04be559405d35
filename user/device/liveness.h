/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A liveness futex: a word of shared memory that tells whether a thread lives, to whoever has nothing
 * else of the thread: no descriptor, no pid. It is a robust futex: the kernel itself marks
 * it when the thread ends, SIGKILL included.
 */
#ifndef PROFTRACE_LIVENESS_H
#define PROFTRACE_LIVENESS_H

#include <linux/futex.h>
#include <stddef.h>
#include <stdint.h>

/* Stays where it is from hold to let_go, or until the thread has ended. */
struct liveness {
	struct robust_list_head head;
	struct robust_list entry;
	uint32_t *word;
	void *before; /* the thread's list of its C library */
	size_t before_len;
};

/* For the calling thread: the word becomes its id, and FUTEX_OWNER_DIED when it ends. It stays 0 on
 * a kernel that has no such lists. */
void liveness__hold(struct liveness *m, uint32_t *word);
/* By the same thread: 0 again. */
void liveness__let_go(struct liveness *m);

#endif
