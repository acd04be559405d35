// SPDX-License-Identifier: BSD-2-Clause
/*
 * begins LIBCUDA: a program without a framework, whose steps are calls of step(). From SIGUSR1 on
 * it sets memory of a device in each, of whose driver nothing was in the process before; from
 * SIGUSR2 on no more. Until SIGTERM.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile sig_atomic_t asked, begins, rests;
static int (*set)(unsigned long long, unsigned char, size_t);
static unsigned long long memory;

static void on_signal(int number)
{
	if (number == SIGTERM)
		asked = 1;
	else if (number == SIGUSR1)
		begins = 1;
	else
		rests = 1;
}

static void must(int result)
{
	if (result)
		abort();
}

static void *function(void *cuda, const char *name)
{
	void *found = cuda ? dlsym(cuda, name) : NULL;

	must(!found);
	return found;
}

static void begin(const char *path)
{
	void *cuda = dlopen(path, RTLD_NOW), *context;

	must(((int (*)(unsigned int))function(cuda, "cuInit"))(0));
	must(((int (*)(void **, int))function(cuda, "cuDevicePrimaryCtxRetain"))(&context, 0));
	must(((int (*)(void *))function(cuda, "cuCtxSetCurrent"))(context));
	must(((int (*)(unsigned long long *, size_t))function(cuda, "cuMemAlloc_v2"))(&memory, 64));
	set = (int (*)(unsigned long long, unsigned char, size_t))function(cuda, "cuMemsetD8_v2");
}

__attribute__((noinline)) void step(const char *path)
{
	if (begins && !set)
		begin(path);
	if (set && !rests)
		must(set(memory, 1, 64));
	usleep(10000);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	signal(SIGTERM, on_signal);
	signal(SIGUSR1, on_signal);
	signal(SIGUSR2, on_signal);
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	while (!asked)
		step(argv[1]);
}
