/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the monitor listens: only on this host. */
#ifndef PROFTRACE_LISTEN_ADDRESS_H
#define PROFTRACE_LISTEN_ADDRESS_H

#include <stdbool.h>

/* "127.0.0.1:PORT", "[::1]:PORT", or the path of a unix socket. 0, or -EINVAL with err__set. */
int listen_address__check(const char *where);
bool listen_address__is_path(const char *where);
/* A listening socket, or a negative errno with err__set. An abandoned unix socket is replaced; the
 * new one has mode 0600. */
int listen_address__open(const char *where);
/* Removes the unix socket. */
void listen_address__remove(const char *where);

#endif
