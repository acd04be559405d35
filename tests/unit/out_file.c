// SPDX-License-Identifier: BSD-2-Clause
/* Files that a hostile neighbour may have put where proftrace writes. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "common/out_file.h"
#include "common/out_path.h"
#include "common/stale_file.h"
#include "common/util.h"
#include "out_dir.h"

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

/* The neighbour moves root's file to our file's name, as the directory's owner can. */
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

	call_sudo("65534");
	cr_expect_eq(write_to("file", OUT_WHOLE, "x"), 0);
	cr_expect_eq(out_file__make_directory(in("made/")), 0);
	end_sudo();
	cr_assert_eq(stat(in("file"), &st), 0);
	cr_expect_eq(st.st_uid, NOBODY);
	cr_assert_eq(stat(in("made"), &st), 0);
	cr_expect_eq(st.st_uid, NOBODY);
}

static void choose_owner(void)
{
	if (geteuid())
		cr_skip_test("needs root");
	out_path__choose_owner(NOBODY, NOBODY);
}

/* A neighbour's process, which ends with us. */
static pid_t neighbour(void (*run)(void))
{
	const pid_t pid = fork();

	cr_assert_geq(pid, 0);
	if (pid)
		return pid;
	if (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY) ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL))
		_exit(1);
	run();
	_exit(0);
}

static void end_neighbour(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Replaces our file with root's file whenever ours is there. */
static void exchange(void)
{
	auto_free char *secret = strdup(in("theirs/secret"));

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
	pid = neighbour(exchange);
	do {
		out_file__make_directory(in("theirs/made"));
		cr_assert_eq(fstat(secret, &st), 0);
		put_back();
	} while (!st.st_uid && clock__monotonic_ns() < until);
	end_neighbour(pid);
	cr_expect_eq(st.st_uid, 0, "a directory of root's was given away");
}

/* The neighbour exchanges a pipe of root's and a file of root's, both in his directory. */
static bool file_stays(void)
{
	auto_close int secret = -1, reader = -1;
	char text[8] = "";
	struct out_file f;

	cr_assert_eq(mkfifo(in("pipe"), 0600), 0);
	reader = open(in("pipe"), O_RDWR | O_NONBLOCK);
	put("theirs/secret", "secret");
	secret = open(in("theirs/secret"), O_RDONLY);
	cr_assert(reader >= 0 && secret >= 0);
	move_to("pipe", "theirs/made");
	if (!out_file__open(&f, in("theirs/made"), OUT_LIVE | OUT_NO_WAIT)) {
		cr_expect_eq(write(f.fd, "x", 1), 1);
		out_file__close(&f);
	}
	unlink(in("theirs/made"));
	unlink(in("theirs/secret"));
	cr_assert_eq(pread(secret, text, sizeof(text) - 1, 0), 6);
	return !strcmp(text, "secret");
}

Test(out_file, a_file_that_takes_the_place_of_a_pipe_is_not_written_to, .timeout = 60)
{
	const uint64_t until = clock__monotonic_ns() + 2000000000;
	bool stays;
	pid_t pid;

	if (geteuid())
		cr_skip_test("needs root, to have another user's directory");
	pid = neighbour(exchange);
	do {
		stays = file_stays();
	} while (stays && clock__monotonic_ns() < until);
	end_neighbour(pid);
	cr_expect(stays, "a file was written to in the place of a pipe");
}

#define HELD_UP_S 20 /* ends the test */

static int told[2]; /* a pipe */

/* Holds a lease for writing. No other process can open the file until the lease is broken 45 s
 * later. */
static void hold_by_lease(void)
{
	const int fd = open(in("live"), O_RDWR);

	signal(SIGIO, SIG_IGN);
	if (fd >= 0 && !fcntl(fd, F_SETLEASE, F_WRLCK) && write(told[1], "x", 1) == 1)
		pause();
}

Test(out_file, a_lease_does_not_hold_a_live_file_up)
{
	pid_t pid;
	char c;

	choose_owner();
	cr_assert_eq(pipe(told), 0);
	cr_assert_eq(write_to("live", OUT_LIVE, "before"), 0);
	pid = neighbour(hold_by_lease);
	close(told[1]);
	cr_assert_eq(read(told[0], &c, 1), 1, "no lease");
	alarm(HELD_UP_S);
	cr_expect_eq(write_to("live", OUT_LIVE, "x"), 0);
	cr_expect(holds("live", "x"));
	end_neighbour(pid);
}

/* There are no files without a name here, as on NFS and vfat. A process that locks one is
 * killed. */
static void make_until_locked(void)
{
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_flock, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_TMPFILE & ~O_DIRECTORY, 1, 2),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {ARRAY_SIZE(rules), rules};
	struct out_file f;

	if (!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	    !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		out_file__open(&f, in("theirs/file"), OUT_WHOLE);
	_exit(1);
}

static bool is_temporary_of_root(int at, const char *name)
{
	struct stat st;

	return !strncmp(name, ".proftrace.", 11) && !fstatat(at, name, &st, 0) && !st.st_uid;
}

/* Whom it belongs to could lock it first, and hold the output up. */
Test(out_file, a_temporary_file_is_locked_before_it_is_given_away)
{
	const struct dirent *entry;
	int status, found = 0;
	DIR *entries;
	pid_t pid;

	choose_owner();
	pid = fork();
	if (!pid)
		make_until_locked();
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS, "status %x", status);
	entries = opendir(in("theirs"));
	cr_assert(entries != NULL);
	while ((entry = readdir(entries)))
		found += is_temporary_of_root(dirfd(entries), entry->d_name);
	closedir(entries);
	cr_expect_eq(found, 1);
}

Test(out_file, a_temporary_file_that_is_held_is_given_up)
{
	auto_close int held = -1, other = -1;

	put("file", "x");
	held = open(in("file"), O_RDWR);
	other = open(in("file"), O_RDWR);
	cr_assert_eq(flock(held, LOCK_EX), 0);
	alarm(HELD_UP_S);
	cr_expect_not(stale_file__hold(other));
}

Test(out_file, under_sudo_a_file_of_roots_in_the_callers_directory_is_not_emptied)
{
	auto_close int before = -1;
	struct stat st;

	call_sudo("65534");
	put("roots", "root's");
	before = open(in("roots"), O_RDONLY);
	move_to("roots", "theirs/name");
	cr_expect_eq(write_to("theirs/name", OUT_LIVE, "x"), 0);
	cr_expect(!fstat(before, &st) && st.st_size == 6, "emptied");
	cr_expect(!stat(in("theirs/name"), &st) && st.st_uid == NOBODY);
	cr_expect(holds("theirs/name", "x"));
	/* His own file stays as it is. */
	cr_expect_eq(write_to("theirs/name", OUT_LIVE, "again"), 0);
	struct stat now;
	cr_expect(!stat(in("theirs/name"), &now) && now.st_ino == st.st_ino);
	end_sudo();
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

/* The files left when proftrace is killed between a file's link and rename. */
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
