// SPDX-License-Identifier: BSD-2-Clause
#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/mapped.h"

#define PAGES 4

Test(mapped, what_was_cut_off_reads_as_zeros_and_is_known)
{
	char path[] = "/tmp/proftrace-mapped.XXXXXX", page[4096];
	int fd = mkstemp(path);
	struct mapped *m;

	cr_assert(fd >= 0);
	memset(page, 'x', sizeof(page));
	for (int i = 0; i < PAGES; i++)
		cr_assert_eq(write(fd, page, sizeof(page)), (ssize_t)sizeof(page));
	cr_assert_eq(mapped__open(fd, PAGES * sizeof(page), &m), 0);
	cr_expect_eq(mapped__data(m)[sizeof(page) - 1], 'x');
	cr_expect_eq(mapped__data(m)[PAGES * sizeof(page)], 0);
	cr_assert_eq(ftruncate(fd, sizeof(page)), 0);
	cr_expect_not(mapped__is_torn(m));
	cr_expect_eq(mapped__data(m)[2 * sizeof(page) + 7], 0);
	cr_expect(mapped__is_torn(m));
	cr_expect_eq(mapped__data(m)[0], 'x');
	mapped__close(m);
	close(fd);
	unlink(path);
}

Test(mapped, a_bus_error_elsewhere_ends_the_process, .signal = SIGBUS)
{
	char path[] = "/tmp/proftrace-mapped.XXXXXX";
	int fd = mkstemp(path);
	struct mapped *m;

	cr_assert(fd >= 0);
	cr_assert_eq(write(fd, "x", 1), 1);
	signal(SIGBUS, SIG_DFL); /* a sanitizer may have a handler */
	cr_assert_eq(mapped__open(fd, 1, &m), 0);
	raise(SIGBUS);
	raise(SIGBUS);
}
