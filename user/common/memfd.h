/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFTRACE_MEMFD_H
#define PROFTRACE_MEMFD_H

#include <stdint.h>
#include <sys/types.h>

/*
 * Opens the memfd that process pid has as descriptor fd. The process may have put something else there
 * meanwhile, which it could not open itself (O_PATH of a device or of another user's file): what is
 * no memfd is not opened. flags: O_WRONLY or O_RDWR. A descriptor, or a negative errno: -EPERM: it is
 * no memfd.
 */
int memfd__open_of(pid_t pid, int64_t fd, int flags);

#endif
