/* SPDX-License-Identifier: BSD-2-Clause */
/* A lock that is the name of a socket, of no file: it goes when its holder does, however that ends.
 * Seen in one network namespace, which is where one machine's proftraces run. */
#ifndef PROFTRACE_SOCKET_LOCK_H
#define PROFTRACE_SOCKET_LOCK_H

/* A descriptor that holds it, or a negative errno, -EADDRINUSE: another does. Where files are asked
 * for (file_client.h), so is this. */
int socket_lock__take(const char *name);

#endif
