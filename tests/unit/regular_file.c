// SPDX-License-Identifier: BSD-2-Clause
/* A stranger's file in place of a regular one must not be opened, because opening a device can have
 * an effect. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "common/err.h"
#include "common/out_path.h"
#include "common/regular_file.h"
#include "common/util.h"
#include "recording/recording.h"
#include "target/elf_file.h"
#include "target/target.h"

static char dir[] = "/tmp/proftrace-regular.XXXXXX";
static char fifo[64], file[64], link_path[64];
static int watch = -1;

static void setup(void)
{
	cr_assert(mkdtemp(dir) != NULL);
	snprintf(fifo, sizeof(fifo), "%s/fifo", dir);
	snprintf(file, sizeof(file), "%s/file", dir);
	snprintf(link_path, sizeof(link_path), "%s/link", dir);
	cr_assert_eq(mkfifo(fifo, 0600), 0);
	cr_assert_eq(symlink("fifo", link_path), 0);
	auto_close int made = open(file, O_WRONLY | O_CREAT | O_EXCL, 0600);
	cr_assert_eq(write(made, "x", 1), 1);
	watch = inotify_init1(IN_NONBLOCK);
	cr_assert_geq(watch, 0);
}

static void teardown(void)
{
	char command[64];

	close(watch);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	cr_expect_eq(system(command), 0);
}

static void look_for_opens(const char *path)
{
	cr_assert_geq(inotify_add_watch(watch, path, IN_OPEN), 0);
}

static bool was_opened(void)
{
	char events[4096];

	return read(watch, events, sizeof(events)) > 0;
}

TestSuite(regular_file, .init = setup, .fini = teardown);

static int opens_without_proc(void)
{
	if (chroot(dir) || !access("/proc", F_OK) || regular_file__open("/file") < 0)
		return 1;
	return regular_file__open("/fifo") == -EINVAL && regular_file__open("/none") == -ENOENT ? 0
												: 2;
}

Test(regular_file, a_file_is_opened_without_proc)
{
	int status;
	pid_t pid;

	if (geteuid())
		return;
	pid = fork();
	if (!pid)
		_exit(opens_without_proc());
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect_eq(status, 0);
}

Test(regular_file, a_file_is_opened)
{
	char byte = 0;

	look_for_opens(file);
	auto_close int fd = regular_file__open(file);
	cr_assert_geq(fd, 0, "%s", strerror(-fd));
	cr_expect(read(fd, &byte, 1) == 1 && byte == 'x');
	cr_expect(was_opened(), "the test would see an open");
	cr_expect_eq(regular_file__open("/none/here"), -ENOENT);
}

Test(regular_file, nothing_else_is)
{
	struct elf_file *elf;
	struct recording *r;

	look_for_opens(fifo);
	cr_expect_eq(regular_file__open(fifo), -EINVAL);
	cr_expect_eq(regular_file__open(link_path), -EINVAL);
	cr_expect_eq(regular_file__open("/dev/null"), -EINVAL);
	cr_expect_eq(elf_file__open(link_path, &elf), -ENOEXEC);
	cr_expect_eq(recording__open(link_path, &r), -EINVAL);
	err__take(0);
	cr_expect_not(was_opened());
}

Test(regular_file, nothing_else_is_in_the_root_of_a_process)
{
	struct target *t;

	cr_assert_eq(target__open(getpid(), &t), 0, "%s", err__take(0));
	look_for_opens(fifo);
	cr_expect_eq(target__open_file(t, link_path), -EINVAL);
	cr_expect_not(was_opened());
	target__close(t);
}
