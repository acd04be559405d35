/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A liveness futex: a word in shared memory that shows whether a thread lives. A reader needs no
 * descriptor and no pid of the thread. It is a robust futex: the kernel marks it when the thread
 * ends, even by SIGKILL.
 */
#ifndef PROFTRACE_LIVENESS_H
#define PROFTRACE_LIVENESS_H

#include <linux/futex.h>
#include <stddef.h>
#include <stdint.h>

/* Must not move from hold to let_go, or until the thread ends. */
struct liveness {
	struct robust_list_head head;
	struct robust_list entry;
	uint32_t *word;
	void *before; /* the C library's list of the thread */
	size_t before_len;
};

/* For the calling thread: the word becomes its id, and FUTEX_OWNER_DIED when it ends. The word
 * stays 0 if the kernel has no robust lists. */
void liveness__hold(struct liveness *m, uint32_t *word);
/* By the same thread: the word becomes 0 again. */
void liveness__let_go(struct liveness *m);

#endif
