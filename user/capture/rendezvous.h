/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The place where the captures of a job's ranks wait for each other before they count steps. So
 * their windows show the same steps, give or take one. Lies in memory that their processes share.
 */
#ifndef PROFTRACE_RENDEZVOUS_H
#define PROFTRACE_RENDEZVOUS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RENDEZVOUS_MAX 256
/* A capture that lacks a processor for less than this still begins at the step of the others. */
#define RENDEZVOUS_LEAD_NS 100000000ull

struct rendezvous {
	size_t cnt;
	atomic_bool here[RENDEZVOUS_MAX]; /* has come, or never will */
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

/* The moment (CLOCK_MONOTONIC) from which all count: who first finds that all are there sets it. */
static inline uint64_t rendezvous__begin_ns(struct rendezvous *r, uint64_t now)
{
	uint64_t agreed = 0;

	if (atomic_compare_exchange_strong(&r->begin_ns, &agreed, now + RENDEZVOUS_LEAD_NS))
		return now + RENDEZVOUS_LEAD_NS;
	return agreed;
}

#endif
