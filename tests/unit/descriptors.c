// SPDX-License-Identifier: BSD-2-Clause
/* Tests which descriptors a process keeps open when it gives up its rights. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "common/descriptors.h"

TestSuite(descriptors);

/* Returns 0 if only these two and those below `first` are open. */
static int keeps(int a, int b, int first)
{
	for (int fd = first; fd < 40; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			dup2(STDERR_FILENO, fd);
	descriptors__keep_two(a, b, first);
	for (int fd = first; fd < 40; fd++)
		if ((fcntl(fd, F_GETFD) >= 0) != (fd == a || fd == b))
			return fd;
	return fcntl(first - 1, F_GETFD) >= 0 ? 0 : 1;
}

Test(descriptors, two_are_kept)
{
	static const int pairs[][2] = {{10, 20}, {20, 10}, {3, 4}, {4, 3}, {3, 39}, {11, 12}};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		const pid_t pid = fork();
		int status;

		if (!pid)
			_exit(keeps(pairs[i][0], pairs[i][1], 3));
		cr_assert_eq(waitpid(pid, &status, 0), pid);
		cr_expect_eq(status, 0, "%d and %d", pairs[i][0], pairs[i][1]);
	}
}

#define KEPT 3

static ino_t file_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? 0 : st.st_ino;
}

/* Returns 0 if the descriptors from 3 on are these files in this order, and no others are open. */
static int keeps_in_order(const int *numbers, rlim_t limit)
{
	const struct rlimit files = {limit, limit};
	int fds[KEPT];
	ino_t inodes[KEPT];

	for (int fd = 3; fd < 40; fd++) {
		const int file = memfd_create("file", 0);

		if (file != fd) {
			dup2(file, fd);
			close(file);
		}
	}
	for (size_t i = 0; i < KEPT; i++) {
		fds[i] = numbers[i];
		inodes[i] = file_of(numbers[i]);
	}
	if (setrlimit(RLIMIT_NOFILE, &files) || descriptors__keep(fds, KEPT, 3))
		return 1;
	for (int i = 0; i < KEPT; i++)
		if (fds[i] != 3 + i || file_of(3 + i) != inodes[i])
			return 2;
	for (int fd = 3 + KEPT; fd < 40; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			return 3;
	return 0;
}

Test(descriptors, some_are_kept_in_order)
{
	static const struct {
		int numbers[KEPT];
		rlim_t limit;
	} cases[] = {
		{{10, 20, 30}, 40}, /* without a free one */
		{{3, 4, 5}, 40},    {{3, 20, 30}, 40}, {{10, 3, 4}, 64},
		{{5, 4, 3}, 64},    {{4, 5, 3}, 64},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const pid_t pid = fork();
		int status;

		if (!pid)
			_exit(keeps_in_order(cases[i].numbers, cases[i].limit));
		cr_assert_eq(waitpid(pid, &status, 0), pid);
		cr_expect_eq(status, 0, "case %zu: %d", i, WEXITSTATUS(status));
	}
}
