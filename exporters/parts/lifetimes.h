/* SPDX-License-Identifier: BSD-2-Clause */
/* Allocations from their begin to their end, out of events that tell each apart. */
#ifndef PROFTRACE_LIFETIMES_H
#define PROFTRACE_LIFETIMES_H

#include <stddef.h>
#include <stdint.h>

struct lifetime {
	uint64_t address;
	uint32_t pid, place; /* addresses are of one process and one place */
	uint32_t tid;	     /* that allocated it */
	uint32_t alloc_in;   /* the owner's number of what it was allocated in */
	uint64_t begin_ns, bytes;
};

#define LIFETIMES_MAX (1u << 20) /* alive at once; more are not remembered, and counted */

struct lifetimes {
	void *tree;
	size_t cnt;
	uint64_t forgotten;
};

/* 0 or -ENOMEM. *replaced: what was at that address and of which no end was seen; bytes 0: nothing.
 */
int lifetimes__begin(struct lifetimes *l, const struct lifetime *begun, struct lifetime *replaced);
/* Takes out what began at the address of *key; bytes 0: nothing did. */
struct lifetime lifetimes__end(struct lifetimes *l, const struct lifetime *key);
/* Those that are alive, by address. */
void lifetimes__each(const struct lifetimes *l, void (*fn)(const struct lifetime *alive, void *ctx),
		     void *ctx);
void lifetimes__free(struct lifetimes *l);

#endif
