// SPDX-License-Identifier: BSD-2-Clause
/* What a process that gives up its rights keeps open. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "common/descriptors.h"

TestSuite(descriptors);

/* 0: those two and what is below `first` are open, and nothing else. */
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
