/* SPDX-License-Identifier: BSD-2-Clause */
/* Only one proftrace at a time changes a process. The locks are bytes of a file in the run
 * directory (common/run_directory.h), which other users cannot reach. The kernel releases them when
 * the holder ends. */
#ifndef PROFTRACE_TARGET_LOCK_H
#define PROFTRACE_TARGET_LOCK_H

#include <stdint.h>
#include <sys/types.h>

#define TARGET_LOCK_FILE "targets.lock"

/* start_time: the process's, of /proc/PID/stat. Returns a descriptor that holds the lock until its
 * last copy is closed, or a negative errno; -EBUSY: another process holds it. A process that asks
 * for files (file_client.h) asks for the lock, too. */
int target_lock__take(pid_t pid, uint64_t start_time);

#endif
