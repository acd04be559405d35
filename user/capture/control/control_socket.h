/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How `proftrace ctl` reaches a session that runs: a socket named after the target, in a directory
 * that only root (or the session's own user) can change. A request is one verb, an answer one
 * message of text whose first byte says whether the verb was obeyed. Both ends look at the other's
 * credentials first, user, process and its start, and the session never waits for a client.
 */
#ifndef PROFTRACE_CONTROL_SOCKET_H
#define PROFTRACE_CONTROL_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "capture/control/control_peer.h"

#define CONTROL_MAX	1024 /* bytes of a request or an answer */
#define CONTROL_CLIENTS 16   /* that have connected and said nothing yet */

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
	int fd; /* above 0: listens */
	pid_t holder; /* whose the place is, if it could not be had; 0: unknown */
	char path[128];
	struct control_client {
		int fd; /* 0: free */
		uint64_t until_ns;
		struct control_peer peer;
	} clients[CONTROL_CLIENTS];
};

/* Listens for commands to the session that records pid. 0 or a negative errno: -EADDRINUSE: another
 * session has it; -EPERM: the directory is not safe. Waits, 3 s at most, for one that is ending. */
int control_socket__listen(struct control_listener *l, pid_t pid);
/* For the process that makes names where a session may not (privilege/file_process.h). The socket,
 * or a negative errno and the holder. */
int control_socket__make(pid_t pid, uint32_t *holder);
/* For the same: removes the names that nobody listens at. */
void control_socket__sweep(void);
void control_socket__close(struct control_listener *l);
/* The proftrace that listens for pid, 0: none does, or it is in another pid namespace. */
pid_t control_socket__holder(pid_t pid);
/* The next request of root or of our own user, and the socket to answer at; false: there is none.
 * at_ns: of `start`, the moment (CLOCK_MONOTONIC) before which no window opens, 0: none; may be NULL. Takes a bounded number of new clients; one that says nothing for a second is sent away. */
bool control_socket__next(struct control_listener *l, enum control_verb *verb, uint64_t *at_ns,
			  int *client);
/* Answers, and closes client. */
void control_socket__answer(int client, bool obeyed, const char *text);
/* The session that records a process, as `ctl` sees it. */
struct control_session {
	int fd;
	pid_t target;
	struct control_peer holder; /* the proftrace that listens */
};
/* Connects. 0, or a negative errno with err__set: -ESRCH: there is no session. */
int control_session__open(struct control_session *c, pid_t target);
/* Asks, once, in a sandbox if need be (privilege/sandbox.h). 0 and the answer, or a negative errno
 * with err__set: -ESRCH: the session has ended; -EBUSY: what it has against the verb. */
int control_session__ask(const struct control_session *c, enum control_verb verb, char *answer,
			 size_t size);
/* The same in two halves, for who waits for other things, too. Once each; -EAGAIN: no answer yet. */
int control_session__say(const struct control_session *c, enum control_verb verb);
/* Says `start`: a window opens at the first step behind that moment (CLOCK_MONOTONIC) that finds the probes
 * attached. A session that still attaches, or counts no steps, does not heed the moment. */
int control_session__say_start(const struct control_session *c, uint64_t at_ns);
int control_session__hear(const struct control_session *c, char *answer, size_t size);
void control_session__close(struct control_session *c);

#endif
