/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the sockets of `proftrace ctl` are: named by PID in the directory of common/run_directory.h. */
#ifndef PROFTRACE_CONTROL_PLACE_H
#define PROFTRACE_CONTROL_PLACE_H

#include <sys/un.h>
#include <sys/types.h>

/* Makes the directory if needed and takes its lock, which only its owner can take. The caller closes the descriptor to
 * unlock. Returns the descriptor or a negative errno. -EPERM: another user could change the directory. */
int control_place__lock(void);
/* Address of the socket of a session that belongs to owner and records pid. Returns 0 or -ENAMETOOLONG. */
int control_place__address(pid_t pid, uid_t owner, struct sockaddr_un *a);
/* Removes sockets without a listener. The caller holds the lock. */
void control_place__sweep(void);

#endif
