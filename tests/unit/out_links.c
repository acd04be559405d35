// SPDX-License-Identifier: BSD-2-Clause
/* Tests which links proftrace follows for directories and files that it writes, and as which user
 * it goes on. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <grp.h>
#include <sys/wait.h>
#include "common/out_file.h"
#include "common/out_path.h"
#include "common/util.h"
#include "out_dir.h"

TestSuite(out_links, .init = setup, .fini = teardown, .timeout = 60);

static void need_root(void)
{
	if (geteuid())
		cr_skip_test("needs root");
}

static void expect_refused(const char *name)
{
	for (enum out_mode mode = OUT_LIVE; mode <= OUT_WHOLE; mode++)
		cr_expect_eq(write_to(name, mode, "x"), -ELOOP, "%s", name);
	cr_expect_eq(out_file__set_aside(in(name)), -ELOOP, "%s", name);
}

/* The root of a container has our root's number: he may have made them. */
Test(out_links, roots_links_in_a_directory_that_containers_may_have_are_refused)
{
	need_root();
	cr_assert(!mkdir(in("shared"), 0755) && !mkdir(in("roots"), 0755));
	put("roots/file", "secret");
	cr_assert(!symlink("../roots", in("shared/sub")));
	cr_assert(!symlink("../roots/file", in("shared/file")));
	expect_refused("shared/sub/file");
	expect_refused("shared/sub/new");
	expect_refused("shared/file");
	cr_expect_eq(out_file__remove(in("shared/sub/file")), -ELOOP);
	cr_expect_eq(out_file__reopen(in("shared/sub/file")), -ELOOP);
	cr_expect_eq(out_file__make_directory(in("shared/sub/made")), -ELOOP);
	cr_expect_eq(out_file__open_temporary(in("shared/sub")), -ELOOP);
	cr_expect(holds("roots/file", "secret"));
}

Test(out_links, a_link_of_roots_that_a_neighbour_moved_is_refused)
{
	need_root();
	cr_assert_eq(mkdir(in("roots"), 0755), 0);
	cr_assert(!symlink("../roots", in("link")));
	move_to("link", "theirs/sub");
	expect_refused("theirs/sub/file");
	cr_assert_eq(chmod(in("theirs"), 01777), 0);
	expect_refused("theirs/sub/file");
}

Test(out_links, the_error_names_the_link_and_what_to_type)
{
	char want[128];

	need_root();
	cr_assert(!mkdir(in("a"), 0755) && !mkdir(in("a/b"), 0755));
	cr_assert(!symlink("../../else/where", in("a/b/sub")));
	cr_expect_eq(write_to("a/../a/b/sub/file", OUT_LIVE, "x"), -ELOOP);
	snprintf(want, sizeof(want), "%s/a/b/sub is a symbolic link", dir);
	cr_expect_eq(strstr(out_file__explain(-ELOOP), want), out_file__explain(-ELOOP));
	snprintf(want, sizeof(want), "name what it leads to: %s/else/where", dir);
	cr_expect(strstr(out_file__explain(-ELOOP), want), "%s", out_file__explain(-ELOOP));
	cr_assert(!symlink("/x/../y", in("a/absolute")));
	cr_expect_eq(write_to("a/absolute", OUT_LIVE, "x"), -ELOOP);
	cr_expect(strstr(out_file__explain(-ELOOP), "leads to: /x/../y"));
	cr_assert(!symlink("../../../../out", in("a/far")));
	cr_expect_eq(write_to("a/far", OUT_LIVE, "x"), -ELOOP);
	cr_expect(strstr(out_file__explain(-ELOOP), "leads to: /out"));
	/* Refused for another reason. */
	cr_assert(!symlink("loop/a", in("loop")));
	cr_expect_eq(write_to("none/file", OUT_LIVE, "x"), -ENOENT);
	cr_expect(strstr(out_file__explain(-ELOOP), "name the file itself"));
}

/* Returns 0, or the line of the failed check. */
static int in_a_root_of_its_own(void)
{
#define NEED(condition)                                                                            \
	do {                                                                                       \
		if (!(condition))                                                                  \
			return __LINE__ & 0xff;                                                    \
	} while (0)
	struct stat st;
	struct out_file f;

	NEED(!chroot(dir) && !chdir("/"));
	NEED(!mkdir("/run", 0755) && !mkdir("/var", 0755) && !mkdir("/mnt", 0755));
	NEED(!symlink("../run", "/var/run") && !symlink("mnt", "/data"));
	NEED(!symlink("../run", "/mnt/run") && !symlink("var/run", "/both"));
	NEED(!out_file__open(&f, "/var/run/a", OUT_WHOLE) && !out_file__publish(&f));
	NEED(!out_file__open(&f, "/data/b", OUT_LIVE) && !out_file__publish(&f));
	NEED(!out_file__open(&f, "both/c", OUT_LIVE) && !out_file__publish(&f));
	NEED(!stat("/run/a", &st) && !stat("/mnt/b", &st) && !stat("/run/c", &st));
	NEED(out_file__open(&f, "/mnt/run/d", OUT_LIVE) == -ELOOP);
	NEED(out_file__open(&f, "/data/run/d", OUT_LIVE) == -ELOOP);
	/* The last component is no directory of the system's. */
	NEED(!symlink("mnt/b", "/file") && out_file__open(&f, "/file", OUT_LIVE) == -ELOOP);
	/* Others may write there, or made the directory. */
	NEED(!chmod("/var", 0777) && out_file__open(&f, "/var/run/d", OUT_LIVE) == -ELOOP);
	NEED(!chmod("/var", 01777) && out_file__open(&f, "/var/run/d", OUT_LIVE) == -ELOOP);
	NEED(!chmod("/var", 0755) && !lchown("/var/run", NOBODY, NOBODY));
	NEED(out_file__open(&f, "/var/run/d", OUT_LIVE) == -ELOOP);
	return 0;
}

Test(out_links, roots_links_in_the_root_directory_and_in_var_are_followed)
{
	int status;
	pid_t pid;

	need_root();
	pid = fork();
	if (!pid)
		_exit(in_a_root_of_its_own());
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect_eq(status, 0, "line %d", WEXITSTATUS(status));
}

static void write_through(const char *form, int fd)
{
	struct out_file f;
	char name[64];

	snprintf(name, sizeof(name), form, fd);
	cr_assert_eq(out_file__open(&f, name, OUT_LIVE), 0, "%s", name);
	cr_expect_eq(write(f.fd, "x", 1), 1);
	cr_expect_eq(out_file__publish(&f), 0);
}

/* A shell's >(command) and /dev/stdout look like this. */
Test(out_links, open_descriptors_can_be_named)
{
	int ends[2];
	char text[8];

	cr_assert_eq(pipe(ends), 0);
	write_through("/dev/fd/%d", ends[1]);
	write_through("/proc/self/fd/%d", ends[1]);
	cr_assert_eq(dup2(ends[1], STDOUT_FILENO), STDOUT_FILENO);
	write_through("/dev/stdout", 0);
	cr_expect_eq(read(ends[0], text, sizeof(text)), 3);
	/* Files behind /proc/self/cwd are treated as elsewhere. */
	cr_assert_eq(chdir(dir), 0);
	write_through("/proc/self/cwd/file", 0);
	cr_expect(holds("file", "x"));
}

Test(out_links, under_sudo_a_link_of_the_callers_leads_where_he_may_write)
{
	struct stat st;

	call_sudo("65534");
	cr_assert(!mkdir(in("theirs/real"), 0700) && !chown(in("theirs/real"), NOBODY, NOBODY));
	link_to("theirs/sub", "real");
	cr_expect_eq(write_to("theirs/sub/whole", OUT_WHOLE, "x"), 0);
	cr_expect_eq(write_to("theirs/sub/whole", OUT_WHOLE, "y"), 0);
	cr_expect_eq(write_to("theirs/sub/live", OUT_LIVE, "x"), 0);
	cr_expect_eq(write_to("theirs/sub/live", OUT_LIVE, "z"), 0);
	cr_expect_eq(out_file__make_directory(in("theirs/sub/made/")), 0);
	cr_expect(holds("theirs/real/whole", "y") && holds("theirs/real/live", "z"));
	cr_expect(!stat(in("theirs/real/whole"), &st) && st.st_uid == NOBODY);
	cr_expect(!stat(in("theirs/real/made"), &st) && st.st_uid == NOBODY);
	cr_expect_eq(out_file__set_aside(in("theirs/sub/live")), 0);
	cr_expect(holds("theirs/real/live.old", "z"));
	cr_expect_eq(out_file__remove(in("theirs/sub/live.old")), 0);
	end_sudo();
	/* We are root again. */
	cr_expect(!mkdir(in("ours"), 0755) && !stat(in("ours"), &st) && !st.st_uid && !st.st_gid);
	cr_expect_eq(write_to("theirs/sub/whole", OUT_WHOLE, "x"), -ELOOP);
}

Test(out_links, under_sudo_a_link_of_the_callers_leads_to_nothing_of_roots)
{
	struct stat st;

	call_sudo("65534");
	cr_assert_eq(mkdir(in("roots"), 0755), 0);
	put("roots/file", "secret");
	link_to("theirs/sub", "../roots");
	for (enum out_mode mode = OUT_LIVE; mode <= OUT_WHOLE; mode++) {
		cr_expect_eq(write_to("theirs/sub/file", mode, "x"), -EACCES);
		cr_expect_eq(write_to("theirs/sub/new", mode, "x"), -EACCES);
	}
	cr_expect_eq(out_file__set_aside(in("theirs/sub/file")), -EACCES);
	cr_expect_eq(out_file__remove(in("theirs/sub/file")), -EACCES);
	cr_expect_eq(out_file__make_directory(in("theirs/sub/made")), -EACCES);
	cr_expect_eq(out_file__open_temporary(in("theirs/sub")), -EACCES);
	/* Nor where the user may not look. */
	cr_assert_eq(chmod(in("roots"), 0700), 0);
	cr_expect_eq(write_to("theirs/sub/file", OUT_LIVE, "x"), -EACCES);
	cr_expect_eq(out_file__reopen(in("theirs/sub/file")), -EACCES);
	/* Nor to descriptors that we have open. */
	link_to("theirs/fd", "/proc/self/fd");
	cr_expect_eq(write_to("theirs/fd/1", OUT_LIVE, ""), -ELOOP);
	end_sudo();
	cr_expect(holds("roots/file", "secret"));
	cr_expect_eq(write_to("roots/file", OUT_LIVE, "x"), 0);
	cr_expect(!stat(in("roots/file"), &st) && !st.st_uid);
}

/* Root changes the link's target before the file is published. */
Test(out_links, what_is_published_behind_a_link_of_the_callers_is_his, .timeout = 60)
{
	struct out_file f;

	call_sudo("65534");
	cr_assert(!mkdir(in("real"), 0755) && !chown(in("real"), NOBODY, NOBODY));
	link_to("theirs/sub", "../real");
	cr_assert_eq(out_file__open(&f, in("theirs/sub/file"), OUT_WHOLE), 0);
	cr_assert(!chown(in("real"), 0, 0));
	put("real/file", "secret");
	cr_expect_eq(out_file__publish(&f), -EACCES);
	cr_expect(holds("real/file", "secret"));
	end_sudo();
}

Test(out_links, under_sudo_roots_groups_open_nothing)
{
	const gid_t root_group = 0;
	gid_t have[4];

	call_sudo("65534");
	cr_assert_eq(setgroups(1, &root_group), 0);
	cr_assert(!mkdir(in("roots"), 0775) && !chmod(in("roots"), 0775));
	link_to("theirs/sub", "../roots");
	cr_expect_eq(write_to("theirs/sub/new", OUT_LIVE, "x"), -EACCES);
	cr_expect(getgroups(4, have) == 1 && !have[0]);
	end_sudo();
}

Test(out_links, under_sudo_links_that_others_could_have_moved_are_refused)
{
	call_sudo("65534");
	cr_assert(!mkdir(in("theirs/real"), 0755) && !chown(in("theirs/real"), NOBODY, NOBODY));
	link_to("theirs/sub", "real");
	cr_expect_eq(write_to("theirs/sub/file", OUT_LIVE, "x"), 0);
	for (mode_t mode = 0; mode <= 01000; mode += 01000) {
		cr_assert_eq(chmod(in("theirs"), mode | 0775), 0);
		expect_refused("theirs/sub/file");
		cr_assert_eq(chmod(in("theirs"), mode | 0757), 0);
		expect_refused("theirs/sub/file");
	}
	cr_assert_eq(chmod(in("theirs"), 0755), 0);
	/* The new file belongs to another user. */
	out_path__choose_owner(1234, 1234);
	expect_refused("theirs/sub/file");
	end_sudo();
}

/* With sudo by root, root's own number proves no more than without sudo. */
Test(out_links, under_sudo_of_root_its_links_are_refused)
{
	call_sudo("0");
	cr_assert(!mkdir(in("shared"), 0755) && !mkdir(in("roots"), 0755));
	cr_assert(!symlink("../roots", in("shared/sub")));
	expect_refused("shared/sub/file");
	end_sudo();
}

/* Links of root's lead only to places where this user could write anyway. */
Test(out_links, who_is_not_root_follows_roots_links_and_his_own_anywhere)
{
	int status;
	pid_t pid;

	need_root();
	cr_assert(!chown(in("."), NOBODY, NOBODY) && !chmod(in("."), 0775));
	cr_assert(!mkdir(in("real"), 0755) && !chown(in("real"), NOBODY, NOBODY));
	cr_assert(!symlink("real", in("roots")) && !symlink("real", in("own")) &&
		  !symlink("real", in("strangers")));
	cr_assert(!lchown(in("own"), NOBODY, NOBODY) && !lchown(in("strangers"), 1234, 1234));
	pid = fork();
	if (!pid) {
		bool is_right;

		if (setgid(NOBODY) || setuid(NOBODY))
			_exit(2);
		is_right = !write_to("roots/a", OUT_LIVE, "x") &&
			   !write_to("own/b", OUT_LIVE, "x") &&
			   write_to("strangers/c", OUT_LIVE, "x") == -ELOOP;
		_exit(is_right ? 0 : 1);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect(WIFEXITED(status) && !WEXITSTATUS(status), "%x", status);
}
