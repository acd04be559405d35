/* SPDX-License-Identifier: BSD-2-Clause */
/* Allocations from begin to end, made of single events. */
#ifndef PROFTRACE_LIFETIMES_H
#define PROFTRACE_LIFETIMES_H

#include <stddef.h>
#include <stdint.h>

struct lifetime {
	uint64_t address;
	uint32_t pid, place; /* addresses are unique in one process and place */
	uint32_t tid;	     /* the allocating thread */
	uint32_t alloc_in;   /* number that the owner gives to the enclosing event */
	uint64_t begin_ns, bytes;
};

#define LIFETIMES_MAX (1u << 20) /* live allocations that are remembered; more are counted */

struct lifetimes {
	void *tree;
	size_t cnt;
	uint64_t forgotten;
};

/* 0 or -ENOMEM. *replaced: an allocation at that address whose end was not seen; bytes 0: none. */
int lifetimes__begin(struct lifetimes *l, const struct lifetime *begun, struct lifetime *replaced);
/* Removes the allocation at the address of *key. bytes 0: there is none. */
struct lifetime lifetimes__end(struct lifetimes *l, const struct lifetime *key);
/* Calls fn for each live allocation, by address. */
void lifetimes__each(const struct lifetimes *l, void (*fn)(const struct lifetime *alive, void *ctx),
		     void *ctx);
void lifetimes__free(struct lifetimes *l);

#endif
