/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A word of shared memory that tells whether a thread lives, to whoever has that memory and nothing
 * else of the thread: no descriptor, no pid. It is a robust futex, so it is the kernel that marks
 * it when the thread ends, SIGKILL included.
 */
#ifndef PROFTRACE_DEATH_MARK_H
#define PROFTRACE_DEATH_MARK_H

#include <linux/futex.h>
#include <stddef.h>
#include <stdint.h>

/* Stays where it is from hold to let_go, or until the thread has ended. */
struct death_mark {
	struct robust_list_head head;
	struct robust_list entry;
	uint32_t *word;
	void *before; /* the thread's list of its C library */
	size_t before_len;
};

/* For the calling thread: the word becomes its id, and FUTEX_OWNER_DIED when it ends. It stays 0 on
 * a kernel that has no such lists. */
void death_mark__hold(struct death_mark *m, uint32_t *word);
/* By the same thread: 0 again. */
void death_mark__let_go(struct death_mark *m);

#endif
