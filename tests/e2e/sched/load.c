// SPDX-License-Identifier: BSD-2-Clause
/*
 * Threads of known behaviour, one for each word of the command line:
 *
 *	load SECONDS spin|half|futex|pipe|sleep|read|echo|fork|map|file|own ...
 *
 * spin runs all the time; half runs 10 ms of CPU time and sleeps 10 ms; futex, pipe and sleep wait
 * 50 ms at a time for a condition variable, in poll and in nanosleep; read waits in read for ever.
 * echo passes a byte to and fro with a second thread, which switches as often as it can.
 * map takes 64 pages from the kernel, writes to each, and gives them back; file does so with 64 of
 *a mapped file, which is in memory; own calls getppid from user space 100 times, then sleeps 1 ms.
 * A thread is called as its word. "fork" is a child that spins 0.3 s, exits 7, and is reaped.
 */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_s(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void run_for(double seconds)
{
	double end = now_s(CLOCK_THREAD_CPUTIME_ID) + seconds;

	while (now_s(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static void wait_futex(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 50000000;
	if (until.tv_nsec >= 1000000000)
		until.tv_sec++, until.tv_nsec -= 1000000000;
	pthread_mutex_lock(&lock);
	pthread_cond_timedwait(&never, &lock, &until);
	pthread_mutex_unlock(&lock);
}

static void child(void)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		run_for(0.3);
		_exit(7);
	}
	waitpid(pid, &status, 0);
}

#define PAGES 64

/* flags: MAP_ANONYMOUS, or of a file */
static void touch(int flags, int fd)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *at = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | flags, fd, 0);

	if (at == MAP_FAILED || madvise(at, PAGES * page, MADV_NOHUGEPAGE))
		exit(1);
	for (size_t i = 0; i < PAGES; i++)
		((volatile char *)at)[i * page] = 1;
	if (munmap(at, PAGES * page))
		exit(1);
	usleep(1000);
}

static void touch_file(void)
{
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("pages", 0);
		for (int i = 0; i < PAGES; i++)
			if (pwrite(fd, "x", 1, i * sysconf(_SC_PAGESIZE)) != 1)
				exit(1);
	}
	touch(0, fd);
}

static int there[2], back[2];

static void *echo(void *unused)
{
	char byte;

	while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
		;
	return unused;
}

static void call_echo(void)
{
	pthread_t id;
	char byte = 0;

	if (!there[1] && (pipe(there) || pipe(back) || pthread_create(&id, NULL, echo, NULL)))
		exit(1);
	if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
		exit(1);
}

static void step(const char *word, int silent)
{
	struct pollfd fd = {.fd = silent, .events = POLLIN};
	char byte;

	if (!strcmp(word, "spin"))
		run_for(0.01);
	else if (!strcmp(word, "half"))
		run_for(0.01), usleep(10000);
	else if (!strcmp(word, "futex"))
		wait_futex();
	else if (!strcmp(word, "pipe"))
		poll(&fd, 1, 50);
	else if (!strcmp(word, "sleep"))
		usleep(50000);
	else if (!strcmp(word, "read") && read(silent, &byte, 1) < 0)
		exit(1);
	else if (!strcmp(word, "echo"))
		call_echo();
	else if (!strcmp(word, "map"))
		touch(MAP_ANONYMOUS, -1);
	else if (!strcmp(word, "file"))
		touch_file();
	else if (!strcmp(word, "own")) {
		for (int i = 0; i < 100; i++)
			getppid();
		usleep(1000);
	} else if (!strcmp(word, "fork"))
		child(), usleep(50000);
}

static void *thread(void *word)
{
	int ends[2];

	if (pipe(ends))
		exit(1);
	pthread_setname_np(pthread_self(), word);
	for (;;)
		step(word, ends[0]);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t id;

	for (int i = 2; i < argc; i++)
		if (pthread_create(&id, NULL, thread, argv[i]))
			return 1;
	puts("ready");
	fflush(stdout);
	sleep(argc > 1 ? atoi(argv[1]) : 0);
	return 3;
}
