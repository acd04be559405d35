/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The place where the captures of a job's ranks wait for each other before they count steps. After it their windows
 * show the same steps, with a difference of at most one step. It lies in memory that the captures share.
 */
#ifndef PROFTRACE_RENDEZVOUS_H
#define PROFTRACE_RENDEZVOUS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RENDEZVOUS_MAX 256
/* Time between the agreement and the first counted step. A capture may lack a processor for up to this time and still
 * begins at the same step. */
#define RENDEZVOUS_LEAD_NS 100000000ull

struct rendezvous {
	size_t cnt;
	atomic_bool here[RENDEZVOUS_MAX]; /* the rank's capture has come, or never will */
	_Atomic uint64_t begin_ns;	  /* 0: not agreed on yet */
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

/* The time (CLOCK_MONOTONIC) from which all captures count steps. The first capture that finds all others present sets
 * it. */
static inline uint64_t rendezvous__begin_ns(struct rendezvous *r, uint64_t now)
{
	uint64_t agreed = 0;

	if (atomic_compare_exchange_strong(&r->begin_ns, &agreed, now + RENDEZVOUS_LEAD_NS))
		return now + RENDEZVOUS_LEAD_NS;
	return agreed;
}

#endif
