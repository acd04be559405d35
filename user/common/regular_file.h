/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens files that a stranger may have put there. Just opening a device can have effects: a
 * watchdog starts, a tape winds. */
#ifndef PROFTRACE_REGULAR_FILE_H
#define PROFTRACE_REGULAR_FILE_H

/* Opens for reading, after a check that it is a regular file. A descriptor or a negative errno;
 * -EINVAL: it is no regular file. */
int regular_file__open(const char *path);

/* The same for a descriptor of O_PATH, with flags of open(2). That descriptor stays open. */
int regular_file__reopen(int seen, int flags);

#endif
