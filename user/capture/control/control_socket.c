// SPDX-License-Identifier: BSD-2-Clause
#include "capture/control/control_socket.h"
#include "common/err.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define SOON_S	  2 /* a session that records answers within this */
#define ANSWER_S  60
#define EXITING	  0x4  /* PF_EXITING of the kernel's flags of a process */
#define ENDING_MS 3000 /* a session that was killed is waited for */
#define LOOK_MS	  20   /* so often meanwhile */
#define OBEYED	  '+'
#define REFUSED	  '-'

const char *const control_verbs[] = {"status", "start", "resume", "pause",
				     "dump",   "reset", "stop",	  NULL};

static socklen_t address(pid_t pid, struct sockaddr_un *a)
{
	memset(a, 0, sizeof(*a));
	a->sun_family = AF_UNIX;
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			   (size_t)snprintf(a->sun_path + 1, sizeof(a->sun_path) - 1,
					    "proftrace/%d", pid));
}

static int listen_once(pid_t pid)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un a;
	socklen_t len = address(pid, &a);

	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&a, len) || listen(fd, 8)) {
		int err = -errno;

		close(fd);
		return err;
	}
	return fd;
}

/* Whether somebody listens, and who: 0 in another pid namespace. */
static bool find_holder(pid_t pid, pid_t *holder)
{
	/* Without waiting: it may be stopped. */
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct ucred peer = {0};
	socklen_t size = sizeof(peer);
	struct sockaddr_un a;
	socklen_t len = address(pid, &a);
	bool known = fd >= 0 && !connect(fd, (struct sockaddr *)&a, len) &&
		     !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size);

	if (fd >= 0)
		close(fd);
	*holder = known ? peer.pid : 0;
	return known;
}

pid_t control_socket__holder(pid_t pid)
{
	pid_t holder;

	find_holder(pid, &holder);
	return holder;
}

/* Its threads may have some of the kernel's work before them, but none of their own. */
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

/* Who was killed has the name until the kernel has taken its probes out. */
static bool is_left_behind(pid_t pid)
{
	pid_t holder;

	return !find_holder(pid, &holder) || (holder && is_ending(holder));
}

int control_socket__listen(pid_t pid)
{
	int fd = listen_once(pid);

	for (int ms = 0; fd == -EADDRINUSE && ms < ENDING_MS && is_left_behind(pid);
	     ms += LOOK_MS) {
		usleep(LOOK_MS * 1000);
		fd = listen_once(pid);
	}
	return fd;
}

static bool is_trusted(int client)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return !getsockopt(client, SOL_SOCKET, SO_PEERCRED, &peer, &len) &&
	       (peer.uid == 0 || peer.uid == geteuid());
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

/* The client sends before anything else, so its word is there, or it is none of ours. */
static bool read_verb(int client, enum control_verb *verb)
{
	const struct timeval soon = {.tv_usec = 100000};
	char word[32];
	ssize_t len;

	setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof(soon));
	len = recv(client, word, sizeof(word) - 1, 0);
	word[len > 0 ? len : 0] = '\0';
	return find_verb(word, verb);
}

bool control_socket__next(int listener, enum control_verb *verb, int *client)
{
	while ((*client = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		/* A request that nobody has read would reset the connection, answer and all. */
		bool known = read_verb(*client, verb);

		if (!is_trusted(*client))
			control_socket__answer(
				*client, false,
				"the session belongs to another user; run with sudo");
		else if (!known)
			control_socket__answer(*client, false, "no verb that I know");
		else
			return true;
	}
	return false;
}

void control_socket__answer(int client, bool obeyed, const char *text)
{
	char message[CONTROL_MAX];
	int len = snprintf(message, sizeof(message), "%c%s", obeyed ? OBEYED : REFUSED, text);

	if (len >= (int)sizeof(message))
		len = sizeof(message) - 1;
	/* Who does not wait for the answer is none of our business. */
	if (send(client, message, (size_t)len, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		log__debug("control: no answer was taken: %s", strerror(errno));
	close(client);
}

static int no_session(pid_t pid, int err)
{
	if (err == ECONNREFUSED)
		return err__set(-ESRCH,
				"no proftrace records process %d; begin with proftrace -p %d", pid,
				pid);
	return err__set(-err, "cannot reach the session that records process %d: %s", pid,
			strerror(err));
}

static ssize_t receive(int fd, char *message, size_t size, int seconds)
{
	const struct timeval patience = {.tv_sec = seconds};

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return recv(fd, message, size, 0);
}

/* A session hears us between its stages; on a busy machine one that attaches takes its time. */
static ssize_t await_answer(int fd, pid_t pid, char *message, size_t size)
{
	struct ucred peer = {0};
	socklen_t peer_size = sizeof(peer);
	ssize_t len = receive(fd, message, size, SOON_S);

	if (len >= 0 || errno != EAGAIN)
		return len;
	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_size);
	log__info("the session that records process %d (proftrace with process id %d) is attaching "
		  "or completing a file; waiting for its answer, %d s at most",
		  pid, peer.pid, ANSWER_S);
	return receive(fd, message, size, ANSWER_S - SOON_S);
}

static int ask(int fd, pid_t pid, enum control_verb verb, char *answer, size_t size)
{
	char message[CONTROL_MAX + 1];
	struct sockaddr_un a;
	socklen_t address_len = address(pid, &a);
	ssize_t len;

	if (connect(fd, (struct sockaddr *)&a, address_len))
		return no_session(pid, errno);
	if (send(fd, control_verbs[verb], strlen(control_verbs[verb]), MSG_NOSIGNAL) < 0)
		return no_session(pid, errno);
	len = await_answer(fd, pid, message, sizeof(message) - 1);
	if (!len || (len < 0 && errno != EAGAIN))
		return err__set(-ESRCH, "the session that records process %d has just ended", pid);
	if (len < 0)
		return err__set(-ETIMEDOUT,
				"the session that records process %d did not answer in %d s; is it "
				"stopped? Ctrl-C, or kill -INT, ends it",
				pid, ANSWER_S);
	message[len] = '\0';
	if (message[0] != OBEYED)
		return err__set(-EBUSY, "%s", message + 1);
	snprintf(answer, size, "%s", message + 1);
	return 0;
}

int control_socket__ask(pid_t pid, enum control_verb verb, char *answer, size_t size)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), err;

	if (fd < 0)
		return err__set(-errno, "cannot make a socket: %s", strerror(errno));
	err = ask(fd, pid, verb, answer, size);
	close(fd);
	return err;
}
