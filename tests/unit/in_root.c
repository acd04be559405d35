// SPDX-License-Identifier: BSD-2-Clause
/* Paths in the root directory of a process, which has made the links in it: openat2 is the oracle.
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include "common/util.h"
#include "target/in_root.h"

static char dir[] = "/tmp/proftrace-root.XXXXXX";
static int root;

static void put(int at, const char *name)
{
	auto_close int fd = openat(at, name, O_WRONLY | O_CREAT, 0600);

	cr_assert_geq(fd, 0);
}

static void setup(void)
{
	char deep[PATH_MAX] = "d", *end = deep + 1;

	cr_assert(mkdtemp(dir) != NULL);
	auto_close int outside = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	cr_assert_eq(mkdirat(outside, "root", 0700), 0);
	put(outside, "secret");
	root = openat(outside, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	cr_assert_geq(root, 0);
	put(root, "file");
	cr_assert(!mkdirat(root, "a", 0700) && !mkdirat(root, "a/b", 0700));
	put(root, "a/b/file");
	cr_assert(!symlinkat("/a/b", root, "absolute"));
	cr_assert(!symlinkat("../../../secret", root, "a/out"));
	cr_assert(!symlinkat("../b/./file", root, "a/b/relative"));
	cr_assert(!symlinkat("absolute/file", root, "twice"));
	cr_assert(!symlinkat("loop", root, "loop"));
	cr_assert(!symlinkat("..", root, "up"));
	cr_assert(!symlinkat("nothing", root, "dangling"));
	cr_assert(!mkfifoat(root, "fifo", 0600));
	for (int i = 0; i < 100; i++) {
		cr_assert(!mkdirat(root, deep, 0700));
		end = stpcpy(end, "/d");
	}
}

static void teardown(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	cr_expect_eq(system(command), 0);
}

TestSuite(in_root, .init = setup, .fini = teardown);

static int oracle(const char *path)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC,
			       .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

Test(in_root, paths_lead_where_they_lead_in_that_root)
{
	static const char *const paths[] = {
		"/",
		"file",
		"/file",
		"//a//b/file",
		"a/b/file",
		"a/../file",
		"../file",
		"a/../../file",
		"../../secret",
		"a/out",
		"a/b/../out",
		"absolute",
		"absolute/file",
		"absolute/../b/file",
		"a/b/relative",
		"twice",
		"loop",
		"up/file",
		"up/up/a/b/file",
		"dangling",
		"nothing",
		"nothing/..",
		"file/",
		"file/x",
		"file/..",
		"fifo",
		"a/b/",
		"./a/./b/file",
		"d/d/d/d/d/d/d/d/../../../d/d",
	};

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		auto_close int want = oracle(paths[i]), got = in_root__find(root, paths[i]);
		struct stat a, b;

		if (want < 0) {
			cr_expect_eq(got, want, "%s: %d, not %d", paths[i], got, want);
			continue;
		}
		cr_assert_geq(got, 0, "%s: %s", paths[i], strerror(-got));
		cr_expect(!fstat(want, &a) && !fstat(got, &b) && a.st_ino == b.st_ino &&
				  a.st_dev == b.st_dev,
			  "%s", paths[i]);
		cr_expect_eq(fcntl(got, F_GETFL) & O_PATH, O_PATH);
	}
}

Test(in_root, descriptors_are_closed)
{
	const int before = dup(0);

	close(before);
	for (int i = 0; i < 100; i++) {
		const int fd = in_root__find(root, i % 2 ? "twice" : "a/b/nothing");

		if (fd >= 0)
			close(fd);
	}
	const int after = dup(0);

	cr_expect_eq(after, before);
	close(after);
}

Test(in_root, depths_and_names_without_end_are_refused)
{
	char path[2 * PATH_MAX] = "";

	for (int i = 0; i < 100; i++)
		strcat(path, "d/");
	const int fd = in_root__find(root, path);

	cr_expect_geq(fd, 0);
	close(fd);
	for (int i = 100; i < 3000; i++)
		strcat(path, "d/");
	cr_expect_eq(in_root__find(root, path), -ENAMETOOLONG);
	memset(path, 'x', 300);
	path[300] = '\0';
	cr_expect_eq(in_root__find(root, path), -ENAMETOOLONG);
}
