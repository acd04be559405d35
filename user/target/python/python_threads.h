/* SPDX-License-Identifier: BSD-2-Clause */
/* The threads of a process that can run Python: those with a state in its main interpreter. */
#ifndef PROFTRACE_PYTHON_THREADS_H
#define PROFTRACE_PYTHON_THREADS_H

#include "target/target.h"

/*
 * Lists them as of now, with our ids. Lists all threads if the interpreter does not show them, as
 * before 3.11 without glibc. Caller frees *tids. 0 or a negative errno.
 */
int python_threads__list(struct target *t, pid_t **tids, size_t *cnt);

/*
 * The own id of the thread with this pthread_t. glibc keeps it there; before 3.11 the interpreter
 * has no other id. 0, -EFAULT (cannot be read) or -ENOTSUP (glibc has no thread there).
 */
int python_threads__id_of(const struct target *t, uint64_t pthread, uint64_t *id);

#endif
