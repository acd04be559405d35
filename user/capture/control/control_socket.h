/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How `proftrace ctl` reaches a session that runs: a socket in the abstract name space, named after
 * the target, that ends with its process. A request is one verb, an answer one message of text
 * whose first byte says whether the verb was obeyed.
 */
#ifndef PROFTRACE_CONTROL_SOCKET_H
#define PROFTRACE_CONTROL_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define CONTROL_MAX 1024 /* bytes of a request or an answer */

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

/* A socket that listens for a session that records pid, or a negative errno: -EADDRINUSE: another
 * session has it. Waits, 3 s at most, for one that is ending. */
int control_socket__listen(pid_t pid);
/* The proftrace that listens for pid, 0: none does, or it is in another pid namespace. */
pid_t control_socket__holder(pid_t pid);
/* The next request of root or of our own user, and the socket to answer at; false: there is none.
 */
bool control_socket__next(int listener, enum control_verb *verb, int *client);
/* Answers, and closes client. */
void control_socket__answer(int client, bool obeyed, const char *text);
/* Asks the session that records pid. 0 and its answer, or a negative errno with err__set: -ESRCH:
 * there is no session; -EBUSY: what the session has against it. */
int control_socket__ask(pid_t pid, enum control_verb verb, char *answer, size_t size);

#endif
