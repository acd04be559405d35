/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFTRACE_MEMFD_H
#define PROFTRACE_MEMFD_H

#include <stdint.h>
#include <sys/types.h>

/*
 * Takes the memfd that process pid has as descriptor fd, to read and write. Meanwhile the process
 * may have replaced it by something that it could not open itself (O_PATH of a device or of another
 * user's file). So only a memfd is accepted. Both processes share the position. A descriptor or a
 * negative errno; -EPERM: it is no memfd, or is not open for both.
 */
int memfd__take_of(pid_t pid, int64_t fd);

#endif
