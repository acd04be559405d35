// SPDX-License-Identifier: BSD-2-Clause
/* One proftrace at a time changes a process, and no stranger keeps it from that. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include "common/run_directory.h"
#include "common/target_lock.h"
#include "in_child.h"

#define NOBODY 65534

/* Root's is /run/proftrace. */
static void setup(void)
{
	make_dir();
	setenv("XDG_RUNTIME_DIR", dir, 1);
}

TestSuite(target_lock, .init = setup, .fini = remove_dir);

static int is_busy(void)
{
	return target_lock__take(getppid(), 7) == -EBUSY ? 0 : 1;
}

Test(target_lock, one_process_has_it_until_its_last_copy_is_closed)
{
	const int lock = target_lock__take(getpid(), 7);
	int copy, other;

	cr_assert_geq(lock, 0);
	cr_expect_eq(target_lock__take(getpid(), 7), -EBUSY);
	cr_expect_eq(in_child(is_busy), 0);
	other = target_lock__take(getpid(), 8); /* the number is another process's by then */
	cr_expect_geq(other, 0);
	close(other); /* a lock of the process would go with any descriptor */
	copy = dup(lock);
	close(lock);
	cr_expect_eq(in_child(is_busy), 0);
	close(copy);
	other = target_lock__take(getpid(), 7);
	cr_expect_geq(other, 0);
	close(other);
}

Test(target_lock, any_process_number_and_start_time_have_a_place)
{
	const int first = target_lock__take(4194304, UINT64_MAX), second = target_lock__take(-1, 0);

	cr_expect_geq(first, 0);
	cr_expect_geq(second, 0);
	close(first);
	close(second);
}

/* The name that the lock once was, which anybody could take. */
static int stranger_takes_it(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	char path[128];
	int len, fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	WANT(fd >= 0 && !setresuid(NOBODY, NOBODY, NOBODY));
	len = snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, "proftrace-inject-%d-7", getppid());
	WANT(!bind(fd, (struct sockaddr *)&a,
		   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len)));
	WANT(!run_directory__path(0, path, sizeof(path)));
	snprintf(path + strlen(path), sizeof(path) - strlen(path), "/" TARGET_LOCK_FILE);
	WANT(open(path, O_RDONLY) < 0 && errno == EACCES);
	return target_lock__take(getppid(), 7) == -EBUSY;
}

Test(target_lock, no_stranger_takes_it)
{
	int lock;

	if (geteuid())
		cr_skip_test("needs root, to be another user");
	close(target_lock__take(getpid(), 7));
	cr_expect_eq(in_child(stranger_takes_it), 0);
	lock = target_lock__take(getpid(), 7);
	cr_expect_geq(lock, 0);
	close(lock);
}
