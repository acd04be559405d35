// SPDX-License-Identifier: BSD-2-Clause
/* Threads that are looked at before a library is loaded. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include "common/err.h"
#include "inject/inject.h"
#include "inject/remote.h"
#include "inject/tracee.h"
#include "in_child.h"

#define THREADS 20

TestSuite(inject, .timeout = 60);

static void *rest(void *arg)
{
	for (;;)
		pause();
	return arg;
}

/* Pretends that a killed proftrace left its code after each file's code. */
static void forge_marks(void)
{
	const uint64_t mark = REMOTE_STUB_MAGIC;
	auto_free char *maps = file__read("/proc/self/maps", NULL);
	char *rest_of;

	for (char *line = strtok_r(maps, "\n", &rest_of); line;
	     line = strtok_r(NULL, "\n", &rest_of)) {
		unsigned long begin, end;

		if (sscanf(line, "%lx-%lx r-xp", &begin, &end) != 2 || !strstr(line, " r-xp ") ||
		    !strchr(line, '/') ||
		    mprotect((void *)(end - 4096), 4096, PROT_READ | PROT_WRITE | PROT_EXEC))
			continue;
		memcpy((void *)(end - sizeof(mark)), &mark, sizeof(mark));
	}
}

static pid_t start_target(bool forges)
{
	int ready[2];
	pid_t pid;
	char c = 'x';

	cr_assert_eq(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		pthread_t thread;

		for (int i = 1; i < THREADS; i++)
			if (pthread_create(&thread, NULL, rest, NULL))
				_exit(1);
		if (forges)
			forge_marks();
		if (write(ready[1], &c, 1) == 1)
			rest(NULL);
		_exit(1);
	}
	close(ready[1]);
	cr_assert_eq(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Each look takes 0.1 ms and more, and a process may have tens of thousands of threads. */
Test(inject, who_stops_does_not_wait_for_all_threads_to_be_looked_at)
{
	static volatile sig_atomic_t stop;
	const struct inject_request request = {.path = "/x", .symbol = "x", .user_stop = &stop};
	struct inject_result result;
	pid_t pid = start_target(true);

	/* The threads are looked at without a reason to stop them. */
	cr_expect_lt(inject__load(pid, &request, &result), 0);
	cr_expect_geq(result.stops, THREADS, "%u: %s", result.stops, result.reason);
	stop = 1;
	cr_expect_eq(inject__load(pid, &request, &result), -EINTR, "%s", result.reason);
	cr_expect_eq(result.stops, 0);
	end(pid);
}

static pid_t stranger;

static void *stop_it(void *arg)
{
	struct tracee *h = arg;

	return (void *)(intptr_t)tracee__stop(h, getpid(), stranger, UINT64_MAX);
}

Test(inject, a_thread_of_another_process_is_not_stopped)
{
	struct tracee h = {0};
	pthread_t thread;
	void *err;

	stranger = start_target(false);
	cr_assert_eq(pthread_create(&thread, NULL, stop_it, &h), 0);
	cr_assert_eq(pthread_join(thread, &err), 0);
	cr_expect_eq((intptr_t)err, -ESRCH);
	cr_expect_eq(h.stops, 0);
	cr_expect_eq(proc__status(stranger, "TracerPid"), 0);
	end(stranger);
}
