// SPDX-License-Identifier: BSD-2-Clause
/* What a hostile neighbour may have put where proftrace writes. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "common/out_file.h"
#include "common/out_path.h"
#include "common/stale_file.h"
#include "common/util.h"

#define NOBODY 65534

static char dir[] = "/tmp/proftrace-out.XXXXXX";
static char path[128];

static void setup(void)
{
	cr_assert(mkdtemp(dir) != NULL);
	snprintf(path, sizeof(path), "%s/theirs", dir);
	cr_assert_eq(mkdir(path, 0777), 0);
	if (!geteuid())
		cr_assert_eq(chown(path, NOBODY, NOBODY), 0);
}

static void teardown(void)
{
	snprintf(path, sizeof(path), "rm -rf %s", dir);
	cr_expect_eq(system(path), 0);
}

static const char *in(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void put(const char *name, const char *text)
{
	FILE *f = fopen(in(name), "w");

	cr_assert(f != NULL);
	fputs(text, f);
	fclose(f);
}

static bool holds(const char *name, const char *text)
{
	size_t len;
	auto_free char *have = file__read(in(name), &len);

	return have && !strcmp(have, text);
}

static int write_to(const char *name, enum out_mode mode, const char *text)
{
	struct out_file f;
	int err = out_file__open(&f, in(name), mode);

	if (err)
		return err;
	cr_assert_eq(write(f.fd, text, strlen(text)), (ssize_t)strlen(text));
	return out_file__publish(&f);
}

static void link_to(const char *name, const char *target)
{
	cr_assert_eq(symlink(target, in(name)), 0);
	if (!geteuid())
		cr_assert_eq(lchown(path, NOBODY, NOBODY), 0);
}

TestSuite(out_file, .init = setup, .fini = teardown);

Test(out_file, new_files_are_the_owners_alone)
{
	struct stat st;

	cr_expect_eq(write_to("live", OUT_LIVE, "a"), 0);
	cr_expect_eq(write_to("whole", OUT_WHOLE, "b"), 0);
	cr_expect(holds("live", "a") && holds("whole", "b"));
	cr_assert_eq(stat(in("whole"), &st), 0);
	cr_expect_eq(st.st_mode & 07777, 0600);
}

Test(out_file, a_whole_file_replaces_and_keeps_the_mode)
{
	struct stat st;

	put("old", "before");
	cr_assert_eq(chmod(in("old"), 0644), 0);
	cr_expect_eq(write_to("old", OUT_WHOLE, "behind"), 0);
	cr_expect(holds("old", "behind"));
	cr_assert_eq(stat(in("old"), &st), 0);
	cr_expect_eq(st.st_mode & 07777, 0644);
}

Test(out_file, what_is_not_published_is_gone)
{
	struct out_file f;

	put("old", "before");
	cr_assert_eq(out_file__open(&f, in("old"), OUT_WHOLE), 0);
	cr_assert_eq(write(f.fd, "half", 4), 4);
	out_file__close(&f);
	cr_expect(holds("old", "before"));
	snprintf(path, sizeof(path), "test $(ls -A %s | wc -l) = 2", dir); /* and `theirs` */
	cr_expect_eq(system(path), 0);
}

Test(out_file, nothing_is_written_through_a_link)
{
	put("shadow", "secret");
	link_to("theirs/link", "../shadow");
	link_to("theirs/dangling", "../new");
	for (enum out_mode mode = OUT_LIVE; mode <= OUT_WHOLE; mode++) {
		cr_expect_eq(write_to("theirs/link", mode, "x"), -ELOOP);
		cr_expect_eq(write_to("theirs/dangling", mode, "x"), -ELOOP);
	}
	cr_expect(holds("shadow", "secret"));
	cr_expect_neq(access(in("new"), F_OK), 0);
}

Test(out_file, directories_behind_links_of_others_are_refused)
{
	if (geteuid())
		cr_skip_test("needs root, to make another user's link");
	cr_assert_eq(mkdir(in("root"), 0755), 0);
	link_to("theirs/sub", "../root");
	cr_expect_eq(write_to("theirs/sub/file", OUT_LIVE, "x"), -ELOOP);
	cr_assert_eq(symlink("root", in("ours")), 0);
	cr_expect_eq(write_to("ours/file", OUT_LIVE, "x"), 0);
	cr_expect(holds("root/file", "x"));
}

Test(out_file, files_of_others_and_other_names_of_ours_stay)
{
	if (geteuid())
		cr_skip_test("needs root, to make another user's file");
	put("theirs/file", "theirs");
	cr_assert_eq(chown(in("theirs/file"), NOBODY, NOBODY), 0);
	cr_expect_eq(write_to("theirs/file", OUT_LIVE, "x"), -EEXIST);
	cr_expect_eq(write_to("theirs/file", OUT_WHOLE, "x"), -EEXIST);
	cr_expect(holds("theirs/file", "theirs"));
	put("shadow", "secret");
	auto_free char *from = strdup(in("shadow"));
	cr_assert_eq(link(from, in("theirs/hard")), 0);
	cr_expect_eq(write_to("theirs/hard", OUT_LIVE, "x"), -EMLINK);
	cr_expect_eq(write_to("theirs/hard", OUT_WHOLE, "x"), 0); /* a new file under that name */
	cr_expect(holds("shadow", "secret"));
}

static void move_to(const char *from, const char *to)
{
	auto_free char *before = strdup(in(from));

	cr_assert_eq(rename(before, in(to)), 0);
}

/* The neighbour moves a file of root's, as whoever owns a directory may, to the name of ours. */
Test(out_file, a_stranger_chooses_neither_mode_nor_what_is_emptied)
{
	auto_close int before = -1;
	struct stat st;

	if (geteuid())
		cr_skip_test("needs root, to have another user's directory");
	for (enum out_mode mode = OUT_LIVE; mode <= OUT_WHOLE; mode++) {
		put("roots", "root's");
		cr_assert_eq(chmod(in("roots"), 04755), 0);
		before = open(in("roots"), O_RDONLY);
		move_to("roots", "theirs/name");
		cr_expect_eq(write_to("theirs/name", mode, "x"), 0);
		cr_assert_eq(fstat(before, &st), 0);
		cr_expect_eq(st.st_size, 6, "mode %d: emptied", mode);
		close(before);
		cr_assert_eq(stat(in("theirs/name"), &st), 0);
		cr_expect_eq(st.st_mode & 07777, 0600, "mode %d: %o", mode, st.st_mode);
		cr_expect_eq(st.st_nlink, 1);
		cr_expect(holds("theirs/name", "x"));
	}
	before = -1;
	snprintf(path, sizeof(path), "test $(ls -A %s/theirs | wc -l) = 1", dir);
	cr_expect_eq(system(path), 0);
}

Test(out_file, a_kept_mode_has_no_special_bits_and_is_of_one_name)
{
	struct stat st;

	put("setuid", "before");
	cr_assert_eq(chmod(in("setuid"), 04755), 0);
	cr_expect_eq(write_to("setuid", OUT_WHOLE, "x"), 0);
	cr_assert_eq(stat(in("setuid"), &st), 0);
	cr_expect_eq(st.st_mode & 07777, 0755);
	put("one", "before");
	cr_assert_eq(chmod(in("one"), 0644), 0);
	auto_free char *from = strdup(in("one"));
	cr_assert_eq(link(from, in("two")), 0);
	cr_expect_eq(write_to("two", OUT_WHOLE, "x"), 0);
	cr_assert_eq(stat(in("two"), &st), 0);
	cr_expect_eq(st.st_mode & 07777, 0600);
	cr_expect(holds("one", "before"));
	/* A sticky directory, as /tmp. */
	cr_assert_eq(chmod(dir, 01777), 0);
	put("live", "before");
	cr_assert_eq(chmod(in("live"), 0644), 0);
	cr_expect_eq(write_to("live", OUT_LIVE, "x"), 0);
	cr_assert_eq(stat(in("live"), &st), 0);
	cr_expect_eq(st.st_mode & 07777, 0600);
}

Test(out_file, under_sudo_files_are_the_callers)
{
	struct stat st;

	if (geteuid())
		cr_skip_test("needs root");
	setenv("SUDO_UID", "65534", 1);
	setenv("SUDO_GID", "65534", 1);
	cr_expect_eq(write_to("file", OUT_WHOLE, "x"), 0);
	cr_expect_eq(out_file__make_directory(in("made/")), 0);
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	cr_assert_eq(stat(in("file"), &st), 0);
	cr_expect_eq(st.st_uid, NOBODY);
	cr_assert_eq(stat(in("made"), &st), 0);
	cr_expect_eq(st.st_uid, NOBODY);
}

/* A directory that his link names, here one of root's, has a file of his. */
Test(out_file, under_sudo_links_of_the_callers_are_followed)
{
	struct stat st;

	if (geteuid())
		cr_skip_test("needs root");
	cr_assert_eq(mkdir(in("roots"), 0755), 0);
	link_to("theirs/sub", "../roots");
	cr_expect_eq(write_to("theirs/sub/file", OUT_WHOLE, "x"), -ELOOP);
	setenv("SUDO_UID", "65534", 1);
	setenv("SUDO_GID", "65534", 1);
	cr_expect_eq(write_to("theirs/sub/file", OUT_WHOLE, "x"), 0);
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	cr_expect(!stat(in("roots/file"), &st) && st.st_uid == NOBODY);
}

static void choose_owner(void)
{
	if (geteuid())
		cr_skip_test("needs root");
	out_path__choose_owner(NOBODY, NOBODY);
}

/* Puts a directory of root's in the place of ours whenever ours is there. */
static void exchange(void)
{
	auto_free char *secret = strdup(in("theirs/secret"));

	if (setresuid(NOBODY, NOBODY, NOBODY))
		_exit(1);
	for (;;)
		renameat2(AT_FDCWD, secret, AT_FDCWD, in("theirs/made"), RENAME_EXCHANGE);
}

/* Root's is not empty, and stays. */
static void put_back(void)
{
	auto_free char *secret = strdup(in("theirs/secret"));

	rmdir(secret);
	if (rmdir(in("theirs/made")))
		rename(in("theirs/made"), secret);
}

Test(out_file, no_directory_of_others_is_given_away, .timeout = 60)
{
	auto_close int secret = -1;
	const uint64_t until = clock__monotonic_ns() + 1000000000;
	struct stat st;
	pid_t pid;

	choose_owner();
	cr_assert_eq(chmod(dir, 0755), 0);
	cr_assert_eq(mkdir(in("theirs/secret"), 0700), 0);
	put("theirs/secret/file", "secret");
	secret = open(in("theirs/secret"), O_RDONLY | O_DIRECTORY);
	pid = fork();
	if (!pid)
		exchange();
	do {
		out_file__make_directory(in("theirs/made"));
		cr_assert_eq(fstat(secret, &st), 0);
		put_back();
	} while (!st.st_uid && clock__monotonic_ns() < until);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	cr_expect_eq(st.st_uid, 0, "a directory of root's was given away");
}

Test(out_file, a_directory_is_its_owners_where_nobody_could_exchange_it)
{
	struct stat st;

	choose_owner();
	cr_assert_eq(chmod(dir, 0755), 0);
	cr_assert_eq(mkdir(in("others"), 0755), 0);
	cr_assert_eq(chown(in("others"), 1234, 1234), 0);
	cr_assert_eq(mkdir(in("all"), 0755), 0);
	cr_assert_eq(chmod(in("all"), 01777), 0);
	cr_expect_eq(out_file__make_directory(in("made")), 0);
	cr_expect_eq(out_file__make_directory(in("made")), -EEXIST);
	cr_expect(!stat(in("made"), &st) && st.st_uid == NOBODY && st.st_gid == NOBODY);
	cr_expect_eq(out_file__make_directory(in("all/made")), 0);
	cr_expect(!stat(in("all/made"), &st) && st.st_uid == NOBODY && st.st_gid == NOBODY);
	cr_expect_eq(out_file__make_directory(in("theirs/made/")), 0);
	cr_expect(!stat(in("theirs/made"), &st) && st.st_uid == NOBODY);
	/* The one whose directory it is could. */
	cr_expect_eq(out_file__make_directory(in("others/made")), 0);
	cr_expect(!stat(in("others/made"), &st) && !st.st_uid);
	/* We are root again. */
	cr_expect_eq(mkdir(in("roots"), 0755), 0);
	cr_expect(!stat(in("roots"), &st) && !st.st_uid && !st.st_gid);
}

Test(out_file, devices_take_what_is_written)
{
	struct out_file f;

	cr_assert_eq(out_file__open(&f, "/dev/null", OUT_WHOLE), 0);
	cr_expect_eq(write(f.fd, "x", 1), 1);
	cr_expect_eq(out_file__publish(&f), 0);
	cr_expect_eq(out_file__open(&f, dir, OUT_LIVE), -EISDIR);
	cr_expect_eq(out_file__open(&f, in("none/file"), OUT_LIVE), -ENOENT);
}

Test(out_file, a_temporary_file_has_no_name)
{
	int fd = out_file__open_temporary(dir);

	cr_assert_geq(fd, 0);
	cr_expect_eq(write(fd, "x", 1), 1);
	snprintf(path, sizeof(path), "test $(ls -A %s | wc -l) = 1", dir); /* `theirs` */
	cr_expect_eq(system(path), 0);
	close(fd);
	link_to("theirs/there", "..");
	if (!geteuid())
		cr_expect_eq(out_file__open_temporary(in("theirs/there")), -ELOOP);
}

/* What is left when proftrace is killed between the link and the rename of a file. */
Test(out_file, temporary_names_of_the_killed_are_removed_by_the_next)
{
	struct out_file f;
	int held;

	put(".proftrace.0123456789abcdef", "stale");
	put(".proftrace.fedcba9876543210", "of one that lives");
	put(".proftrace.0123", "no such name");
	link_to(".proftrace.00000000000000ff", "file");
	put("theirs/.proftrace.0123456789abcdef", "theirs");
	if (!geteuid())
		cr_assert_eq(chown(path, NOBODY, NOBODY), 0);
	held = open(in(".proftrace.fedcba9876543210"), O_RDWR);
	cr_assert(stale_file__hold(held));
	cr_expect_eq(write_to("file", OUT_WHOLE, "x"), 0);
	cr_expect_neq(access(in(".proftrace.0123456789abcdef"), F_OK), 0);
	cr_expect_eq(access(in(".proftrace.fedcba9876543210"), F_OK), 0);
	cr_expect_eq(access(in(".proftrace.0123"), F_OK), 0);
	cr_expect_eq(
		faccessat(AT_FDCWD, in(".proftrace.00000000000000ff"), F_OK, AT_SYMLINK_NOFOLLOW),
		0);
	cr_assert_eq(out_file__open(&f, in("theirs/file"), OUT_WHOLE), 0);
	out_file__close(&f);
	if (!geteuid())
		cr_expect(holds("theirs/.proftrace.0123456789abcdef", "theirs"));
	close(held);
	cr_expect_eq(write_to("file", OUT_WHOLE, "y"), 0);
	cr_expect_neq(access(in(".proftrace.fedcba9876543210"), F_OK), 0);
}

Test(out_file, a_file_that_was_taken_for_stale_is_told)
{
	int held;

	put("file", "x");
	held = open(in("file"), O_RDWR);
	cr_assert_eq(unlink(path), 0);
	cr_expect_not(stale_file__hold(held));
	close(held);
}
