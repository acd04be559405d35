/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the captures of a job's ranks wait for each other before they count steps, so that their
 * windows show the same steps, give or take one. Lies in memory that their processes share.
 */
#ifndef PROFTRACE_RENDEZVOUS_H
#define PROFTRACE_RENDEZVOUS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define RENDEZVOUS_MAX 256

struct rendezvous {
	size_t cnt;
	atomic_bool here[RENDEZVOUS_MAX]; /* has come, or never will */
};

static inline void rendezvous__come(struct rendezvous *r, size_t index)
{
	atomic_store(&r->here[index], true);
}

static inline bool rendezvous__is_complete(struct rendezvous *r)
{
	for (size_t i = 0; i < r->cnt; i++)
		if (!atomic_load(&r->here[i]))
			return false;
	return true;
}

#endif
