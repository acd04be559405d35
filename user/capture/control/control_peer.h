/* SPDX-License-Identifier: BSD-2-Clause */
/* The process at the other end of a control socket. The kernel may have given its process id to another process
 * since. */
#ifndef PROFTRACE_CONTROL_PEER_H
#define PROFTRACE_CONTROL_PEER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct control_peer {
	uid_t uid;
	pid_t pid;		/* 0: the peer is in another pid namespace */
	uint64_t start_ticks;	/* start time since boot; 0: unknown */
	int pidfd;		/* above 0: a pidfd of the process (Linux 6.5) */
};

/* The process that connected or listened, as the kernel noted it then. Returns 0, -ESRCH if that process has ended, or
 * another negative errno. */
int control_peer__look(int fd, struct control_peer *out);
/* Does that process still exist? True if neither its start time nor a pidfd is known. */
bool control_peer__is_there(const struct control_peer *p);
void control_peer__forget(struct control_peer *p);

#endif
