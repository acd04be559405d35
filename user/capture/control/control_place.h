/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the sockets of `proftrace ctl` lie: under the PID in common/run_directory.h. */
#ifndef PROFTRACE_CONTROL_PLACE_H
#define PROFTRACE_CONTROL_PLACE_H

#include <sys/un.h>
#include <sys/types.h>

/* Makes the directory if it is not there, and holds what only its owner can: a lock, until the caller
 * closes it. A descriptor, or a negative errno: -EPERM: another user could change the directory. */
int control_place__lock(void);
/* Address of the socket of a session of owner's that records pid; 0 or -ENAMETOOLONG. */
int control_place__address(pid_t pid, uid_t owner, struct sockaddr_un *a);
/* Removes sockets that nobody listens at, with the lock held. */
void control_place__sweep(void);

#endif
