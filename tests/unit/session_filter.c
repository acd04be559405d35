// SPDX-License-Identifier: BSD-2-Clause
/* Tests in a child what a session may still do after it started to read a process. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include "common/capability_set.h"
#include "common/memfd.h"
#include "common/util.h"
#include "privilege/session_filter.h"
#include "privilege/syscall_filter.h"
#include "in_child.h"

TestSuite(session_filter, .init = make_dir, .fini = remove_dir, .timeout = 60);

/* The call must fail with that errno. errno has another value before. */
#define FAILS(call, error) WANT((errno = 0, (call) == -1) && errno == (error))
#define REFUSED(call)	   FAILS(call, EPERM)
#define LACKING(call)	   FAILS(call, ENOSYS)

/* ---- the filter ---- */

static int opens_nothing_to_write(void)
{
	const int flags[] = {O_WRONLY,
			     O_RDWR,
			     O_RDONLY | O_CREAT,
			     O_RDONLY | O_TRUNC,
			     O_WRONLY | O_APPEND,
			     O_CREAT | O_EXCL | O_RDWR,
			     O_ACCMODE};
	const char *paths[] = {in("there"), in("new"), "/proc/self/mem"};
	struct open_how how = {.flags = O_RDONLY};
	char by_fd[32];
	int fd;

	snprintf(by_fd, sizeof(by_fd), "/proc/self/fd/%d", open(in("there"), O_RDONLY));
	WANT(!session_filter__enter(true));
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(paths); k++) {
			REFUSED(open(paths[k], flags[i], 0600));
			REFUSED(syscall(SYS_openat, AT_FDCWD, paths[k], flags[i], 0600));
#ifdef SYS_open
			REFUSED(syscall(SYS_open, paths[k], flags[i], 0600));
#endif
		}
		REFUSED(open(by_fd, flags[i], 0600));
	}
	REFUSED(open(dir, O_TMPFILE | O_WRONLY, 0600));
	REFUSED(creat(in("new"), 0600));
	LACKING(syscall(SYS_openat2, AT_FDCWD, in("there"), &how, sizeof(how)));
	REFUSED(syscall(SYS_open_by_handle_at, AT_FDCWD, NULL, O_RDONLY));
	/* Files that it reads, and data that it writes in memory. */
	fd = open(in("there"), O_RDONLY);
	WANT(fd >= 0 && fcntl(fd, F_SETFL, O_APPEND) == 0 && write(fd, "x", 1) < 0);
	WANT(open("/proc/self/maps", O_RDONLY) >= 0 && open("/", O_PATH | O_DIRECTORY) >= 0);
	WANT(memfd_create("x", MFD_CLOEXEC) >= 0);
	return 0;
}

static int changes_no_names(void)
{
	const char *there = in("there"), *new = in("new");
	struct stat before, after;

	WANT(!stat(there, &before) && !session_filter__enter(true));
	REFUSED(rename(there, new));
	REFUSED(renameat(AT_FDCWD, there, AT_FDCWD, new));
	REFUSED(syscall(SYS_renameat2, AT_FDCWD, there, AT_FDCWD, new, 0));
	REFUSED(link(there, new));
	REFUSED(linkat(AT_FDCWD, there, AT_FDCWD, new, 0));
	REFUSED(symlink(there, new));
	REFUSED(symlinkat(there, AT_FDCWD, new));
	REFUSED(unlink(there));
	REFUSED(unlinkat(AT_FDCWD, there, 0));
	REFUSED(unlinkat(AT_FDCWD, dir, AT_REMOVEDIR));
	REFUSED(mkdir(new, 0700));
	REFUSED(mkdirat(AT_FDCWD, new, 0700));
	REFUSED(rmdir(dir));
	REFUSED(mkfifo(new, 0600));
	REFUSED(mknod(new, S_IFREG | 0600, 0));
	REFUSED(mknodat(AT_FDCWD, new, S_IFREG | 0600, 0));
	REFUSED(truncate(there, 0));
	WANT(!stat(there, &after) && after.st_size == before.st_size && after.st_nlink == 1);
	WANT(access(new, F_OK));
	return 0;
}

static int changes_no_rights(void)
{
	const char *there = in("there");
	const int fd = open(there, O_RDONLY);
	const struct timespec times[2] = {{0}};
	int attributes = 0;

	WANT(fd >= 0 && !session_filter__enter(true));
	REFUSED(chmod(there, 0777));
	REFUSED(fchmod(fd, 0777));
	REFUSED(fchmodat(AT_FDCWD, there, 0777, 0));
	REFUSED(syscall(452 /* fchmodat2 */, AT_FDCWD, there, 0777, 0));
	REFUSED(chown(there, 1, 1));
	REFUSED(lchown(there, 1, 1));
	REFUSED(fchown(fd, 1, 1));
	REFUSED(fchownat(AT_FDCWD, there, 1, 1, 0));
	REFUSED(utimensat(AT_FDCWD, there, times, 0));
	REFUSED(utimes(there, NULL));
	REFUSED(setxattr(there, "user.x", "x", 1, 0));
	REFUSED(fsetxattr(fd, "user.x", "x", 1, 0));
	REFUSED(removexattr(there, "user.x"));
	FAILS(ioctl(fd, FS_IOC_SETFLAGS, &attributes), ENOTTY);
	return 0;
}

static int goes_nowhere_else(void)
{
	const pid_t parent = getppid();
	struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = "/run/x"};
	char bpf[128] = {0};
	int ends[2];

	WANT(!session_filter__enter(true));
	REFUSED(execl("/bin/true", "true", NULL));
	REFUSED(syscall(SYS_execveat, AT_FDCWD, "/bin/true", NULL, NULL, 0));
	REFUSED(mount("none", dir, "tmpfs", 0, NULL));
	REFUSED(umount2(dir, 0));
	REFUSED(chroot(dir));
	REFUSED(syscall(SYS_fanotify_init, 0, O_RDWR));
	REFUSED(syscall(SYS_fanotify_mark, -1, 0, 0, AT_FDCWD, dir));
	REFUSED(syscall(SYS_shmget, IPC_PRIVATE, 4096, IPC_CREAT));
	REFUSED(syscall(SYS_semget, IPC_PRIVATE, 1, IPC_CREAT));
	REFUSED(syscall(SYS_semtimedop, 0, NULL, 0, NULL));
	REFUSED(syscall(SYS_msgget, IPC_PRIVATE, IPC_CREAT));
	REFUSED(syscall(SYS_msgrcv, 0, NULL, 0, 0, 0));
	REFUSED(syscall(SYS_adjtimex, NULL));
	REFUSED(syscall(SYS_clock_adjtime, CLOCK_REALTIME, NULL));
	REFUSED(syscall(460 /* lsm_set_self_attr */, 0, NULL, 0, 0));
	REFUSED(syscall(430 /* fsopen */, "tmpfs", 0));
	REFUSED(syscall(428 /* open_tree */, AT_FDCWD, dir, 0));
	REFUSED(unshare(CLONE_NEWUSER));
	REFUSED(syscall(SYS_setns, 0, 0));
	REFUSED(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
	LACKING(syscall(435 /* clone3 */, NULL, 0));
	LACKING(syscall(425 /* io_uring_setup */, 1, NULL));
	REFUSED(setuid(1));
	REFUSED(setgid(1));
	REFUSED(setreuid(1, 1));
	REFUSED(syscall(SYS_bpf, BPF_OBJ_PIN, bpf, sizeof(bpf)));
	REFUSED(socket(AF_UNIX, SOCK_DGRAM, 0));
	REFUSED(bind(0, NULL, 0));
	REFUSED(connect(0, (struct sockaddr *)&a, sizeof(a)));
	REFUSED(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends));
	WANT(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends));
#ifdef __x86_64__
	REFUSED(syscall(0x40000000 | SYS_getpid)); /* x32 */
#endif
	WANT(!kill(parent, 0));
	return 0;
}

/* 0, or the errno of bpf(2) with arguments that fit nothing. */
static int bpf_errno(unsigned int command)
{
	char attr[128];

	memset(attr, 0xff, sizeof(attr));
	return syscall(SYS_bpf, command, attr, sizeof(attr)) < 0 ? errno : 0;
}

static int uses_bpf_objects_of_its_own(void)
{
	const unsigned int others[] = {
		BPF_OBJ_PIN,
		BPF_OBJ_GET,
		BPF_PROG_ATTACH,
		BPF_PROG_DETACH,
		BPF_PROG_TEST_RUN,
		BPF_PROG_GET_NEXT_ID,
		BPF_MAP_GET_NEXT_ID,
		BPF_PROG_GET_FD_BY_ID,
		BPF_MAP_GET_FD_BY_ID,
		BPF_PROG_QUERY,
		BPF_TASK_FD_QUERY,
		BPF_LINK_UPDATE,
		BPF_LINK_GET_FD_BY_ID,
		BPF_LINK_GET_NEXT_ID,
		BPF_LINK_DETACH,
		BPF_ENABLE_STATS,
		36 /* BPF_TOKEN_CREATE */,
		63,
	};
	struct {
		uint32_t type, key_size, value_size, max_entries;
	} map = {BPF_MAP_TYPE_ARRAY, 4, 4, 1};
	int before[ARRAY_SIZE(others)], fd;

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		before[i] = bpf_errno(others[i]);
	WANT(!session_filter__enter(false));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		WANT(before[i] != EPERM || geteuid());
		WANT(bpf_errno(others[i]) == EPERM);
	}
	fd = (int)syscall(SYS_bpf, BPF_MAP_CREATE, &map, sizeof(map));
	WANT(fd >= 0 || geteuid());
	WANT(geteuid() || bpf_errno(BPF_PROG_LOAD) != EPERM);
	return 0;
}

static int loads_into_nothing(void)
{
	const pid_t child = fork();
	struct iovec none = {0};
	int memory;

	if (!child)
		pause();
	memory = memfd_create("x", MFD_CLOEXEC);
	WANT(!session_filter__enter(true));
	/* The filter is no reason: a traced process and a memfd can be had. */
	WANT(!ptrace(PTRACE_SEIZE, child, NULL, NULL));
	WANT(process_vm_writev(child, &none, 1, &none, 1, 0) == 0);
	WANT(memfd__take_of(getpid(), memory) >= 0);
	session_filter__give_up_tracing();
	REFUSED(ptrace(PTRACE_INTERRUPT, child, NULL, NULL));
	REFUSED(process_vm_writev(child, &none, 1, &none, 1, 0));
	WANT(memfd__take_of(getpid(), memory) == -EPERM);
	WANT(!session_filter__enter(true)); /* allows nothing again */
	REFUSED(ptrace(PTRACE_INTERRUPT, child, NULL, NULL));
	kill(child, SIGKILL);
	return 0;
}

static int (*const filtered[])(void) = {opens_nothing_to_write,	     changes_no_names,
					changes_no_rights,	     goes_nowhere_else,
					uses_bpf_objects_of_its_own, loads_into_nothing};

static int with_no_new_privs(void)
{
	const int fd = open(in("there"), O_RDWR | O_CREAT, 0600);

	WANT(fd >= 0 && write(fd, "text", 4) == 4);
	close(fd);
	WANT(!capability_set__keep(UINT64_MAX));
	for (size_t i = 0; i < ARRAY_SIZE(filtered); i++) {
		const pid_t pid = fork();
		int status;

		if (!pid)
			_exit(filtered[i]());
		WANT(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status));
	}
	return 0;
}

Test(session_filter, a_session_opens_makes_and_changes_no_file)
{
	cr_assert(syscall_filter__is_there());
	cr_expect_eq(in_child(with_no_new_privs), 0);
}

static int go[2];

static void *open_to_write(void *arg)
{
	char c;

	if (read(go[0], &c, 1) != 1)
		return arg;
	return (void *)(intptr_t)(open("/dev/null", O_WRONLY) < 0 ? errno : 0);
}

static int has_a_thread(void)
{
	pthread_t before, after;
	void *got_before, *got_after;

	WANT(!pipe(go) && !capability_set__keep(UINT64_MAX));
	WANT(!pthread_create(&before, NULL, open_to_write, NULL));
	WANT(!session_filter__enter(false));
	WANT(!pthread_create(&after, NULL, open_to_write, NULL));
	WANT(write(go[1], "xx", 2) == 2);
	WANT(!pthread_join(before, &got_before) && !pthread_join(after, &got_after));
	WANT((intptr_t)got_before == EPERM && (intptr_t)got_after == EPERM);
	return 0;
}

Test(session_filter, threads_from_before_are_held_to_it)
{
	cr_expect_eq(in_child(has_a_thread), 0);
}
