/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes that could not be attached to: each failure after the first doubles the wait. Also the wait
 * after windows that lost events. Both are forgiven in time. */
#ifndef PROFTRACE_BACKOFF_H
#define PROFTRACE_BACKOFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "monitor/messages.h"

#define BACKOFF_FIRST_NS (600 * 1000000000ull) /* after two failures */
#define BACKOFF_MAX_NS	 (24 * 3600 * 1000000000ull)
#define BACKOFF_FORGIVE_NS (6 * 3600 * 1000000000ull) /* that pass without a failure forgive one */

#define RESTART_STEADY_NS (600 * 1000000000ull) /* a process of ours that lived longer begins anew at once */

#define LOSS_HOLD_FORGIVE 20 /* good windows in a row halve the next wait */

struct backoffs {
	struct backoff {
		pid_t pid;
		uint64_t start_ticks, until_ns;
		unsigned int failures;
	} *items;
	size_t cnt, cap;
};

struct loss_hold {
	unsigned int losses, good; /* windows; good: since the latest loss */
};

/* The nanoseconds that no window opens, 0 unless events were lost. */
uint64_t loss_hold__after(struct loss_hold *h, enum window_result result);

/* How long one of our own processes that ended is not begun anew: what remains of the wait after it lived so long,
 * and the next, twice that. */
uint64_t restart_wait__kept(uint64_t wait_ns, uint64_t lived_ns);
uint64_t restart_wait__doubled(uint64_t wait_ns);

/* Another failure; the nanoseconds until it may be tried again, 0: at once. */
uint64_t backoffs__add(struct backoffs *b, pid_t pid, uint64_t start_ticks, uint64_t now_ns);
bool backoffs__has(const struct backoffs *b, pid_t pid, uint64_t start_ticks, uint64_t now_ns);
/* Forgets processes that ended. */
void backoffs__keep(struct backoffs *b, bool (*is_there)(const void *ctx, pid_t pid,
							 uint64_t start_ticks),
		    const void *ctx);
void backoffs__free(struct backoffs *b);

#endif
