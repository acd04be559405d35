/* SPDX-License-Identifier: BSD-2-Clause */
/* One proftrace at a time changes a process: bytes of a file in the run directory
 * (common/run_directory.h), which no other user reaches. The kernel unlocks them when their holder
 * ends. */
#ifndef PROFTRACE_TARGET_LOCK_H
#define PROFTRACE_TARGET_LOCK_H

#include <stdint.h>
#include <sys/types.h>

#define TARGET_LOCK_FILE "targets.lock"

/* start_time: of the process, /proc/PID/stat. A descriptor that holds the lock until its last copy
 * is closed, or a negative errno: -EBUSY: another has it. Where files are asked for
 * (file_client.h), so is this. */
int target_lock__take(pid_t pid, uint64_t start_time);

#endif
