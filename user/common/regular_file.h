/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens what a stranger may have put there. To open a device is to act: a watchdog starts, a tape winds. */
#ifndef PROFTRACE_REGULAR_FILE_H
#define PROFTRACE_REGULAR_FILE_H

/* For reading, once it is known to be a regular file; a descriptor or a negative errno, -EINVAL: it
 * is none. */
int regular_file__open(const char *path);

/* The same of a descriptor of O_PATH, with flags of open(2); the descriptor stays open. */
int regular_file__reopen(int seen, int flags);

#endif
