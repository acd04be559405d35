// SPDX-License-Identifier: BSD-2-Clause
/* The process that opens files for a session: where it may open them, for whom, and how both
 * processes end. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include "common/capability.h"
#include "common/capability_set.h"
#include "common/file_client.h"
#include "common/out_file.h"
#include "common/target_lock.h"
#include "common/util.h"
#include "privilege/file_process.h"
#include "privilege/session_filter.h"
#include "in_child.h"

TestSuite(file_process, .init = make_dir, .fini = remove_dir, .timeout = 60);

static int go[2]; /* a pipe */

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
	/* Files outside its places, or not made for it. */
	WANT(put(in("there"), OUT_LIVE, "x") == -EACCES);
	WANT(put("/etc/proftrace-test", OUT_WHOLE, "x") == -EACCES);
	WANT(out_file__set_aside(in("there")) == -EACCES);
	WANT(out_file__remove(in("there")) == -EACCES);
	WANT(out_file__remove(in("out/theirs")) == -EACCES);
	WANT(in_file__open(in("there")) == -EACCES && in_file__open("/etc/shadow") == -EACCES);
	WANT(out_file__make_directory(in("made")) == -EACCES);
	WANT(file_client__get_socket(FILE_LISTEN, &holder) == -EADDRINUSE && holder == 42);
	lock = target_lock__take(getpid(), 1);
	WANT(lock >= 0 && target_lock__take(getpid(), 1) == -EBUSY);
	WANT(target_lock__take(getpid(), 2) >= 0 && !close(lock));
	WANT(target_lock__take(getpid(), 1) >= 0);
	WANT(put(in("out/link"), OUT_WHOLE, "x") == -ELOOP); /* so the file was not made for it */
	WANT(strstr(out_file__explain(-ELOOP), "/out/link is a symbolic link"));
	WANT(out_file__remove(in("out/link")) == -EACCES);
	WANT(file_client__ask(99, 0, "", NULL, &holder) == -EINVAL);
	/* It made the file that it published. */
	WANT(!out_file__open(&f, in("out/theirs"), OUT_WHOLE));
	out_file__close(&f);
	WANT(in_file__open(in("out/theirs")) == -EACCES);
	WANT(out_file__remove(in("out/theirs")) == -EACCES);
	WANT(!out_file__remove(in("out/trace.gz")) && !put(in("out/trace.gz"), OUT_WHOLE, "trace"));
	file_process__leave();
	return 0;
}

/* Serves its own socket, which is in the session's place. */
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
	WANT(target_lock__take(getpid(), 1) == -EACCES);
	/* It must not end a request of another process. */
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

Test(file_process, files_are_opened_for_it_where_it_may)
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
	cr_expect_neq(access(in("temporary"), F_OK), 0); /* removed by the other process when it
							    ends */
}

Test(file_process, an_output_has_a_socket_and_rights_of_its_own)
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

Test(file_process, no_link_is_read_in_place_of_what_it_made)
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

/* Requests that are never read, like those of a hostile process of the same user. */
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

Test(file_process, an_answer_without_its_descriptor_is_an_error)
{
	make_files();
	cr_assert_eq(in_child(gets_an_error), 0);
}

/* The session sends more than it reads, and its unpublished file must be gone then. */
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
	while (read(other, &c, 1) > 0) /* reads its answers, and then the end */
		;
	file_process__leave();
	return 0;
}

Test(file_process, who_reads_no_answers_holds_nobody_up)
{
	make_files();
	cr_assert_eq(in_child(is_let_go), 0);
	cr_expect_eq(access(in("out/b"), F_OK), 0);
}

static void heed(int sig)
{
	(void)sig;
}

/* Writing to a pipe without a reader ends with a signal. Others are served meanwhile. */
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
		/* On a busy machine the first signal comes before it waits. */
		while (!usleep(100000) && !kill(getppid(), SIGINT))
			;
		_exit(1);
	}
	close(other);
	sigaction(SIGINT, &action, NULL);
	WANT(out_file__open(&f, in("out/fifo"), OUT_LIVE) == -EINTR);
	WANT(!kill(pid, SIGKILL));
	while (waitpid(pid, NULL, 0) != pid)
		WANT(errno == EINTR);
	/* If there is a reader, this is the same as without O_NONBLOCK. */
	WANT(open(in("out/fifo"), O_RDONLY | O_NONBLOCK) >= 0);
	WANT(!out_file__open(&f, in("out/fifo"), OUT_LIVE) && !(fcntl(f.fd, F_GETFL) & O_NONBLOCK));
	WANT(!out_file__publish(&f));
	WANT(out_file__set_aside(in("out/fifo")) == -EEXIST);
	WANT(out_file__set_aside(in("out/absent")) == -ENOENT);
	file_process__leave();
	return 0;
}

Test(file_process, a_pipe_without_a_reader_holds_nobody_up)
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

Test(file_process, processes_of_a_job_share_it)
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

Test(file_process, its_death_is_an_error)
{
	auto_free char *text = NULL;

	make_files();
	cr_assert_eq(in_child(does_without), 0);
	text = file__read(in("out/a.ptrec"), NULL);
	cr_expect_str_eq(text, "kept");
}

/* Killed in the middle of two files. The other process must end too. */
Test(file_process, it_ends_with_the_session)
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
	/* It has the pipe's other end too. */
	cr_expect_eq(read(ready[0], &c, 1), 0);
	cr_expect_neq(access(in("temporary"), F_OK), 0);
	/* theirs, a link and a.ptrec: nothing temporary. */
	snprintf(command, sizeof(command), "test $(ls -A %s/out | wc -l) = 3", dir);
	cr_expect_eq(system(command), 0);
}
