/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFTRACE_DESCRIPTORS_H
#define PROFTRACE_DESCRIPTORS_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

/* Raises our soft limit of open files to the hard limit. */
void descriptors__allow_most(void);

static inline bool descriptors__lack(int err)
{
	return err == -EMFILE || err == -ENFILE;
}

/* Closes all descriptors from `first` on except fd. fd becomes `first`. Returns that, or a negative
 * errno. */
int descriptors__keep_only(int fd, int first);

/* Closes all descriptors from `first` on except fds. These become `first` and the following
 * numbers. 0 or a negative errno. */
int descriptors__keep(int *fds, size_t cnt, int first);

/* Closes all descriptors from `first` on except these two. */
void descriptors__keep_two(int a, int b, int first);

/* The number of descriptors that this process has open. Opens none itself. */
size_t descriptors__open_cnt(void);

/* A cause such as "too many open files: 40 are open, the limit is 48, and at least 210 more are
 * needed; ...". -ENFILE: names the machine's limit. `needed` 0: unknown. Kept until the thread's
 * next call. */
const char *descriptors__why(int err, size_t needed);

#endif
