/* SPDX-License-Identifier: BSD-2-Clause */
/* Which threads of a process can run Python: those that have a state in its main interpreter. */
#ifndef PROFTRACE_PYTHON_THREADS_H
#define PROFTRACE_PYTHON_THREADS_H

#include "target/target.h"

/*
 * As of now, ids as we see them; all threads where the interpreter does not say, as before 3.11 with
 * another C library than glibc. Caller frees *tids. 0 or a negative errno.
 */
int python_threads__list(struct target *t, pid_t **tids, size_t *cnt);

/*
 * What the thread with this pthread_t calls itself, which glibc keeps there: before 3.11 the interpreter has no
 * other id. 0, -EFAULT (cannot be read) or -ENOTSUP (glibc has no thread there).
 */
int python_threads__id_of(const struct target *t, uint64_t pthread, uint64_t *id);

#endif
