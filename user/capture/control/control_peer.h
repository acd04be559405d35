/* SPDX-License-Identifier: BSD-2-Clause */
/* Who is at the other end of a control socket. The kernel may have given the process id to another
 * process since. */
#ifndef PROFTRACE_CONTROL_PEER_H
#define PROFTRACE_CONTROL_PEER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct control_peer {
	uid_t uid;
	pid_t pid;		/* 0: in another pid namespace */
	uint64_t start_ticks;	/* when it was started, since boot; 0: not known */
	int pidfd;		/* above 0: of that process (Linux 6.5) */
};

/* Who connected, or who listened: the kernel noted it then. 0; -ESRCH: that process has ended; or
 * another negative errno. */
int control_peer__look(int fd, struct control_peer *out);
/* Is that process still there? If neither its start time nor a pidfd is available: yes. */
bool control_peer__is_there(const struct control_peer *p);
void control_peer__forget(struct control_peer *p);

#endif
