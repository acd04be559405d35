// SPDX-License-Identifier: BSD-2-Clause
#include "attach/shield.h"
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include "common/util.h"

/* As large as a main thread's stack usually is, because libbpf does the work. */
#define STACK_BYTES (8u << 20)

struct shielded {
	int (*work)(void *arg);
	void *arg;
	int result;
};

/* The process that waits for the shield. The shield shares these variables. 0: this is no
 * shield. */
static _Thread_local pid_t wanted_by;
static _Thread_local uint64_t cpu_ns;

static int run(void *ctx)
{
	struct shielded *s = ctx;

	/* A shield is not in our process group, so kill -9 -PGID does not reach it. */
	setsid();
	s->result = s->work(s->arg);
	cpu_ns += clock__ns(CLOCK_PROCESS_CPUTIME_ID);
	return 0;
}

static void reap(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

int shield__run(int (*work)(void *arg), void *arg)
{
	struct shielded s = {.work = work, .arg = arg};
	char *stack = MAP_FAILED;
	sigset_t all, before;
	pid_t pid = -1;

	if (!wanted_by && gettid() == getpid())
		stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
	if (stack == MAP_FAILED)
		return work(arg);
	sigfillset(&all);
	/* A signal handler would run in both processes on the same memory. */
	sigprocmask(SIG_BLOCK, &all, &before);
	wanted_by = getpid();
	/* The processes share memory, so this one waits for the end. Only SIGKILL ends the wait. */
	pid = clone(run, stack + STACK_BYTES, CLONE_VM | CLONE_FILES | CLONE_VFORK | SIGCHLD, &s);
	wanted_by = 0;
	if (pid > 0)
		reap(pid);
	sigprocmask(SIG_SETMASK, &before, NULL);
	munmap(stack, STACK_BYTES);
	return pid > 0 ? s.result : work(arg);
}

bool shield__orphaned(void)
{
	return wanted_by && getppid() != wanted_by;
}

uint64_t shield__cpu_ns(void)
{
	return cpu_ns;
}
