/* SPDX-License-Identifier: BSD-2-Clause */
/* How long to wait after a failed attach: each failure after the first doubles the wait. Also how
 * long no window opens after lost events. Failures and losses are forgiven in time. */
#ifndef PROFTRACE_BACKOFF_H
#define PROFTRACE_BACKOFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "monitor/messages.h"

#define BACKOFF_FIRST_NS (600 * 1000000000ull) /* wait after two failures */
#define BACKOFF_MAX_NS	 (24 * 3600 * 1000000000ull)
#define BACKOFF_FORGIVE_NS (6 * 3600 * 1000000000ull) /* so much time without a failure forgives
							 one */

#define RESTART_STEADY_NS (600 * 1000000000ull) /* a process of ours that lived longer is
						   restarted at once */

#define LOSS_HOLD_FORGIVE 20 /* so many good windows in a row halve the next wait */

struct backoffs {
	struct backoff {
		pid_t pid;
		uint64_t start_ticks, until_ns;
		unsigned int failures;
	} *items;
	size_t cnt, cap;
};

struct loss_hold {
	unsigned int losses, good; /* windows; good: number of windows since the latest loss */
};

/* Nanoseconds for which no window opens; 0 unless events were lost. */
uint64_t loss_hold__after(struct loss_hold *h, enum window_result result);

/* How long to wait before restarting a process of ours that ended. The first gives what remains of
 * the wait after the process lived for lived_ns. The second doubles the wait. */
uint64_t restart_wait__kept(uint64_t wait_ns, uint64_t lived_ns);
uint64_t restart_wait__doubled(uint64_t wait_ns);

/* Notes another failure. Returns the nanoseconds until the next try, 0: at once. */
uint64_t backoffs__add(struct backoffs *b, pid_t pid, uint64_t start_ticks, uint64_t now_ns);
bool backoffs__has(const struct backoffs *b, pid_t pid, uint64_t start_ticks, uint64_t now_ns);
/* Forgets processes that ended. */
void backoffs__keep(struct backoffs *b, bool (*is_there)(const void *ctx, pid_t pid,
							 uint64_t start_ticks),
		    const void *ctx);
void backoffs__free(struct backoffs *b);

#endif
