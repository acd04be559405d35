// SPDX-License-Identifier: BSD-2-Clause
/* Makes many of the things for which a profiler keeps data. argv[1] says which. Prints "ready", and
 * goes on. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "include/proftrace.h"

static unsigned long made;

static void *thread(void *arg)
{
	char name[16];

	snprintf(name, sizeof(name), "t%lu", (unsigned long)arg);
	prctl(PR_SET_NAME, name);
	usleep(1000);
	return NULL;
}

static void threads(void)
{
	pthread_t all[32];
	int cnt = 0;

	while (cnt < 32 && !pthread_create(&all[cnt], NULL, thread, (void *)made++))
		cnt++;
	while (cnt)
		pthread_join(all[--cnt], NULL);
}

/* Many children, each with its own name, and one thread more. */
static void forks(void)
{
	pid_t all[16];

	for (int i = 0; i < 16; i++) {
		made++;
		all[i] = fork();
		if (!all[i]) {
			thread((void *)made);
			_exit(0);
		}
	}
	for (int i = 0; i < 16; i++)
		waitpid(all[i], NULL, 0);
}

static char text[4096];

/* Long names that differ at their ends. */
static void names(void)
{
	const proftrace_range r = {NULL, text};

	snprintf(text + 400, sizeof(text) - 400, "%lu", made++);
	proftrace_begin(&r);
	proftrace_end(&r);
}

static void domains(void)
{
	const proftrace_range r = {text, "range"};

	snprintf(text + 400, sizeof(text) - 400, "%lu", made++);
	proftrace_begin(&r);
	proftrace_end(&r);
}

static void counters(void)
{
	proftrace_counter c = {NULL, text, 0};

	snprintf(text + 400, sizeof(text) - 400, "%lu", made++);
	proftrace_counter_set(&c, 1);
	proftrace_mark(NULL, text, 't');
}

/* Ranges that never end. */
static void open_ranges(void)
{
	proftrace_range *r = malloc(sizeof(*r));

	*r = (proftrace_range){NULL, text};
	if (made++ > 10000000)
		usleep(1000);
	proftrace_begin(r);
}

static const struct {
	const char *name;
	void (*flood)(void);
} kinds[] = {
	{"threads", threads}, {"forks", forks},	      {"names", names},
	{"domains", domains}, {"counters", counters}, {"open", open_ranges},
};

int main(int argc, char **argv)
{
	static const proftrace_range frame = {NULL, "step"};
	const time_t end = time(NULL) + 120;

	memset(text, 'x', 400);
	puts("ready");
	fflush(stdout);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		while (argc > 1 && !strcmp(kinds[i].name, argv[1]) && time(NULL) < end) {
			if (!(made & 1023))
				proftrace_frame_begin(&frame);
			kinds[i].flood();
		}
	return 0;
}
