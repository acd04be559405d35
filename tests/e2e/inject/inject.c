// SPDX-License-Identifier: BSD-2-Clause
/*
 * inject PID [path=P | image=FILE] [name=N] [symbol=S] [arg=A] [deadline=MS] [die=STEP]
 *        [times=N] [syscall=NR]
 * Prints one line per injection. die=STEP kills this program there by SIGKILL; steps prints them.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/err.h"
#include "common/util.h"
#include "inject/filter_reader.h"
#include "inject/inject.h"
#include "inject/steps.h"

#define STEP_NAME(name) #name,
static const char *const step_names[] = {INJECT_STEPS(STEP_NAME)};
static const char *die_at = "";

static void die_here(enum inject_step step)
{
	if (strcmp(step_names[step], die_at) == 0)
		raise(SIGKILL);
}

static const char *option(char **args, const char *name, const char *otherwise)
{
	size_t len = strlen(name);

	for (; *args; args++) {
		if (strncmp(*args, name, len) == 0 && (*args)[len] == '=')
			return *args + len + 1;
	}
	return otherwise;
}

static void print_steps(void)
{
	for (int i = 0; i < INJECT_STEP_CNT; i++)
		printf("%s ", step_names[i]);
	printf("\n");
}

static int inject_once(pid_t pid, const struct inject_request *request)
{
	uint64_t start = clock__monotonic_ns();
	struct inject_result r;
	int err = inject__load(pid, request, &r);

	printf("err=%d value=%ld loaded=%d stops=%u stopped_us=%lu took_us=%lu tid=%d reason=%s\n",
	       err, r.value, r.already_loaded, r.stops, r.stopped_ns / 1000,
	       (clock__monotonic_ns() - start) / 1000, r.tid, r.reason);
	fflush(stdout);
	return err;
}

int main(int argc, char **argv)
{
	struct inject_request request = {0};
	const char *image, *nr;
	int err = 0, syscall_nr;

	if (argc < 2 || strcmp(argv[1], "steps") == 0) {
		print_steps();
		return 0;
	}
	image = option(argv, "image", NULL);
	request.path = option(argv, "path", NULL);
	request.image_name = option(argv, "name", "libcounted.so");
	request.symbol = option(argv, "symbol", "counted_call");
	request.arg = option(argv, "arg", "abc");
	request.deadline_ms = (unsigned int)atoi(option(argv, "deadline", "5000"));
	die_at = option(argv, "die", "");
	nr = option(argv, "syscall", NULL);
	if (nr) {
		syscall_nr = atoi(nr);
		request.syscalls = &syscall_nr;
		request.syscall_cnt = 1;
	}
	if (image)
		request.image = file__read(image, &request.image_size);
	err = filter_reader__start();
	inject_step_hook = die_here;
	for (int i = atoi(option(argv, "times", "1")); i > 0 && !err; i--)
		err = inject_once(atoi(argv[1]), &request);
	free((void *)request.image); // NOLINT
	return err != 0;
}
