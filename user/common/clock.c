// SPDX-License-Identifier: BSD-2-Clause
#include "common/clock.h"
#include "common/util.h"
#include <inttypes.h>
#include <sys/stat.h>

#define SECOND INT64_C(1000000000)
/* PROC_TIME_INIT_INO of the kernel's include/linux/proc_ns.h */
#define INITIAL_TIME_NS 0xEFFFFFFAu

static int64_t own_ahead_ns;
static int own_err;

static int stat_ns(pid_t pid, const char *name, struct stat *st)
{
	char path[64];

	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/ns/%s", pid, name);
	else
		snprintf(path, sizeof(path), "/proc/self/ns/%s", name);
	return stat(path, st) ? -errno : 0;
}

static int read_offset(pid_t pid, int64_t *ahead_ns)
{
	char path[64] = "/proc/self/timens_offsets";
	auto_free char *text = NULL;
	const char *line;
	int64_t s, ns;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/timens_offsets", pid);
	text = file__read(path, NULL);
	line = text ? strstr(text, "monotonic") : NULL;
	if (!line || sscanf(line, "monotonic %" SCNd64 " %" SCNd64, &s, &ns) != 2)
		return -ENODATA;
	*ahead_ns = s * SECOND + ns;
	return 0;
}

int clock__ahead_ns(pid_t pid, int64_t *ahead_ns)
{
	struct stat own, children;
	int err = stat_ns(pid, "time", &own);

	*ahead_ns = 0;
	if (err == -ENOENT)
		return 0; /* the kernel has no time namespaces, or the process is gone, which
			     others report */
	if (err || own.st_ino == INITIAL_TIME_NS)
		return err;
	/* timens_offsets describes the namespace for children. */
	err = stat_ns(pid, "time_for_children", &children);
	if (err)
		return err;
	return own.st_ino == children.st_ino ? read_offset(pid, ahead_ns) : -ENODATA;
}

/* Runs before main(), because threads read the offset. */
__attribute__((constructor)) static void read_own(void)
{
	own_err = clock__ahead_ns(0, &own_ahead_ns);
}

bool clock__is_known(void)
{
	return !own_err;
}

uint64_t clock__monotonic_ns(void)
{
	return clock__ns(CLOCK_MONOTONIC) - (uint64_t)own_ahead_ns;
}

struct timespec clock__own_monotonic(uint64_t ns)
{
	const uint64_t own = ns + (uint64_t)own_ahead_ns;

	return (struct timespec){(time_t)(own / (uint64_t)SECOND), (long)(own % (uint64_t)SECOND)};
}
