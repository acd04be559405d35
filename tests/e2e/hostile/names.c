// SPDX-License-Identifier: BSD-2-Clause
/* Has hostile text in all names: of the process, its arguments, threads, library paths, ranges,
 * counters and marks. argv[1] is a library with such a path. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#include "include/proftrace.h"

#define EVIL                                                                                       \
	"\033]0;owned\a\033[2J\xc2\x9b"                                                            \
	"5m\x9b"                                                                                   \
	"5m\xe2\x80\xae\r\nproftrace: all is well"

static void *run(void *arg)
{
	static const proftrace_range frame = {"evil" EVIL, "step"}, work = {NULL, EVIL},
				     formula = {NULL, "=cmd|' /C calc'!A0"},
				     field = {NULL, "a;@SUM(1)"};
	static const proftrace_range *const ranges[] = {&work, &formula, &field};
	static proftrace_counter counter = {NULL, "-1+" EVIL, 0};

	prctl(PR_SET_NAME, "t\033[2J\xc2\x9b\r\nx");
	for (time_t end = time(NULL) + 100; time(NULL) < end;) {
		proftrace_frame_begin(&frame);
		for (int i = 0; i < 3; i++) {
			proftrace_begin(ranges[i]);
			usleep(1000);
			proftrace_end(ranges[i]);
		}
		proftrace_counter_add(&counter, 1);
		proftrace_mark(NULL, "m" EVIL, 't');
		proftrace_end(&frame);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc > 1 && !dlopen(argv[1], RTLD_NOW))
		fprintf(stderr, "%s\n", dlerror());
	if (argc > 1)
		unlink(argv[1]);
	prctl(PR_SET_NAME, "m\033[2J\xc2\x9b\r\nx");
	pthread_create(&thread, NULL, run, NULL);
	puts("ready");
	fflush(stdout);
	pthread_join(thread, NULL);
	return 0;
}
