// SPDX-License-Identifier: BSD-2-Clause
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "capture/control/control_socket.h"
#include "capture/message_table.h"
#include "capture/control/control_place.h"
#include "common/err.h"
#include "common/run_directory.h"
#include "common/util.h"

struct request {
	enum control_verb verb;
	int err;
	const char *key; /* of the message, if it failed */
	char answer[CONTROL_MAX];
};

static int ask_session(pid_t pid, enum control_verb verb, char *answer, size_t size)
{
	struct control_session session;
	int err = control_session__open(&session, pid);

	if (err)
		return err;
	err = control_session__ask(&session, verb, answer, size);
	control_session__close(&session);
	return err;
}

static void *ask(void *arg)
{
	struct request *r = arg;

	r->err = ask_session(getpid(), r->verb, r->answer, sizeof(r->answer));
	if (r->err) { /* each thread has its own messages */
		r->key = err__key();
		snprintf(r->answer, sizeof(r->answer), "%s", err__take(r->err));
	}
	return NULL;
}

/* Another thread asks, and this thread serves the request. */
static void converse(struct control_listener *listener, struct request *r, bool obeyed,
		     const char *text)
{
	enum control_verb verb;
	pthread_t thread;
	int client;

	cr_assert_eq(pthread_create(&thread, NULL, ask, r), 0);
	while (!control_socket__next(listener, &verb, NULL, &client))
		usleep(1000);
	cr_assert_eq(verb, r->verb);
	control_socket__answer(client, obeyed, text);
	pthread_join(thread, NULL);
}

Test(control_socket, verbs_reach_the_session_and_answers_come_back, .timeout = 20)
{
	struct control_listener listener;
	struct control_listener second;
	struct request status = {.verb = CONTROL_STATUS}, dump = {.verb = CONTROL_DUMP};
	enum control_verb verb;
	int client;

	cr_assert_eq(control_socket__listen(&listener, getpid()), 0);
	cr_assert(not(control_socket__next(&listener, &verb, NULL, &client)));
	converse(&listener, &status, true, "state: recording");
	cr_assert_eq(status.err, 0);
	cr_assert(eq(str, status.answer, "state: recording"));
	converse(&listener, &dump, false, "no window is open");
	cr_assert_eq(dump.err, -EBUSY);
	cr_expect_str_eq(dump.key, MESSAGE_KEY(MESSAGE_SESSION_REFUSED));
	cr_expect_not_null(strstr(dump.answer, "no window is open"), "%s", dump.answer);
	cr_assert_eq(control_socket__listen(&second, getpid()), -EADDRINUSE);
	cr_assert_eq(control_socket__holder(getpid()), getpid());
	cr_assert(not(control_socket__next(&listener, &verb, NULL, &client)));
	control_socket__close(&listener);
	cr_assert_eq(control_socket__holder(getpid()), 0);
}

/* Under which a session that records us listens. */
static void own_name(struct sockaddr_un *a)
{
	auto_close int lock = control_place__lock();

	cr_assert(lock >= 0);
	cr_assert_eq(control_place__address(getpid(), geteuid(), a), 0);
}

/* Opens the directory, as every user can while its mode is 0755, and holds a lock on it. */
static int hold_lock(const char *path, int ready)
{
	const int fd = open(path, O_RDONLY | O_DIRECTORY);

	if (fd < 0 || flock(fd, LOCK_EX) || (!geteuid() && setresuid(65534, 65534, 65534)) ||
	    write(ready, "x", 1) != 1)
		return 1;
	for (;;)
		pause();
}

Test(control_socket, a_stranger_who_locked_the_directory_delays_nobody, .timeout = 20)
{
	struct control_listener listener;
	struct stat st;
	char path[108], c;
	int ready[2];
	pid_t pid;

	cr_assert_eq(pipe(ready), 0);
	cr_assert_eq(run_directory__path(geteuid(), path, sizeof(path)), 0);
	close(run_directory__open());
	cr_assert_eq(chmod(path, 0755), 0);
	pid = fork();
	if (!pid)
		_exit(hold_lock(path, ready[1]));
	close(ready[1]);
	cr_assert_eq(read(ready[0], &c, 1), 1);
	cr_expect_eq(control_socket__listen(&listener, getpid()), 0);
	control_socket__close(&listener);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	cr_assert_eq(stat(path, &st), 0);
	cr_expect_eq(st.st_mode & 0777, 0711);
}

/* A session that takes long to attach, as on a busy machine. */
Test(control_socket, a_session_that_takes_its_time_is_waited_for, .timeout = 20)
{
	struct control_listener listener;
	struct request status = {.verb = CONTROL_STATUS};
	enum control_verb verb;
	pthread_t thread;
	char said[256];
	int client;
	FILE *const errors = stderr;
	char *text = NULL;
	size_t len;

	snprintf(said, sizeof(said),
		 "proftrace: the session that records process %d (proftrace with process id %d) is "
		 "attaching or completing a file; waiting for its answer, 60 s at most\n",
		 getpid(), getpid());
	cr_assert_eq(control_socket__listen(&listener, getpid()), 0);
	stderr = open_memstream(&text, &len); /* a variable of glibc's */
	cr_assert(stderr != NULL);
	cr_assert_eq(pthread_create(&thread, NULL, ask, &status), 0);
	usleep(2500000);
	cr_assert(control_socket__next(&listener, &verb, NULL, &client));
	control_socket__answer(client, true, "state: attaching");
	pthread_join(thread, NULL);
	cr_expect_eq(status.err, 0);
	cr_expect(eq(str, status.answer, "state: attaching"));
	fclose(stderr);
	stderr = errors;
	cr_expect(eq(str, text, said));
	free(text);
	control_socket__close(&listener);
}

Test(control_socket, without_a_session_there_is_none)
{
	char answer[CONTROL_MAX];

	cr_assert_eq(ask_session(getpid(), CONTROL_STOP, answer, sizeof(answer)), -ESRCH);
}

static void connect_as_client(int *fd)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	*fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	cr_assert_gt(*fd, 0);
	own_name(&a);
	cr_assert_eq(connect(*fd, (struct sockaddr *)&a, sizeof(a)), 0);
}

static void expect_refused(struct control_listener *listener, const char *text)
{
	enum control_verb verb;
	uint64_t at_ns;
	int fd, client;

	connect_as_client(&fd);
	cr_assert_eq(send(fd, text, strlen(text), 0), (ssize_t)strlen(text));
	cr_expect_not(control_socket__next(listener, &verb, &at_ns, &client), "%s", text);
	close(fd);
}

Test(control_socket, start_may_name_a_moment_and_no_other_verb_may)
{
	static const char *const wrong[] = {"start ",	"start 1x", "start -1",
					    "start  1", "pause 1",  "start 99999999999999999999"};
	struct control_listener listener;
	struct control_session session;
	enum control_verb verb;
	uint64_t at_ns = 0;
	int client;

	cr_assert_eq(control_socket__listen(&listener, getpid()), 0);
	cr_assert_eq(control_session__open(&session, getpid()), 0);
	cr_assert_eq(control_session__say_start(&session, 12345678901234ull), 0);
	cr_assert(control_socket__next(&listener, &verb, &at_ns, &client));
	cr_expect_eq(verb, CONTROL_START);
	cr_expect_eq(at_ns, 12345678901234ull);
	control_socket__answer(client, true, "it will");
	control_session__close(&session);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		expect_refused(&listener, wrong[i]);
	control_socket__close(&listener);
}

Test(control_socket, a_client_with_nonsense_is_sent_away)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	struct control_listener listener;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), client;
	enum control_verb verb;
	char answer[64] = "";

	cr_assert_eq(control_socket__listen(&listener, getpid()), 0);
	cr_assert(fd > 0);
	own_name(&a);
	cr_assert_eq(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	cr_assert_eq(send(fd, "startle", 7, 0), 7);
	cr_assert(not(control_socket__next(&listener, &verb, NULL, &client)));
	cr_assert(recv(fd, answer, sizeof(answer) - 1, 0) > 0);
	cr_assert(eq(str, answer, "-no verb that I know"));
	close(fd);
	control_socket__close(&listener);
}

static int silent_client(void)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct sockaddr_un a;

	own_name(&a);
	cr_assert_eq(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

/* More clients than are kept. None of them may make the session wait, and a client that asks must
 * get its answer. */
Test(control_socket, clients_that_say_nothing_hold_nobody_up, .timeout = 20)
{
	struct request status = {.verb = CONTROL_STATUS};
	struct control_listener listener;
	int silent[3 * CONTROL_CLIENTS];
	enum control_verb verb;
	uint64_t begin;
	int client;

	cr_assert_eq(control_socket__listen(&listener, getpid()), 0);
	begin = clock__monotonic_ns();
	for (size_t i = 0; i < ARRAY_SIZE(silent); i++) {
		silent[i] = silent_client();
		cr_assert(not(control_socket__next(&listener, &verb, NULL, &client)));
	}
	cr_expect(clock__monotonic_ns() - begin < 90000000ull * ARRAY_SIZE(silent));
	converse(&listener, &status, true, "state: recording");
	cr_expect_eq(status.err, 0);
	for (size_t i = 0; i < ARRAY_SIZE(silent); i++)
		close(silent[i]);
	control_socket__close(&listener);
}

Test(control_socket, a_socket_that_was_left_behind_is_taken_over)
{
	struct control_listener killed, next;

	cr_assert_eq(control_socket__listen(&killed, getpid()), 0);
	close(killed.fd); /* its file stays */
	cr_assert_eq(access(killed.path, F_OK), 0);
	cr_assert_eq(control_socket__listen(&next, getpid()), 0);
	control_socket__close(&next);
	cr_assert_neq(access(killed.path, F_OK), 0);
}

/* ---- who is at the other end ---- */

static int client_with_verb(const char *verb)
{
	int fd = silent_client();

	cr_assert_eq(send(fd, verb, strlen(verb), 0), (ssize_t)strlen(verb));
	return fd;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
}

/* When the session looks, the number may belong to another process. */
Test(control_socket, a_request_of_a_process_that_has_ended_is_not_obeyed, .timeout = 20)
{
	const pid_t target = getpid();
	struct control_listener listener;
	struct sockaddr_un a;
	enum control_verb verb;
	int client, fd;
	pid_t pid;

	cr_assert_eq(control_socket__listen(&listener, target), 0);
	cr_assert_eq(control_place__address(target, geteuid(), &a), 0);
	pid = fork();
	if (!pid) {
		fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
		if (connect(fd, (struct sockaddr *)&a, sizeof(a)) || send(fd, "stop", 4, 0) != 4)
			_exit(1);
		_exit(0);
	}
	cr_assert_eq(waitpid(pid, &fd, 0), pid);
	cr_assert_eq(fd, 0);
	cr_expect_not(control_socket__next(&listener, &verb, NULL, &client));
	/* A client that still runs is answered. */
	fd = client_with_verb("stop");
	cr_expect(control_socket__next(&listener, &verb, NULL, &client));
	cr_expect_eq(verb, CONTROL_STOP);
	close(client);
	close(fd);
	control_socket__close(&listener);
}

/* The process that listened has ended. The client must not ask the process that has its socket
 * now. */
Test(control_socket, a_socket_that_another_process_kept_is_not_believed, .timeout = 20)
{
	const pid_t target = getpid();
	struct control_listener listener;
	struct control_session session;
	int ends[2], status;
	pid_t pid, keeper;

	cr_assert_eq(pipe(ends), 0);
	pid = fork();
	if (!pid) {
		if (control_socket__listen(&listener, target))
			_exit(1);
		keeper = fork();
		if (!keeper)
			pause();
		_exit(write(ends[1], &keeper, sizeof(keeper)) != sizeof(keeper));
	}
	cr_assert_eq(read(ends[0], &keeper, sizeof(keeper)), (ssize_t)sizeof(keeper));
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect_eq(control_session__open(&session, target), -ESRCH);
	kill(keeper, SIGKILL);
}

/* Without a pidfd, as before Linux 6.5. */
Test(control_socket, a_process_is_known_by_its_start, .timeout = 20)
{
	struct control_peer peer, later;
	int ends[2];
	pid_t pid = fork();

	if (!pid)
		pause();
	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	cr_assert_eq(control_peer__look(ends[0], &peer), 0);
	cr_expect_eq(peer.pid, getpid());
	cr_expect_neq(peer.start_ticks, 0);
	control_peer__forget(&peer);
	cr_expect(control_peer__is_there(&peer));
	/* Another that got its number. */
	later = peer;
	later.start_ticks--;
	cr_expect_not(control_peer__is_there(&later));
	later = (struct control_peer){.pid = pid, .start_ticks = 1};
	end(pid);
	cr_expect_not(control_peer__is_there(&later));
}
