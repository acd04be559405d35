/* SPDX-License-Identifier: BSD-2-Clause */
/* The store by which the ranks of a PyTorch job find each other (TCPStore). One of them listens.
 * All of them, including that one, have a connection to it. */
#ifndef PROFTRACE_STORE_H
#define PROFTRACE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define STORE_PORTS 8

struct store {
	uint16_t ports[STORE_PORTS];
	size_t cnt;
};

/* Adds the ports on which the process listens, if a thread of it serves a store. */
void store__add_server(struct store *s, pid_t pid);
/* Has the process a connection to one of them that is not its parent's, too? Workers of a data loader
 * that were forked share those of their rank. */
bool store__is_client(const struct store *s, pid_t pid, pid_t parent);

#endif
