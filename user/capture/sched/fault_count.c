// SPDX-License-Identifier: BSD-2-Clause
#include "capture/sched/fault_count.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "common/util.h"

#define TRIED_PAGES 256
#define TRIES	    3

/* Reads fields of /proc/PID/task/TID/stat after the name, see proc(5): state ppid pgrp session tty
 * tpgid flags minflt cminflt majflt. */
struct fault_count fault_count__read(pid_t pid, pid_t tid)
{
	struct fault_count c = {0};
	auto_free char *stat = NULL;
	char path[64], *end;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	stat = file__read(path, NULL);
	end = stat ? strrchr(stat, ')') : NULL;
	if (end &&
	    sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %*u %lu %*u %lu", &c.minor, &c.major) == 2)
		c.at_ns = clock__monotonic_ns();
	return c;
}

/* Time of one page fault: the least of some tries, since disturbances only add. 0: no memory. */
static uint64_t try_faults(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), size = TRIED_PAGES * page;
	uint64_t least_ns = 0;

	for (int n = 0; n < TRIES; n++) {
		volatile char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
					     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		uint64_t begin_ns, ns;

		if (memory == MAP_FAILED)
			return 0;
		madvise((void *)memory, size, MADV_NOHUGEPAGE);
		begin_ns = clock__monotonic_ns();
		for (size_t i = 0; i < size; i += page)
			memory[i] = 1;
		ns = (clock__monotonic_ns() - begin_ns) / TRIED_PAGES;
		munmap((void *)memory, size);
		if (!least_ns || ns < least_ns)
			least_ns = ns;
	}
	return least_ns;
}

json_t *fault_count__json(const struct fault_count *before, const struct fault_count *after)
{
	static uint64_t fault_ns;

	if (!before->at_ns || after->at_ns <= before->at_ns)
		return NULL;
	if (!fault_ns)
		fault_ns = try_faults();
	return json_pack(
		"{s:I, s:I, s:I, s:I}", "minor", (json_int_t)(after->minor - before->minor),
		"major", (json_int_t)(after->major - before->major), "over_ns",
		(json_int_t)(after->at_ns - before->at_ns), "fault_ns", (json_int_t)fault_ns);
}
