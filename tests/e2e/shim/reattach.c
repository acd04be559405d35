// SPDX-License-Identifier: BSD-2-Clause
/*
 * reattach SHIM CUPTI: a program that launches kernels and is also its own proftrace: attaches
 * late, ten times, and sees after each that nothing is left. Then what must be refused, and a
 * proftrace that goes silent at each step.
 */
#include "device/shim_link.h"
#include "tests/simgpu/client/client.h"
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static char stub;
static cudaStream_t stream;
static int (*attach)(const char *path);
static const char *cupti_path;
static volatile int launching = 1;
static volatile unsigned long launched;

/* The job: a kernel every millisecond. */
static void *launch(void *unused)
{
	while (launching) {
		kernel_launch(&stub, 1, stream);
		launched++;
		usleep(1000);
	}
	return unused;
}

static int entries(const char *path)
{
	DIR *dir = opendir(path);
	int cnt = 0;

	CHECK(dir);
	while (readdir(dir))
		cnt++;
	closedir(dir);
	return cnt;
}

/* Threads of CUPTI and of the library end soon after they are told to. */
static void wait_entries(const char *path, int cnt)
{
	for (int i = 0; i < 3000 && entries(path) != cnt; i++)
		usleep(1000);
	CHECK(entries(path) == cnt);
}

static void wait_done(struct shim_link *l, uint32_t seq)
{
	for (int i = 0; i < 10000 && !shim_link__is_done(l, seq); i++) {
		shim_link__beat(l);
		usleep(1000);
	}
	CHECK(shim_link__is_done(l, seq));
	CHECK(!shim_link__error(l));
}

static int count_call(void *ctx, size_t ring, uint32_t tid, const struct shim_call *call)
{
	(void)ring;
	CHECK(tid && call->begin_ns <= call->end_ns && !call->flags);
	++*(unsigned long *)ctx;
	return 0;
}

static int count_kernel(void *ctx, const struct shim_record *r)
{
	*(unsigned long *)ctx += r->kind == SHIM_REC_KERNEL;
	return 0;
}

static struct shim_link *start(void)
{
	struct shim_link *l;

	CHECK(!shim_link__create(&l));
	shim_link__set_cupti(l, cupti_path, 0);
	CHECK(!attach(shim_link__path(l)));
	CHECK(shim_link__state(l) == SHIM_PARKED);
	return l;
}

static void wait_left(struct shim_link *l)
{
	for (int i = 0; i < 10000 && shim_link__state(l) != SHIM_LEFT; i++)
		usleep(1000);
	CHECK(shim_link__state(l) == SHIM_LEFT);
}

static void wait_launches(unsigned long cnt)
{
	unsigned long until = launched + cnt;

	for (int i = 0; i < 10000 && launched < until; i++)
		usleep(1000);
	CHECK(launched >= until);
}

static void cycle(void)
{
	unsigned long calls = 0, kernels = 0, before = launched;
	struct shim_link *l = start();
	struct shim_facts facts;

	wait_done(l, shim_link__command(l, SHIM_RECORD));
	CHECK(shim_link__state(l) == SHIM_RECORDING);
	wait_launches(10);
	wait_done(l, shim_link__command(l, SHIM_PARK));
	CHECK(shim_link__state(l) == SHIM_PARKED);
	shim_link__calls(l, count_call, &calls);
	shim_link__activities(l, count_kernel, &kernels);
	shim_link__facts(l, &facts);
	CHECK(facts.finalized);
	CHECK(kernels > 5 && kernels <= launched - before);
	CHECK(calls >= kernels);
	wait_done(l, shim_link__command(l, SHIM_LEAVE));
	wait_left(l);
	shim_link__free(l);
}

static void ten_cycles_leave_nothing(void)
{
	int threads = entries("/proc/self/task"), fds;

	cycle(); /* the first one maps libraries */
	wait_entries("/proc/self/task", threads);
	fds = entries("/proc/self/fd");
	for (int i = 0; i < 9; i++) {
		cycle();
		wait_entries("/proc/self/task", threads);
	}
	CHECK(entries("/proc/self/fd") == fds);
}

/* The library obeys the file's content; see is_trusted() in cupti_shim/shim.c. */
static void files_of_others_are_refused(void)
{
	int fd = open("short", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	CHECK(fd >= 0 && attach("short") == -EPROTO);
	CHECK(!fchmod(fd, 0640) && attach("short") == -EPERM);
	close(fd);
	CHECK(!symlink("short", "link") && attach("link") == -ELOOP);
	CHECK(attach("/dev/null") == -EPERM);
	unlink("link");
	unlink("short");
}

static void what_is_wrong_is_refused(void)
{
	struct shim_link *l = start(), *second;
	struct shim_control *c;
	int fd;

	CHECK(!shim_link__create(&second));
	CHECK(attach(shim_link__path(second)) == -EBUSY);
	wait_done(l, shim_link__command(l, SHIM_LEAVE));
	wait_left(l);
	shim_link__free(l);
	usleep(100000);
	CHECK(attach("/nonexistent/file") == -ENOENT);
	files_of_others_are_refused();
	fd = open(shim_link__path(second), O_RDWR);
	c = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(c != MAP_FAILED);
	close(fd);
	c->version++;
	CHECK(attach(shim_link__path(second)) == -EPROTO);
	c->version--;
	c->pid = 1; /* another process has it */
	CHECK(attach(shim_link__path(second)) == -EBUSY);
	munmap(c, 4096);
	shim_link__free(second);
}

/* command 0: before any. */
static void silence(enum shim_command command)
{
	int threads = entries("/proc/self/task");
	struct shim_link *l = start();

	if (command)
		shim_link__command(l, command);
	wait_left(l);
	wait_entries("/proc/self/task", threads);
	shim_link__free(l);
	cycle();
}

int main(int argc, char **argv)
{
	pthread_t thread;
	void *library;

	CHECK(argc == 3);
	kernel_register(&stub, "_Z6kernelv");
	OK(cudaStreamCreate(&stream));
	CHECK(!pthread_create(&thread, NULL, launch, NULL));
	wait_launches(10); /* the device's own threads are there */
	library = dlopen(argv[1], RTLD_NOW);
	CHECK(library);
	attach = (int (*)(const char *))dlsym(library, "proftrace_cupti_attach");
	CHECK(attach);
	cupti_path = argv[2];
	ten_cycles_leave_nothing();
	what_is_wrong_is_refused();
	silence(0);
	silence(SHIM_RECORD);
	silence(SHIM_FLUSH);
	launching = 0;
	pthread_join(thread, NULL);
	OK(cudaDeviceSynchronize());
	puts("reattach: ok");
	return 0;
}
