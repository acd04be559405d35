// SPDX-License-Identifier: BSD-2-Clause
#include "common/target_lock.h"
#include <fcntl.h>
#include "common/file_client.h"
#include "common/run_directory.h"
#include "common/util.h"

#define PID_BITS   22 /* PID_MAX_LIMIT of the kernel */
#define START_BITS 41 /* 700 years at 100 ticks a second; file offsets are positive */

static off_t offset_of(pid_t pid, uint64_t start_time)
{
	const uint64_t start = start_time & ((1ull << START_BITS) - 1);

	return (off_t)(start << PID_BITS | ((uint64_t)pid & ((1u << PID_BITS) - 1)));
}

static int ask(pid_t pid, uint64_t start_time)
{
	char start[24];
	uint32_t unused;
	int fd, err;

	snprintf(start, sizeof(start), "%llu", (unsigned long long)start_time);
	err = file_client__ask(FILE_LOCK, (uint32_t)pid, start, &fd, &unused);
	return err ? err : fd;
}

/* The lock belongs to the open file, not to the process. It moves to another process with the
 * descriptor. */
int target_lock__take(pid_t pid, uint64_t start_time)
{
	struct flock byte = {.l_type = F_WRLCK,
			     .l_whence = SEEK_SET,
			     .l_start = offset_of(pid, start_time),
			     .l_len = 1};
	int fd, err;

	if (file_client__is_on())
		return ask(pid, start_time);
	fd = run_directory__open_lock(TARGET_LOCK_FILE);
	if (fd < 0)
		return fd;
	if (!fcntl(fd, F_OFD_SETLK, &byte))
		return fd;
	err = errno == EAGAIN || errno == EACCES ? -EBUSY : -errno;
	close(fd);
	return err;
}
