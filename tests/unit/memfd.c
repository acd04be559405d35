// SPDX-License-Identifier: BSD-2-Clause
/* A process that shows another file in place of its memfd. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "common/memfd.h"
#include "common/util.h"

Test(memfd, of_a_process_is_taken)
{
	auto_close int theirs = memfd_create("x", MFD_CLOEXEC);
	auto_close int ours = memfd__take_of(getpid(), theirs);
	char c;

	cr_assert_geq(ours, 0);
	cr_expect_neq(ours, theirs);
	cr_expect_eq(pwrite(ours, "x", 1, 0), 1);
	cr_expect_eq(pread(theirs, &c, 1, 0), 1);
}

static void expect_refused(int theirs)
{
	cr_assert_geq(theirs, 0);
	cr_expect_eq(memfd__take_of(getpid(), theirs), -EPERM);
	close(theirs);
}

Test(memfd, nothing_else_is_taken)
{
	char name[] = "/dev/shm/proftrace-memfd.XXXXXX";
	int unlinked = mkostemp(name, O_CLOEXEC), ends[2];

	expect_refused(open("/dev/zero", O_PATH | O_CLOEXEC));
	expect_refused(open("/etc/passwd", O_PATH | O_CLOEXEC));
	expect_refused(open("/etc/passwd", O_RDONLY | O_CLOEXEC));
	cr_assert_eq(unlink(name), 0);
	expect_refused(unlinked); /* no name, and in memory */
	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	expect_refused(ends[1]);
	cr_expect_lt(memfd__take_of(getpid(), 1 << 20), 0);
	close(ends[0]);
}
