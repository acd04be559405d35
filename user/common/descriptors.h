/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFTRACE_DESCRIPTORS_H
#define PROFTRACE_DESCRIPTORS_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

/* Raises our limit of open files to the most that it may be. */
void descriptors__allow_most(void);

static inline bool descriptors__lack(int err)
{
	return err == -EMFILE || err == -ENFILE;
}

/* Closes all from `first` on but fd, which becomes `first`: returned, or a negative errno. */
int descriptors__keep_only(int fd, int first);

/* Closes all from `first` on but fds, which become `first` and those that follow; 0 or a negative errno. */
int descriptors__keep(int *fds, size_t cnt, int first);

/* Closes all from `first` on but these two. */
void descriptors__keep_two(int a, int b, int first);

/* How many this process has open. Opens none itself. */
size_t descriptors__open_cnt(void);

/* "too many open files: 40 are open, the limit is 48, and at least 210 more are needed; ..."; for
 * -ENFILE the machine's limit. `needed` 0: unknown. Kept until the thread's next call. */
const char *descriptors__why(int err, size_t needed);

#endif
