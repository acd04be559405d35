// SPDX-License-Identifier: BSD-2-Clause
/* What a session may still do once it reads a process, and how it comes to files: tried by a child.
 */
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
#include <sys/resource.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include "attach/calibrate.h"
#include "common/capability.h"
#include "common/capability_set.h"
#include "common/file_client.h"
#include "common/memfd.h"
#include "common/out_file.h"
#include "common/socket_lock.h"
#include "common/util.h"
#include "privilege/file_process.h"
#include "privilege/session_filter.h"
#include "privilege/syscall_filter.h"

static char dir[] = "/tmp/proftrace-session.XXXXXX";

static void setup(void)
{
	cr_assert(mkdtemp(dir) != NULL);
}

static void teardown(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	cr_expect_eq(system(command), 0);
}

TestSuite(session_filter, .init = setup, .fini = teardown, .timeout = 60);

/* Of four at a time. */
static char *in(const char *name)
{
	static char paths[4][128];
	static size_t next;
	char *path = paths[next++ % ARRAY_SIZE(paths)];

	snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);
	return path;
}

static int in_child(int (*run)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(run());
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFEXITED(status), "ended by signal %d", WTERMSIG(status));
	return WEXITSTATUS(status);
}

#define WANT(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "line %d: %s: %s\n", __LINE__, #condition,                 \
				strerror(errno));                                                  \
			return 1;                                                                  \
		}                                                                                  \
	} while (0)
/* The call fails with that errno; before it, errno is another one. */
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
	/* What it reads, and what it writes in memory. */
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

/* ---- the process that opens files ---- */

static int child_of(pid_t pid)
{
	char path[64];
	auto_free char *text = NULL;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	text = file__read(path, NULL);
	return text ? atoi(text) : 0;
}

static int listen_nowhere(pid_t pid, uint32_t *holder)
{
	*holder = (uint32_t)pid + 1;
	return -EADDRINUSE;
}

static void no_sweep(void) {}

static const struct file_session session = {.listen = listen_nowhere, .sweep = no_sweep};

static int start(const char *temporary)
{
	struct file_places places = {.session = &session, .temporary = temporary};
	int err = file_places__add_write(&places, in("out/a.ptrec"), true);

	if (!err)
		err = file_process__start(&places);
	file_places__free(&places);
	if (!err)
		err = capability_set__keep(capability_set__permitted() &
					   ~(CAPABILITY(CAP_DAC_OVERRIDE)));
	return err ? err : session_filter__enter(false);
}

static int put(const char *path, enum out_mode mode, const char *text)
{
	const ssize_t len = (ssize_t)strlen(text);
	struct out_file f;
	int err = out_file__open(&f, path, mode);

	if (!err && write(f.fd, text, (size_t)len) != len)
		err = -errno;
	return err ? err : out_file__publish(&f);
}

static int writes_where_it_may(void)
{
	uint32_t holder = 41;
	struct out_file f;
	char text[12] = "";
	int fd, lock;

	WANT(!start(in("temporary")));
	WANT(!put(in("out/a.ptrec"), OUT_LIVE, "first"));
	WANT(!out_file__set_aside(in("out/a.ptrec")));
	WANT(!put(in("out/a.ptrec"), OUT_LIVE, "second"));
	WANT(!put(in("out/a.1.ptrec"), OUT_LIVE, "next"));
	WANT(!put(in("out/trace.gz"), OUT_WHOLE, "trace"));
	WANT(!out_file__remove(in("out/a.1.ptrec")));
	fd = in_file__open(in("out/a.ptrec"));
	WANT(fd >= 0 && read(fd, text, sizeof(text)) == 6 && text__is(text, "second"));
	/* What is not in its places, or was not made for it. */
	WANT(put(in("there"), OUT_LIVE, "x") == -EACCES);
	WANT(put("/etc/proftrace-test", OUT_WHOLE, "x") == -EACCES);
	WANT(out_file__set_aside(in("there")) == -EACCES);
	WANT(out_file__remove(in("there")) == -EACCES);
	WANT(out_file__remove(in("out/theirs")) == -EACCES);
	WANT(in_file__open(in("there")) == -EACCES && in_file__open("/etc/shadow") == -EACCES);
	WANT(out_file__make_directory(in("made")) == -EACCES);
	WANT(file_client__get_socket(FILE_LISTEN, &holder) == -EADDRINUSE && holder == 42);
	snprintf(text, sizeof(text), "%d", getpid());
	lock = socket_lock__take(text);
	WANT(lock >= 0 && socket_lock__take(text) == -EADDRINUSE && !close(lock));
	WANT(socket_lock__take(text) >= 0);
	WANT(put(in("out/link"), OUT_WHOLE, "x") == -ELOOP); /* and so it was not made for it */
	WANT(out_file__remove(in("out/link")) == -EACCES);
	WANT(file_client__ask(99, 0, "", NULL, &holder) == -EINVAL);
	/* It has made what it published. */
	WANT(!out_file__open(&f, in("out/theirs"), OUT_WHOLE));
	out_file__close(&f);
	WANT(in_file__open(in("out/theirs")) == -EACCES);
	WANT(out_file__remove(in("out/theirs")) == -EACCES);
	WANT(!out_file__remove(in("out/trace.gz")) && !put(in("out/trace.gz"), OUT_WHOLE, "trace"));
	file_process__leave();
	return 0;
}

/* At a socket of its own: here the session's place, once it has it. */
static int has_less_for_an_output(void)
{
	uint32_t holder = 0, handle = 0;
	int first, output, fd;

	WANT(!start(NULL) && !put(in("out/a.ptrec"), OUT_LIVE, "first"));
	WANT(!file_client__ask(FILE_WRITE, OUT_WHOLE, in("out/c"), &fd, &handle) && handle);
	first = file_client__socket();
	output = file_client__get_socket(FILE_OUTPUT, &holder);
	WANT(output >= 0 && output != first);
	WANT(file_process__invite() == -EACCES); /* nor has the session, from now on */
	file_client__begin(output);
	WANT(in_file__open(in("out/a.ptrec")) >= 0);
	WANT(!put(in("out/b"), OUT_WHOLE, "x") && in_file__open(in("out/b")) == -EACCES);
	WANT(in_file__open(in("out/theirs")) == -EACCES);
	WANT(out_file__remove(in("out/b")) == -EACCES);
	WANT(out_file__remove(in("out/a.ptrec")) == -EACCES);
	WANT(out_file__set_aside(in("out/b")) == -EACCES);
	WANT(file_process__invite() == -EACCES);
	WANT(file_client__get_socket(FILE_OUTPUT, &holder) == -EACCES);
	WANT(file_client__get_socket(FILE_LISTEN, &holder) == -EACCES);
	WANT(socket_lock__take("x") == -EACCES);
	/* What another asked for is not its to end. */
	WANT(file_client__end(FILE_PUBLISH, handle) == -EBADF);
	WANT(file_client__end(FILE_FORGET, handle) == -EBADF);
	close(output);
	file_client__begin(first);
	WANT(!file_client__end(FILE_PUBLISH, handle));
	file_process__leave();
	return 0;
}

static void make_files(void)
{
	cr_assert_eq(mkdir(in("out"), 0700), 0);
	cr_assert_eq(put(in("there"), OUT_LIVE, "text"), 0);
	cr_assert_eq(put(in("out/theirs"), OUT_LIVE, "text"), 0);
	cr_assert_eq(put(in("temporary"), OUT_LIVE, "text"), 0);
	cr_assert_eq(symlink("/etc/passwd", in("out/link")), 0);
}

Test(session_filter, files_are_opened_for_it_where_it_may)
{
	auto_free char *old = NULL;
	struct stat st;

	make_files();
	cr_assert_eq(in_child(writes_where_it_may), 0);
	old = file__read(in("out/a.ptrec.old"), NULL);
	cr_expect_str_eq(old, "first");
	cr_expect_eq(stat(in("out/trace.gz"), &st), 0);
	cr_expect_eq(st.st_mode & 07777, 0600);
	cr_expect_neq(access(in("out/a.1.ptrec"), F_OK), 0);
	cr_expect_neq(access(in("temporary"), F_OK), 0); /* by the other process, at its end */
}

Test(session_filter, an_output_has_a_socket_and_rights_of_its_own)
{
	make_files();
	cr_assert_eq(in_child(has_less_for_an_output), 0);
	cr_expect_eq(access(in("out/c"), F_OK), 0);
}

/* Another file has the name of a recording by now: a link, or no file at all. */
static int reads_what_it_made(void)
{
	const char *const recording = in("out/a.ptrec");

	WANT(!start(NULL) && !put(recording, OUT_LIVE, "first"));
	WANT(write(go[1], "x", 1) == 1 && read(go[0], &(char){0}, 1) == 1);
	WANT(in_file__open(recording) == -EINVAL);
	file_process__leave();
	return 0;
}

Test(session_filter, no_link_is_read_in_place_of_what_it_made)
{
	int ends[2], status;
	pid_t pid;
	char c;

	make_files();
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	pid = fork();
	if (!pid) {
		go[0] = go[1] = ends[1];
		close(ends[0]);
		_exit(reads_what_it_made());
	}
	cr_assert_eq(read(ends[0], &c, 1), 1);
	cr_assert_eq(rename(in("out/link"), in("out/a.ptrec")), 0);
	cr_assert_eq(write(ends[0], "x", 1), 1);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect_eq(status, 0);
}

/* Never read, as those of a hostile process of the same user. */
static int put_on_their_way(int cnt)
{
	char control[CMSG_SPACE(100 * sizeof(int))] = {0}, c = 'x';
	struct iovec data = {&c, 1};
	struct msghdr message = {.msg_iov = &data,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = CMSG_SPACE((size_t)cnt * sizeof(int))};
	struct cmsghdr *first = CMSG_FIRSTHDR(&message);
	int ends[2];

	*first = (struct cmsghdr){CMSG_LEN((size_t)cnt * sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
	for (int i = 0; i < cnt; i++)
		memcpy(CMSG_DATA(first) + (size_t)i * sizeof(int), &(int){STDERR_FILENO},
		       sizeof(int));
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -1;
	return sendmsg(ends[0], &message, 0) == 1 ? 0 : -1;
}

static int gets_an_error(void)
{
	const struct rlimit few = {64, 64};
	struct out_file f;
	const pid_t files = start(NULL) ? 0 : child_of(getpid());

	WANT(files > 0 && !put(in("out/b"), OUT_WHOLE, "x"));
	WANT(!prlimit(files, RLIMIT_NOFILE, &few, NULL) && !put_on_their_way(100));
	WANT(out_file__open(&f, in("out/a.ptrec"), OUT_WHOLE) == -ETOOMANYREFS);
	file_process__leave();
	return 0;
}

Test(session_filter, an_answer_without_its_descriptor_is_an_error)
{
	make_files();
	cr_assert_eq(in_child(gets_an_error), 0);
}

/* It sends more than it reads, and then what it had not published is gone. */
static int is_let_go(void)
{
	const struct file_request request = {.verb = FILE_PUBLISH};
	uint32_t handle = 0;
	int other, first, fd;
	char c;

	WANT(!start(NULL));
	first = file_client__socket();
	other = file_process__invite();
	WANT(other >= 0);
	file_client__begin(other);
	WANT(!file_client__ask(FILE_WRITE, OUT_LIVE, in("out/a.ptrec"), &fd, &handle));
	while (send(other, &request, sizeof(request), MSG_NOSIGNAL) == sizeof(request))
		;
	WANT(errno == EPIPE || errno == ECONNRESET);
	file_client__begin(first);
	WANT(!put(in("out/b"), OUT_WHOLE, "x"));
	while (read(other, &c, 1) > 0) /* its answers, and then the end */
		;
	file_process__leave();
	return 0;
}

Test(session_filter, who_reads_no_answers_holds_nobody_up)
{
	make_files();
	cr_assert_eq(in_child(is_let_go), 0);
	cr_expect_eq(access(in("out/b"), F_OK), 0);
}

static void heed(int sig)
{
	(void)sig;
}

/* A pipe without a reader ends with a signal, and others are served meanwhile. */
static int waits_for_a_reader(void)
{
	const struct sigaction action = {.sa_handler = heed};
	struct file_places places = {.session = &session};
	struct out_file f;
	int other;
	pid_t pid;

	WANT(!file_places__add_write(&places, in("out/fifo"), true));
	WANT(!places.directory_cnt); /* nothing beside a pipe */
	WANT(!file_places__add_write(&places, in("out/"), true));
	WANT(!file_process__start(&places));
	other = file_process__invite();
	pid = fork();
	if (!pid) {
		file_process__join(other);
		usleep(100000);
		WANT(!put(in("out/b"), OUT_WHOLE, "x"));
		usleep(100000);
		_exit(kill(getppid(), SIGINT));
	}
	close(other);
	sigaction(SIGINT, &action, NULL);
	WANT(out_file__open(&f, in("out/fifo"), OUT_LIVE) == -EINTR);
	WANT(waitpid(pid, NULL, 0) == pid);
	/* With one it is as without O_NONBLOCK. */
	WANT(open(in("out/fifo"), O_RDONLY | O_NONBLOCK) >= 0);
	WANT(!out_file__open(&f, in("out/fifo"), OUT_LIVE) && !(fcntl(f.fd, F_GETFL) & O_NONBLOCK));
	WANT(!out_file__publish(&f));
	WANT(out_file__set_aside(in("out/fifo")) == -EEXIST);
	WANT(out_file__set_aside(in("out/absent")) == -ENOENT);
	file_process__leave();
	return 0;
}

Test(session_filter, a_pipe_without_a_reader_holds_nobody_up)
{
	make_files();
	cr_assert_eq(mkfifo(in("out/fifo"), 0600), 0);
	cr_assert_eq(in_child(waits_for_a_reader), 0);
	cr_expect_eq(access(in("out/b"), F_OK), 0);
}

static int others_share_it(void)
{
	int files, status;
	pid_t pids[4];
	char name[32];

	WANT(!start(NULL));
	for (int i = 0; i < 4; i++) {
		files = file_process__invite();
		WANT(files >= 0);
		pids[i] = fork();
		if (!pids[i]) {
			file_process__join(files);
			for (int k = 0; k < 100; k++) {
				snprintf(name, sizeof(name), "out/%d.%d", i, k);
				if (put(in(name), OUT_WHOLE, name))
					_exit(1);
			}
			_exit(0);
		}
		close(files);
	}
	for (int i = 0; i < 4; i++)
		WANT(waitpid(pids[i], &status, 0) == pids[i] && status == 0);
	file_process__leave();
	return 0;
}

Test(session_filter, processes_of_a_job_share_it)
{
	make_files();
	cr_assert_eq(in_child(others_share_it), 0);
	for (int i = 0; i < 400; i++) {
		char name[32];
		auto_free char *text = NULL;

		snprintf(name, sizeof(name), "out/%d.%d", i / 100, i % 100);
		text = file__read(in(name), NULL);
		cr_expect_str_eq(text, name);
	}
}

static int does_without(void)
{
	struct out_file f;
	const pid_t files = start(NULL) ? 0 : child_of(getpid());

	WANT(files > 0 && !out_file__open(&f, in("out/a.ptrec"), OUT_LIVE));
	WANT(!kill(files, SIGKILL) && waitpid(files, NULL, 0) == files);
	WANT(write(f.fd, "kept", 4) == 4);
	WANT(out_file__publish(&f) == -EOWNERDEAD);
	WANT(out_file__open(&f, in("out/a.1.ptrec"), OUT_LIVE) == -EOWNERDEAD);
	WANT(out_file__explain(-EOWNERDEAD) != NULL);
	return 0;
}

Test(session_filter, its_death_is_an_error)
{
	auto_free char *text = NULL;

	make_files();
	cr_assert_eq(in_child(does_without), 0);
	text = file__read(in("out/a.ptrec"), NULL);
	cr_expect_str_eq(text, "kept");
}

/* In the middle of two files; what made them is killed, and the other process goes with it. */
Test(session_filter, it_ends_with_the_session)
{
	char command[100];
	int ready[2];
	pid_t pid, files;
	char c;

	make_files();
	cr_assert_eq(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		struct out_file live, whole;

		if (start(in("temporary")) || out_file__open(&live, in("out/a.ptrec"), OUT_LIVE) ||
		    out_file__open(&whole, in("out/b"), OUT_WHOLE))
			_exit(1);
		c = write(ready[1], "x", 1) == 1;
		for (;;)
			pause();
	}
	cr_assert_eq(read(ready[0], &c, 1), 1);
	files = child_of(pid);
	cr_assert_gt(files, 0);
	kill(pid, SIGKILL);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	close(ready[1]);
	/* It has the pipe's other end, too. */
	cr_expect_eq(read(ready[0], &c, 1), 0);
	cr_expect_neq(access(in("temporary"), F_OK), 0);
	/* theirs, a link and a.ptrec: nothing temporary. */
	snprintf(command, sizeof(command), "test $(ls -A %s/out | wc -l) = 3", dir);
	cr_expect_eq(system(command), 0);
}
