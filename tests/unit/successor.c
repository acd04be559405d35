// SPDX-License-Identifier: BSD-2-Clause
/* Tests which process counts as the successor of one that ended. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "target/successor.h"

/* A shell that starts processes on request, one per line, and prints each pid. */
struct launcher {
	pid_t pid;
	FILE *in, *out;
};

static struct launcher launch(void)
{
	struct launcher l = {0};
	int in[2], out[2];

	cr_assert_eq(pipe(in), 0);
	cr_assert_eq(pipe(out), 0);
	l.pid = fork();
	cr_assert_geq(l.pid, 0);
	if (!l.pid) {
		setpgid(0, 0);
		dup2(in[0], 0);
		dup2(out[1], 1);
		close(in[1]);
		close(out[0]);
		execl("/bin/sh", "sh", NULL);
		_exit(1);
	}
	close(in[0]);
	close(out[1]);
	l.in = fdopen(in[1], "w");
	l.out = fdopen(out[0], "r");
	return l;
}

static pid_t start(const struct launcher *l, const char *command)
{
	char line[32];

	fprintf(l->in, "%s </dev/null >/dev/null 2>&1 & echo $!\n", command);
	fflush(l->in);
	cr_assert_not_null(fgets(line, sizeof(line), l->out));
	return (pid_t)atoi(line);
}

/* Waits until the shell's child runs its own program. */
static pid_t found_in_time(const struct successor *s)
{
	pid_t pid = 0;

	for (int i = 0; i < 500 && !pid; i++) {
		usleep(10000);
		pid = successor__find(s);
	}
	return pid;
}

static void end(const struct launcher *l, const struct successor *s)
{
	fprintf(l->in, "kill %d; wait %d; echo\n", s->pid, s->pid);
	fflush(l->in);
	cr_assert_eq(fgetc(l->out), '\n');
}

static void started_as(pid_t pid, const char *program)
{
	char path[32], name[32] = "";

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	for (int i = 0; i < 500 && strcmp(name, program); i++) {
		FILE *f = fopen(path, "r");

		cr_assert_not_null(f);
		cr_assert_eq(fscanf(f, "%31s", name), 1);
		fclose(f);
		usleep(10000);
	}
}

static void stop(struct launcher *l)
{
	kill(-l->pid, SIGKILL);
	waitpid(l->pid, NULL, 0);
	fclose(l->in);
	fclose(l->out);
}

Test(successor, is_the_new_process_of_the_same_rank)
{
	struct launcher l = launch();
	struct successor s;
	pid_t old, next;

	old = start(&l, "RANK=3 sleep 100");
	started_as(old, "sleep");
	started_as(start(&l, "RANK=2 sleep 100"), "sleep");
	successor__prepare(&s, old);
	cr_expect_eq(s.rank, 3);
	cr_expect_eq(s.parent, l.pid);
	cr_expect_eq(successor__launcher(&s), l.pid);
	end(&l, &s);
	cr_expect_eq(successor__find(&s), 0);
	started_as(start(&l, "RANK=1 sleep 100"), "sleep");
	cr_expect_eq(successor__find(&s), 0, "another rank");
	next = start(&l, "RANK=3 sleep 101");
	cr_expect_eq(found_in_time(&s), next);
	stop(&l);
	cr_expect_eq(successor__launcher(&s), 0, "it is gone");
	cr_expect_eq(successor__find(&s), 0);
	successor__free(&s);
}

Test(successor, of_no_rank_has_the_same_command_line)
{
	struct launcher l = launch();
	struct successor s;
	pid_t old, next;

	old = start(&l, "sleep 100");
	started_as(old, "sleep");
	started_as(start(&l, "sleep 100"), "sleep");
	successor__prepare(&s, old);
	cr_expect_eq(successor__launcher(&s), 0, "a shell may start anything");
	end(&l, &s);
	started_as(start(&l, "sleep 101"), "sleep");
	cr_expect_eq(successor__find(&s), 0, "one that was there, and another command");
	next = start(&l, "sleep 100");
	cr_expect_eq(found_in_time(&s), next);
	stop(&l);
	successor__free(&s);
}

Test(successor, of_what_we_started_there_is_none)
{
	struct successor s;
	pid_t child = fork();

	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
	}
	successor__prepare(&s, child);
	cr_expect_eq(s.parent, 0);
	cr_expect_eq(successor__find(&s), 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	successor__free(&s);
}
