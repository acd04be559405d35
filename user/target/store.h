/* SPDX-License-Identifier: BSD-2-Clause */
/* The store through which the ranks of a PyTorch job find each other (TCPStore). One rank listens.
 * All ranks, including that one, are connected to it. */
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

/* Adds the ports on which the process listens, if one of its threads serves a store. */
void store__add_server(struct store *s, pid_t pid);
/* Does the process have a connection to a store that its parent does not share? Forked workers of a
 * data loader share those of their rank. */
bool store__is_client(const struct store *s, pid_t pid, pid_t parent);

#endif
