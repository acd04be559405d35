// SPDX-License-Identifier: BSD-2-Clause
#include "capture/control/control_socket.h"
#include "capture/control/control_place.h"
#include "common/err.h"
#include "capture/message_table.h"
#include "common/file_client.h"
#include "common/util.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define SOON_S	  2 /* a session that records answers within this */
#define ANSWER_S  60
#define EXITING	  0x4		/* PF_EXITING of the kernel's flags of a process */
#define ENDING_MS 3000		/* wait for a killed session to end */
#define LOOK_MS	  20		/* interval of looks during that wait */
#define SILENT_NS 1000000000ull /* a client that sends nothing is kept this long */
#define OBEYED	  '+'
#define REFUSED	  '-'

const char *const control_verbs[] = {"status", "start", "resume", "pause",
				     "dump",   "reset", "stop",	  NULL};

/* Binds and listens. The mode lets only root and the socket's own user connect. */
static int bind_and_listen(int fd, const struct sockaddr_un *a)
{
	if (bind(fd, (const struct sockaddr *)a, sizeof(*a)))
		return -errno;
	if (chmod(a->sun_path, 0600) || listen(fd, CONTROL_CLIENTS)) {
		int err = -errno;

		unlink(a->sun_path);
		return err;
	}
	return 0;
}

static int listen_once(const struct sockaddr_un *a)
{
	auto_close int lock = control_place__lock();
	int fd, err;

	if (lock < 0)
		return lock;
	control_place__sweep();
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	err = bind_and_listen(fd, a);
	if (err)
		close(fd);
	return err ? err : fd;
}

/* Does somebody listen, and who? *holder is 0 if the listener is in another pid namespace. */
static bool find_holder(pid_t pid, pid_t *holder)
{
	/* Do not wait: the listener may be stopped. */
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct control_peer peer = {0};
	struct sockaddr_un a;
	bool known = fd >= 0 && !control_place__address(pid, geteuid(), &a) &&
		     !connect(fd, (struct sockaddr *)&a, sizeof(a)) &&
		     !control_peer__look(fd, &peer);

	if (fd >= 0)
		close(fd);
	control_peer__forget(&peer);
	*holder = known ? peer.pid : 0;
	return known;
}

pid_t control_socket__holder(pid_t pid)
{
	pid_t holder;

	find_holder(pid, &holder);
	return holder;
}

/* Is the process exiting? Its threads may still run in the kernel, but not in the program. */
static bool is_ending(pid_t pid)
{
	char path[32], line[512] = "";
	const char *behind_name;
	unsigned int flags;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return true;
	behind_name = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
	fclose(f);
	return behind_name && sscanf(behind_name, ") %*c %*d %*d %*d %*d %*d %u", &flags) == 1 &&
	       flags & EXITING;
}

/* A killed session keeps the name until the kernel has removed its probes. Is that the case? */
static bool is_left_behind(pid_t pid)
{
	pid_t holder;

	return !find_holder(pid, &holder) || (holder && is_ending(holder));
}

int control_socket__make(pid_t pid, uint32_t *holder)
{
	struct sockaddr_un a;
	int fd = control_place__address(pid, geteuid(), &a);

	if (!fd)
		fd = listen_once(&a);
	for (int ms = 0; fd == -EADDRINUSE && ms < ENDING_MS && is_left_behind(pid);
	     ms += LOOK_MS) {
		usleep(LOOK_MS * 1000);
		fd = listen_once(&a);
	}
	*holder = fd == -EADDRINUSE ? (uint32_t)control_socket__holder(pid) : 0;
	return fd;
}

void control_socket__sweep(void)
{
	auto_close int lock = control_place__lock();

	if (lock >= 0)
		control_place__sweep();
}

/* Clients see the process that called listen() last (SO_PEERCRED). */
static int make_elsewhere(pid_t pid, uint32_t *holder)
{
	int fd, err;

	*holder = (uint32_t)pid;
	fd = file_client__get_socket(FILE_LISTEN, holder);
	err = fd >= 0 && listen(fd, CONTROL_CLIENTS) ? -errno : 0;
	if (err)
		close(fd);
	return err ? err : fd;
}

int control_socket__listen(struct control_listener *l, pid_t pid)
{
	struct sockaddr_un a;
	uint32_t holder = 0;
	int err = control_place__address(pid, geteuid(), &a), fd;

	*l = (struct control_listener){0};
	if (err)
		return err;
	fd = file_client__is_on() ? make_elsewhere(pid, &holder)
				  : control_socket__make(pid, &holder);
	l->holder = (pid_t)holder;
	if (fd < 0)
		return fd;
	l->fd = fd;
	snprintf(l->path, sizeof(l->path), "%s", a.sun_path);
	return 0;
}

/* Frees the client's place. The socket stays open. */
static int take_out(struct control_client *c)
{
	int fd = c->fd;

	control_peer__forget(&c->peer);
	c->fd = 0;
	return fd;
}

void control_socket__close(struct control_listener *l)
{
	for (int i = 0; i < CONTROL_CLIENTS; i++)
		if (l->clients[i].fd > 0)
			close(take_out(&l->clients[i]));
	if (l->fd > 0) {
		if (!file_client__is_on())
			unlink(l->path);
		close(l->fd);
		if (file_client__is_on())
			file_client__end(FILE_SWEEP, 0);
	}
	*l = (struct control_listener){0};
}

static bool is_trusted(const struct control_peer *p)
{
	return p->uid == 0 || p->uid == geteuid();
}

static bool find_verb(const char *word, enum control_verb *verb)
{
	for (int v = 0; v < CONTROL_CNT; v++)
		if (!strcmp(word, control_verbs[v])) {
			*verb = v;
			return true;
		}
	return false;
}

/* A free place for a client. If there is none, the client that has been silent for the longest time
 * is dropped. */
static struct control_client *free_place(struct control_listener *l)
{
	struct control_client *oldest = l->clients;

	for (int i = 0; i < CONTROL_CLIENTS; i++) {
		if (l->clients[i].fd <= 0)
			return &l->clients[i];
		if (l->clients[i].until_ns < oldest->until_ns)
			oldest = &l->clients[i];
	}
	close(take_out(oldest));
	return oldest;
}

static void take_client(struct control_listener *l, int fd)
{
	struct control_peer peer;

	if (control_peer__look(fd, &peer)) {
		close(fd); /* the client has ended */
		return;
	}
	if (is_trusted(&peer)) {
		*free_place(l) =
			(struct control_client){fd, clock__monotonic_ns() + SILENT_NS, peer};
		return;
	}
	control_peer__forget(&peer);
	control_socket__answer(fd, false, "the session belongs to another user; run with sudo");
}

static void take_clients(struct control_listener *l)
{
	for (int i = 0; i < CONTROL_CLIENTS; i++) {
		int fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0)
			return;
		take_client(l, fd);
	}
}

/* Parses "start 123": cuts the number off the word. */
static bool cut_moment(char *word, uint64_t *at_ns)
{
	char *number = strchr(word, ' ');

	*at_ns = 0;
	if (!number)
		return true;
	*number++ = '\0';
	if (strcmp(word, control_verbs[CONTROL_START]) != 0 || !*number ||
	    number[strspn(number, "0123456789")])
		return false;
	errno = 0;
	*at_ns = strtoull(number, NULL, 10);
	return !errno;
}

/* Reads the client's verb. Drops a client that has ended, sends another word, or sends nothing in
 * time. */
static bool hear(struct control_client *c, enum control_verb *verb, uint64_t *at_ns)
{
	char word[32];
	ssize_t len = recv(c->fd, word, sizeof(word) - 1, MSG_DONTWAIT);

	if (len < 0 && errno == EAGAIN && clock__monotonic_ns() < c->until_ns)
		return false;
	if (len <= 0 || !control_peer__is_there(&c->peer)) {
		close(take_out(c));
		return false;
	}
	word[len] = '\0';
	if (strlen(word) == (size_t)len && cut_moment(word, at_ns) && find_verb(word, verb))
		return true;
	control_socket__answer(take_out(c), false, "no verb that I know");
	return false;
}

bool control_socket__next(struct control_listener *l, enum control_verb *verb, uint64_t *at_ns,
			  int *client)
{
	uint64_t unused;

	take_clients(l);
	for (int i = 0; i < CONTROL_CLIENTS; i++) {
		struct control_client *c = &l->clients[i];

		if (c->fd > 0 && hear(c, verb, at_ns ? at_ns : &unused)) {
			*client = take_out(c);
			return true;
		}
	}
	return false;
}

void control_socket__answer(int client, bool obeyed, const char *text)
{
	char message[CONTROL_MAX];
	int len = snprintf(message, sizeof(message), "%c%s", obeyed ? OBEYED : REFUSED, text);

	if (len >= (int)sizeof(message))
		len = sizeof(message) - 1;
	/* A client that does not wait for the answer is no error. */
	if (send(client, message, (size_t)len, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		log__debug("control: no answer was taken: %s", strerror(errno));
	close(client);
}

static int no_session(pid_t pid, int err)
{
	if (err == EACCES)
		return err__set(-EACCES, MESSAGE_SESSION_OF_OTHER_USER, pid);
	if (err == ECONNREFUSED || err == ENOENT)
		return err__set(-ESRCH, MESSAGE_SESSION_MISSING, pid, pid);
	return err__set(-err, MESSAGE_SESSION_NOT_REACHED, pid, strerror(err));
}

/* Uses only calls that the sandbox of `ctl` allows. */
static ssize_t send_text(int fd, const char *text, size_t len)
{
	struct iovec data = {(void *)text, len};
	const struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};

	return UNINTERRUPTED(sendmsg(fd, &message, MSG_NOSIGNAL));
}

static ssize_t receive(int fd, char *text, size_t size, int seconds)
{
	struct iovec data = {text, size};
	struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	int cnt = poll(&ready, 1, seconds * 1000);

	if (!cnt)
		errno = EAGAIN;
	return cnt > 0 ? UNINTERRUPTED(recvmsg(fd, &message, 0)) : -1;
}

/* A session answers between its stages. On a busy machine a session that attaches may take long. */
static ssize_t await_answer(const struct control_session *c, char *message, size_t size)
{
	ssize_t len = receive(c->fd, message, size, SOON_S);

	if (len >= 0 || errno != EAGAIN)
		return len;
	log__info(MESSAGE_SESSION_BUSY, c->target, c->holder.pid, ANSWER_S);
	return receive(c->fd, message, size, ANSWER_S - SOON_S);
}

static int connect_to(int fd, pid_t pid, uid_t owner)
{
	struct sockaddr_un a;
	int err = control_place__address(pid, owner, &a);

	if (err)
		return -err;
	return connect(fd, (struct sockaddr *)&a, sizeof(a)) ? errno : 0;
}

static int reach(struct control_session *c)
{
	int err = connect_to(c->fd, c->target, geteuid());

	if (err == ENOENT || err == ECONNREFUSED)
		err = connect_to(c->fd, c->target, 0);
	if (err)
		return no_session(c->target, err);
	err = control_peer__look(c->fd, &c->holder);
	if (err == -ESRCH)
		return err__set(err, MESSAGE_SESSION_SOCKET_TAKEN, c->target);
	if (err)
		return no_session(c->target, -err);
	if (!is_trusted(&c->holder))
		return err__set(-EPERM, MESSAGE_SESSION_PEER_UNTRUSTED, c->target);
	return 0;
}

int control_session__open(struct control_session *c, pid_t target)
{
	int err;

	*c = (struct control_session){.target = target};
	c->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (c->fd < 0)
		return err__set(-errno, MESSAGE_CONTROL_SOCKET_NOT_MADE, strerror(errno));
	err = reach(c);
	if (err)
		control_session__close(c);
	return err;
}

void control_session__close(struct control_session *c)
{
	control_peer__forget(&c->holder);
	close(c->fd);
}

int control_session__say(const struct control_session *c, enum control_verb verb)
{
	return send_text(c->fd, control_verbs[verb], strlen(control_verbs[verb])) < 0
		       ? no_session(c->target, errno)
		       : 0;
}

int control_session__say_start(const struct control_session *c, uint64_t at_ns)
{
	char text[32];
	const int len = snprintf(text, sizeof(text), "%s %llu", control_verbs[CONTROL_START],
				 (unsigned long long)at_ns);

	return send_text(c->fd, text, (size_t)len) < 0 ? no_session(c->target, errno) : 0;
}

/* message: the received text, with room for one more byte. len: its length, or -1 with errno. */
static int understand(const struct control_session *c, char *message, ssize_t len, char *answer,
		      size_t size)
{
	if (!len || (len < 0 && errno != EAGAIN))
		return err__set(-ESRCH, MESSAGE_SESSION_JUST_ENDED, c->target);
	if (len < 0)
		return -EAGAIN;
	message[len] = '\0';
	if (message[0] != OBEYED)
		return err__set(-EBUSY, MESSAGE_SESSION_REFUSED, c->target, message + 1);
	snprintf(answer, size, "%s", message + 1);
	return 0;
}

int control_session__hear(const struct control_session *c, char *answer, size_t size)
{
	char message[CONTROL_MAX + 1];
	const ssize_t len = UNINTERRUPTED(recv(c->fd, message, sizeof(message) - 1, MSG_DONTWAIT));

	return understand(c, message, len, answer, size);
}

int control_session__ask(const struct control_session *c, enum control_verb verb, char *answer,
			 size_t size)
{
	char message[CONTROL_MAX + 1];
	int err = control_session__say(c, verb);

	if (!err)
		err = understand(c, message, await_answer(c, message, sizeof(message) - 1), answer,
				 size);
	if (err != -EAGAIN)
		return err;
	return err__set(-ETIMEDOUT, MESSAGE_SESSION_SILENT, c->target, ANSWER_S);
}
