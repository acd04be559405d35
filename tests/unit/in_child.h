/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests run a child for actions that cannot be undone. The child has a directory for its files. */
#ifndef PROFTRACE_TEST_CHILD_H
#define PROFTRACE_TEST_CHILD_H

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "common/util.h"

static char dir[] = "/tmp/proftrace-child.XXXXXX"; /* each test is a process of its own */

static inline void make_dir(void)
{
	cr_assert(mkdtemp(dir) != NULL);
}

static inline void remove_dir(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	cr_expect_eq(system(command), 0);
}

/* A path in the directory. Of four at a time. */
static inline char *in(const char *name)
{
	static char paths[4][128];
	static size_t next;
	char *path = paths[next++ % ARRAY_SIZE(paths)];

	snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);
	return path;
}

/* Returns the exit status of the child. 1: an expectation failed, and was printed. */
static inline int in_child(int (*run)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(run());
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFEXITED(status), "ended by signal %d", WTERMSIG(status));
	return WEXITSTATUS(status);
}

#define WANT(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "line %d: %s: %s\n", __LINE__, #condition,                 \
				strerror(errno));                                                  \
			return 1;                                                                  \
		}                                                                                  \
	} while (0)

#endif
