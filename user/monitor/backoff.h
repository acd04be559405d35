/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes that could not be attached to: each failure after the first doubles the wait. */
#ifndef PROFTRACE_BACKOFF_H
#define PROFTRACE_BACKOFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define BACKOFF_FIRST_NS (600 * 1000000000ull) /* after two failures */
#define BACKOFF_MAX_NS	 (24 * 3600 * 1000000000ull)

struct backoffs {
	struct backoff {
		pid_t pid;
		uint64_t start_ticks, until_ns;
		unsigned int failures;
	} *items;
	size_t cnt, cap;
};

/* Another failure; the nanoseconds until it may be tried again, 0: at once. */
uint64_t backoffs__add(struct backoffs *b, pid_t pid, uint64_t start_ticks, uint64_t now_ns);
bool backoffs__has(const struct backoffs *b, pid_t pid, uint64_t start_ticks, uint64_t now_ns);
/* Forgets processes that ended. */
void backoffs__keep(struct backoffs *b, bool (*is_there)(const void *ctx, pid_t pid,
							 uint64_t start_ticks),
		    const void *ctx);
void backoffs__free(struct backoffs *b);

#endif
