// SPDX-License-Identifier: BSD-2-Clause
#include "device/liveness.h"
#include <sys/syscall.h>
#include <unistd.h>

/* pthread_mutexattr_setrobust() does not fit: a mutex contains pointers, and other processes write
 * to that memory. */
void liveness__hold(struct liveness *m, uint32_t *word)
{
	*m = (struct liveness){.word = word};
	m->head.futex_offset = (long)((uintptr_t)word - (uintptr_t)&m->entry);
	m->head.list.next = &m->entry;
	m->entry.next = &m->head.list;
	if (syscall(SYS_get_robust_list, 0, &m->before, &m->before_len) ||
	    syscall(SYS_set_robust_list, &m->head, sizeof(m->head)))
		m->word = NULL;
	else
		__atomic_store_n(word, (uint32_t)gettid(), __ATOMIC_RELEASE);
}

void liveness__let_go(struct liveness *m)
{
	if (!m->word)
		return;
	__atomic_store_n(m->word, 0, __ATOMIC_RELEASE);
	syscall(SYS_set_robust_list, m->before, m->before_len);
}
