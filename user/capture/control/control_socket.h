/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The socket between `proftrace ctl` and a running session. Its name is the target's process id, in a directory that
 * only root or the session's own user can change. A request is one verb. An answer is one message of text whose first
 * byte says whether the session obeyed. Each end first checks the credentials of the other: user, process and start
 * time. The session never waits for a client.
 */
#ifndef PROFTRACE_CONTROL_SOCKET_H
#define PROFTRACE_CONTROL_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "capture/control/control_peer.h"

#define CONTROL_MAX	1024 /* bytes of a request or an answer */
#define CONTROL_CLIENTS 16   /* clients that have connected and sent nothing yet */

enum control_verb {
	CONTROL_STATUS,
	CONTROL_START,
	CONTROL_RESUME,
	CONTROL_PAUSE,
	CONTROL_DUMP,
	CONTROL_RESET,
	CONTROL_STOP,
	CONTROL_CNT,
};
extern const char *const control_verbs[]; /* NULL after the last */

struct control_listener {
	int fd; /* above 0: it listens */
	pid_t holder; /* the session that has the name, if we could not get it; 0: unknown */
	char path[128];
	struct control_client {
		int fd; /* 0: the place is free */
		uint64_t until_ns;
		struct control_peer peer;
	} clients[CONTROL_CLIENTS];
};

/* Listens for commands to the session that records pid. Returns 0 or a negative errno. -EADDRINUSE: another session has
 * the name. -EPERM: the directory is not safe. Waits at most 3 s for a session that is ending. */
int control_socket__listen(struct control_listener *l, pid_t pid);
/* For the process that makes names where a session may not (privilege/file_process.h). Returns the socket, or a
 * negative errno and the holder. */
int control_socket__make(pid_t pid, uint32_t *holder);
/* For the same process: removes names without a listener. */
void control_socket__sweep(void);
void control_socket__close(struct control_listener *l);
/* The proftrace that listens for pid. 0: none, or one in another pid namespace. */
pid_t control_socket__holder(pid_t pid);
/* The next request of root or of our own user, and the socket for the answer. Returns false if there is none. at_ns
 * (may be NULL): for `start`, the time (CLOCK_MONOTONIC) before which no window opens; 0: none. Takes a bounded number
 * of new clients. A client that sends nothing for a second is dropped. */
bool control_socket__next(struct control_listener *l, enum control_verb *verb, uint64_t *at_ns,
			  int *client);
/* Sends the answer and closes client. */
void control_socket__answer(int client, bool obeyed, const char *text);
/* The session that records a process, as `ctl` sees it. */
struct control_session {
	int fd;
	pid_t target;
	struct control_peer holder; /* the proftrace that listens */
};
/* Connects. Returns 0, or a negative errno with err__set; -ESRCH: there is no session. */
int control_session__open(struct control_session *c, pid_t target);
/* Sends one request, in a sandbox if needed (privilege/sandbox.h). Returns 0 and the answer, or a negative errno with
 * err__set. -ESRCH: the session has ended. -EBUSY: it has refused; the message has the reason. */
int control_session__ask(const struct control_session *c, enum control_verb verb, char *answer,
			 size_t size);
/* The two halves of control_session__ask(), for a caller that waits for other things, too. Call each once. -EAGAIN: no
 * answer yet. */
int control_session__say(const struct control_session *c, enum control_verb verb);
/* Sends `start` with a time (CLOCK_MONOTONIC). A window opens at the first step after it that finds the probes
 * attached. A session that still attaches, or has no steps, ignores the time. */
int control_session__say_start(const struct control_session *c, uint64_t at_ns);
int control_session__hear(const struct control_session *c, char *answer, size_t size);
void control_session__close(struct control_session *c);

#endif
