// SPDX-License-Identifier: BSD-2-Clause
/* The machine's clock in time namespaces. */
#include <criterion/criterion.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include "common/clock.h"
#include "common/util.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif
#define AHEAD_S 5000

Test(clock, is_known_and_reads_the_machines)
{
	int64_t own;

	cr_assert_eq(clock__ahead_ns(0, &own), 0);
	cr_expect(clock__is_known());
	cr_expect_lt(clock__monotonic_ns() + (uint64_t)own - clock__ns(CLOCK_MONOTONIC) +
			     1000000000,
		     1000000001);
}

/* Runs in its own namespace, AHEAD_S ahead of ours. Its child waits for requests. */
static int run_ahead(void)
{
	FILE *f;
	pid_t child;
	int64_t before, ahead, unknown;
	int err;

	if (clock__ahead_ns(0, &before) || unshare(CLONE_NEWTIME))
		return 77;
	f = fopen("/proc/self/timens_offsets", "w");
	if (!f || fprintf(f, "monotonic %d 0\n", AHEAD_S) < 0 || fclose(f))
		return 77;
	err = clock__ahead_ns(0, &unknown); /* we are not in it, but our children are */
	if (before ? err != -ENODATA : err || unknown)
		return 1;
	child = fork();
	if (!child)
		_exit(pause());
	usleep(10000);
	err = clock__ahead_ns(child, &ahead);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return err ? 2 : ahead == AHEAD_S * INT64_C(1000000000) ? 0 : 3;
}

Test(clock, of_a_process_in_a_time_namespace_is_told)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(run_ahead());
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		cr_skip("no time namespace can be made here");
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%d", status);
}
