/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages through a socket between processes. A message may carry a descriptor (SCM_RIGHTS). */
#ifndef PROFTRACE_DESCRIPTOR_MESSAGE_H
#define PROFTRACE_DESCRIPTOR_MESSAGE_H

#include <stddef.h>
#include <sys/types.h>

/* fd -1: none. 0 or a negative errno. */
int descriptor_message__send(int socket, const void *data, size_t size, int fd, int flags);
/* As recv(2): bytes, 0 at the end, or -1 with errno. *fd: the received descriptor, close-on-exec;
 * -1: none came. */
ssize_t descriptor_message__receive(int socket, void *data, size_t size, int *fd, int flags);

#endif
