// SPDX-License-Identifier: BSD-2-Clause
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "capture/control/control_socket.h"
#include "common/err.h"

struct request {
	enum control_verb verb;
	int err;
	char answer[CONTROL_MAX];
};

static void *ask(void *arg)
{
	struct request *r = arg;

	r->err = control_socket__ask(getpid(), r->verb, r->answer, sizeof(r->answer));
	if (r->err) /* a thread's messages are its own */
		snprintf(r->answer, sizeof(r->answer), "%s", err__take(r->err));
	return NULL;
}

/* Asks as another thread does, and serves it here. */
static void converse(int listener, struct request *r, bool obeyed, const char *text)
{
	enum control_verb verb;
	pthread_t thread;
	int client;

	cr_assert_eq(pthread_create(&thread, NULL, ask, r), 0);
	while (!control_socket__next(listener, &verb, &client))
		usleep(1000);
	cr_assert_eq(verb, r->verb);
	control_socket__answer(client, obeyed, text);
	pthread_join(thread, NULL);
}

Test(control_socket, verbs_reach_the_session_and_answers_come_back, .timeout = 20)
{
	int listener = control_socket__listen(getpid());
	struct request status = {.verb = CONTROL_STATUS}, dump = {.verb = CONTROL_DUMP};
	enum control_verb verb;
	int client;

	cr_assert(listener > 0);
	cr_assert(not(control_socket__next(listener, &verb, &client)));
	converse(listener, &status, true, "state: recording");
	cr_assert_eq(status.err, 0);
	cr_assert(eq(str, status.answer, "state: recording"));
	converse(listener, &dump, false, "no window is open");
	cr_assert_eq(dump.err, -EBUSY);
	cr_assert(eq(str, dump.answer, "no window is open"));
	cr_assert_eq(control_socket__listen(getpid()), -EADDRINUSE);
	cr_assert_eq(control_socket__holder(getpid()), getpid());
	cr_assert(not(control_socket__next(listener, &verb, &client)));
	close(listener);
	cr_assert_eq(control_socket__holder(getpid()), 0);
}

/* Under which a session that records us listens. */
static socklen_t own_name(struct sockaddr_un *a)
{
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			   (size_t)sprintf(a->sun_path + 1, "proftrace/%d", getpid()));
}

static void *close_later(void *fd)
{
	usleep(300000);
	close(*(int *)fd);
	return NULL;
}

/* As of one that was killed, whose sockets close when the kernel comes to them. */
Test(control_socket, a_name_of_which_nobody_listens_any_more_is_waited_for, .timeout = 20)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), listener;
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	pthread_t thread;
	socklen_t len;

	len = own_name(&a);
	cr_assert_eq(bind(fd, (struct sockaddr *)&a, len), 0);
	cr_assert_eq(pthread_create(&thread, NULL, close_later, &fd), 0);
	listener = control_socket__listen(getpid());
	pthread_join(thread, NULL);
	cr_expect(listener > 0);
	close(listener);
}

/* As one that attaches on a busy machine. */
Test(control_socket, a_session_that_takes_its_time_is_waited_for, .timeout = 20)
{
	int listener = control_socket__listen(getpid());
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
	stderr = open_memstream(&text, &len); /* a variable of glibc's */
	cr_assert(stderr != NULL);
	cr_assert_eq(pthread_create(&thread, NULL, ask, &status), 0);
	usleep(2500000);
	cr_assert(control_socket__next(listener, &verb, &client));
	control_socket__answer(client, true, "state: attaching");
	pthread_join(thread, NULL);
	cr_expect_eq(status.err, 0);
	cr_expect(eq(str, status.answer, "state: attaching"));
	fclose(stderr);
	stderr = errors;
	cr_expect(eq(str, text, said));
	free(text);
	close(listener);
}

Test(control_socket, without_a_session_there_is_none)
{
	char answer[CONTROL_MAX];

	cr_assert_eq(control_socket__ask(getpid(), CONTROL_STOP, answer, sizeof(answer)), -ESRCH);
}

Test(control_socket, a_client_with_nonsense_is_sent_away)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int listener = control_socket__listen(getpid());
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), client;
	enum control_verb verb;
	char answer[64] = "";
	socklen_t len;

	cr_assert(listener > 0 && fd > 0);
	len = own_name(&a);
	cr_assert_eq(connect(fd, (struct sockaddr *)&a, len), 0);
	cr_assert_eq(send(fd, "startle", 7, 0), 7);
	cr_assert(not(control_socket__next(listener, &verb, &client)));
	cr_assert(recv(fd, answer, sizeof(answer) - 1, 0) > 0);
	cr_assert(eq(str, answer, "-no verb that I know"));
	close(fd);
	close(listener);
}
