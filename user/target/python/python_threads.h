/* SPDX-License-Identifier: BSD-2-Clause */
/* Which threads of a process can run Python: those that have a state in its main interpreter. */
#ifndef PROFTRACE_PYTHON_THREADS_H
#define PROFTRACE_PYTHON_THREADS_H

#include "target/target.h"

/*
 * As of now, ids as we see them; all threads where the interpreter does not say, as before 3.11.
 * Caller frees *tids. 0 or a negative errno.
 */
int python_threads__list(struct target *t, pid_t **tids, size_t *cnt);

#endif
