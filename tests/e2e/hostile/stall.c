// SPDX-License-Identifier: BSD-2-Clause
/*
 * `stall DRIVER CUPTI KIND`: a program with both libraries. Its pthread_create does not return.
 * KIND vfork: it waits for the child of a vfork, which ends by SIGKILL. pause: it waits for
 * signals. Prints "ready", then works.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int wait_for_child(void)
{
	if (!vfork())
		for (;;)
			pause();
	return 11; /* EAGAIN */
}

static int wait_for_signal(void)
{
	for (;;)
		pause();
	return 11;
}

/* movabs $to, %rax; jmp *%rax */
static void redirect(void *from, int (*to)(void))
{
	unsigned char code[12] = {0x48, 0xb8, [10] = 0xff, 0xe0};
	char *page = (char *)((unsigned long)from & ~4095ul);

	memcpy(code + 2, &to, sizeof(to));
	if (mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC))
		exit(1);
	memcpy(from, code, sizeof(code));
	mprotect(page, 8192, PROT_READ | PROT_EXEC);
}

int main(int argc, char **argv)
{
	void *driver = argc == 4 ? dlopen(argv[1], RTLD_NOW) : NULL;
	int (*launch)(void) = driver ? (int (*)(void))dlsym(driver, "cuLaunchKernel") : NULL;

	if (!launch || !dlopen(argv[2], RTLD_NOW))
		return 1;
	redirect((void *)pthread_create,
		 strcmp(argv[3], "vfork") ? wait_for_signal : wait_for_child);
	puts("ready");
	fflush(stdout);
	for (;;) {
		launch();
		usleep(2000);
	}
}
