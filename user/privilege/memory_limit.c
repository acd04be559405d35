// SPDX-License-Identifier: BSD-2-Clause
#include "privilege/memory_limit.h"
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include "common/util.h"

static size_t limit;

/* Data and stack of this process as RLIMIT_DATA counts them. Sanitizers use terabytes. */
static size_t own_bytes(void)
{
	auto_free char *text = file__read("/proc/self/statm", NULL);
	size_t pages = 0;

	if (text && sscanf(text, "%*u %*u %*u %*u %*u %zu", &pages) != 1)
		pages = 0;
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Holes of a file do not raise the limit. */
static size_t bytes_of(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return 0;
	return (size_t)(st.st_size < st.st_blocks * 512 ? st.st_size : st.st_blocks * 512);
}

void memory_limit__set(char *const *paths, size_t cnt)
{
	size_t bytes = MEMORY_LIMIT_BASE;
	struct rlimit rlimit;

	for (size_t i = 0; i < cnt; i++)
		bytes += bytes_of(paths[i]) * MEMORY_LIMIT_RATIO;
	if (getrlimit(RLIMIT_DATA, &rlimit))
		return;
	if (rlimit.rlim_cur <= own_bytes() + bytes) /* RLIM_INFINITY is the largest value */
		return;
	rlimit.rlim_cur = own_bytes() + bytes;
	if (!setrlimit(RLIMIT_DATA, &rlimit))
		limit = bytes;
}

size_t memory_limit__bytes(void)
{
	return limit;
}
