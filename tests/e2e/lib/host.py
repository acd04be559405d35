# SPDX-License-Identifier: BSD-2-Clause
"""Hosts of a job on this machine: each has a name and a wall clock of its own."""
import subprocess

CLOCK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
#define SECOND 1000000000ll

int clock_gettime(clockid_t id, struct timespec *ts)
{
	static int (*real)(clockid_t, struct timespec *);
	const char *ahead = getenv("CLOCK_AHEAD_NS");
	long long ns;
	int err;

	if (!real)
		real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
	err = real(id, ts);
	if (err || id != CLOCK_REALTIME || !ahead)
		return err;
	ns = ts->tv_sec * SECOND + ts->tv_nsec + atoll(ahead);
	ts->tv_sec = ns / SECOND;
	ts->tv_nsec = ns % SECOND;
	return 0;
}

time_t time(time_t *out)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	if (out)
		*out = ts.tv_sec;
	return ts.tv_sec;
}
"""


def host(case, name, ahead_ns=0):
    """Returns what comes before a command that shall run on the host of this name, whose clock is ahead."""
    library = case.dir / "clock.so"
    if not library.exists():
        subprocess.run(["gcc", "-shared", "-fPIC", "-xc", "-", "-o", library], input=CLOCK, text=True, check=True)
    return ("unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"', name, "env", f"LD_PRELOAD={library}",
            f"CLOCK_AHEAD_NS={ahead_ns}")
